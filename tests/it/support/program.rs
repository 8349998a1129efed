//! Running the program itself.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// A scratch directory in which the program is run, with no settings but its own.
pub(crate) struct World {
    dir: tempfile::TempDir,
}

/// What a run of the program gave.
pub(crate) struct Ran {
    pub code: i32,
    pub stdout: String,
    pub stderr: String,
}

impl World {
    pub(crate) fn new() -> World {
        World { dir: super::scratch() }
    }

    /// A world with a collection `archive` for names of `example.org/archive`.
    pub(crate) fn with_collection() -> World {
        let world = World::new();
        super::make_collection(&world.path("archive"));
        world
    }

    pub(crate) fn path(&self, relative: impl AsRef<Path>) -> PathBuf {
        self.dir.path().join(relative)
    }

    pub(crate) fn write(&self, relative: &str, bytes: impl AsRef<[u8]>) -> PathBuf {
        let path = self.path(relative);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, bytes).unwrap();
        path
    }

    /// The program, ready to run here.
    pub(crate) fn command<I: AsRef<std::ffi::OsStr>>(
        &self,
        arguments: impl IntoIterator<Item = I>,
    ) -> Command {
        let mut command = self.ready(Command::new(env!("CARGO_BIN_EXE_urepo")));
        let mut arguments = arguments.into_iter().peekable();
        let variable = |word: &std::ffi::OsStr| {
            let (name, value) = word.to_str()?.split_once('=')?;
            name.starts_with("UREPO_").then(|| (name.to_owned(), value.to_owned()))
        };
        while let Some((name, value)) = arguments.peek().and_then(|word| variable(word.as_ref())) {
            command.env(name, value);
            arguments.next();
        }
        command.args(arguments);
        command
    }

    /// `command`, in this directory and without settings of the person who tests.
    fn ready(&self, mut command: Command) -> Command {
        command.current_dir(self.dir.path()).stdin(Stdio::null());
        for (name, _) in std::env::vars_os() {
            if name.to_string_lossy().starts_with("UREPO_") {
                command.env_remove(name);
            }
        }
        command.env("XDG_CONFIG_HOME", self.path(".config")).env("NO_COLOR", "1");
        // Nothing of the machine that tests: its last identifiers, and its identity.
        command.env("UREPO_STATE", self.path(".state"));
        command.env("XDG_CACHE_HOME", self.path(".cache"));
        command.env("UREPO_MACHINE_ID", super::agent().machine_id);
        command
    }

    /// Runs the program with the words of `line`, of which ` < FILE` may be the last, as in a shell.
    pub(crate) fn run(&self, line: &str) -> Ran {
        let (line, file) =
            line.split_once(" < ").map_or((line, None), |(it, file)| (it, Some(file)));
        let mut command = self.command(line.split_whitespace());
        if let Some(file) = file {
            command.stdin(std::fs::File::open(self.path(file.trim())).unwrap());
        }
        self.finish(command)
    }

    /// Sets the granularity of the dates that the collection `root` issues.
    pub(crate) fn set_granularity(&self, root: &str, seconds: &str) {
        let path = format!("{root}/urepo.toml");
        let text = std::fs::read_to_string(self.path(&path)).unwrap();
        let text = text.replace("granularity = \"auto\"", &format!("granularity = \"{seconds}\""));
        self.write(&path, text);
    }

    /// The same in a process that may have only so many files open.
    pub(crate) fn run_with_descriptors(&self, limit: u32, line: &str) -> Ran {
        self.finish(self.shell(&format!("ulimit -n {limit}; exec \"$0\" {line}")))
    }

    /// Without root's right to read what is closed.
    pub(crate) fn run_unprivileged(&self, line: &str) -> Ran {
        let drop = "setpriv --bounding-set=-dac_override,-dac_read_search";
        let drop = if rustix::process::geteuid().is_root() { drop } else { "" };
        self.finish(self.shell(&format!("exec {drop} \"$0\" {line}")))
    }

    /// A shell that runs `script`, in which `$0` is the program.
    pub(crate) fn shell(&self, script: &str) -> Command {
        let mut command = self.ready(Command::new("sh"));
        command.args(["-c", script, env!("CARGO_BIN_EXE_urepo")]);
        command
    }

    pub(crate) fn run_args<I: AsRef<std::ffi::OsStr>>(
        &self,
        arguments: impl IntoIterator<Item = I>,
    ) -> Ran {
        self.finish(self.command(arguments))
    }

    pub(crate) fn finish(&self, mut command: Command) -> Ran {
        let output = command.output().unwrap();
        let text = |bytes: Vec<u8>| {
            let text = String::from_utf8_lossy(&bytes).into_owned();
            text.replace(&self.dir.path().display().to_string(), "[WORLD]")
        };
        Ran {
            code: output.status.code().unwrap_or(-1),
            stdout: text(output.stdout),
            stderr: text(output.stderr),
        }
    }
}

impl Ran {
    /// The one line of stdout of a run that went well.
    #[track_caller]
    pub(crate) fn line(&self) -> String {
        assert_eq!((self.code, self.stderr.as_str()), (0, ""), "{}", self.stdout);
        let mut lines = self.stdout.lines();
        let line = lines.next().expect("a line on stdout").to_owned();
        assert_eq!(lines.next(), None, "only one line");
        line
    }

    #[track_caller]
    pub(crate) fn succeeded(&self) -> &str {
        assert_eq!(self.code, 0, "{}{}", self.stdout, self.stderr);
        &self.stdout
    }
}
