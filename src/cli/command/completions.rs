//! `urepo completions`: completion in shells.

use std::path::{Path, PathBuf};

use clap_complete::Shell;
use clap_complete::env::Shells;
use etcetera::BaseStrategy as _;
use urepo::collection::discover::check_outside;
use urepo::disk::{Dir, PathError, Watcher};

use crate::cli::complete::VARIABLE;
use crate::cli::context::Context;
use crate::cli::exit::Exit;
use crate::cli::failure::Failure;
use crate::cli::printer::Printer;
use crate::cli::{Done, shell};

/// Print or install completion for a shell
///
/// The shell then completes commands, options, items by path and date, collections, states, terms and pages
/// of the manual. Items come from the collection of -c, or from the one around the current directory.
#[derive(Debug, clap::Args)]
#[command(after_long_help = "\
Examples:
  urepo completions --install bash
  urepo completions fish")]
pub(crate) struct Completions {
    /// The shell; with --install the one of SHELL unless given
    #[arg(required_unless_present = "install")]
    shell: Option<Shell>,
    /// Install the script where the shell looks for it: bash, zsh and fish
    #[arg(long)]
    install: bool,
}

impl Completions {
    pub(crate) fn run(&self, context: &Context) -> Done {
        let printer = &context.printer;
        let is_dry = context.global.dry_run;
        let Some(chosen) = self.shell.or_else(Shell::from_env) else {
            return Err(Failure::usage("the variable SHELL does not name a known shell")
                .hint("`urepo completions --install bash`, or zsh, or fish"));
        };
        let script = script(chosen)?;
        if self.install {
            install(chosen, &script, printer, is_dry)
        } else {
            printer.payload(&script)
        }
    }
}

/// The script by which a shell requests candidates from urepo.
fn script(chosen: Shell) -> Result<Vec<u8>, Failure> {
    let unknown = || Failure::new(Exit::Failure, format!("no completion for `{chosen}`"));
    let shells = Shells::builtins();
    let completer = shells.completer(&chosen.to_string()).ok_or_else(unknown)?;
    let mut script = Vec::new();
    completer
        .write_registration(VARIABLE, "urepo", "urepo", "urepo", &mut script)
        .map_err(|error| unknown().caused_by(error.to_string()))?;
    if chosen == Shell::Zsh {
        // zsh loads the script as a function at the first completion, so the script has to answer that one as
        // well.
        script.extend(b"[[ $funcstack[1] == _urepo ]] && _clap_dynamic_completer_urepo\n");
    }
    Ok(script)
}

fn install(chosen: Shell, script: &[u8], printer: &Printer, is_dry: bool) -> Done {
    let (dir, name) = place(chosen).ok_or_else(|| {
        Failure::new(Exit::Failure, format!("no place is known for completion in `{chosen}`"))
            .hint(format!("`urepo completions {chosen}` prints the script"))
    })?;
    let path = dir.join(name);
    check_outside(&path)?;
    if is_dry {
        return printer.line(&format!("would write {}", path.display()));
    }
    made(&dir)?.replace_file(name, script)?;
    printer.note(&format!("wrote {}", path.display()));
    match chosen {
        Shell::Zsh => printer.hint(&format!(
            "if zsh does not look there, put `fpath=({} $fpath)` before `compinit` in ~/.zshrc",
            shell::word(&dir)
        )),
        _ => printer.note("the next shell completes urepo"),
    }
    Ok(())
}

/// The directory for a person's scripts of a shell, and the name of the script for urepo.
fn place(chosen: Shell) -> Option<(PathBuf, &'static str)> {
    let base = etcetera::choose_base_strategy().ok()?;
    let chosen_dir = std::env::var_os("BASH_COMPLETION_USER_DIR").filter(|it| !it.is_empty());
    match chosen {
        Shell::Bash => {
            let dir =
                chosen_dir.map_or_else(|| base.data_dir().join("bash-completion"), PathBuf::from);
            Some((dir.join("completions"), "urepo"))
        }
        Shell::Zsh => Some((base.data_dir().join("zsh/site-functions"), "_urepo")),
        Shell::Fish => Some((base.config_dir().join("fish/completions"), "urepo.fish")),
        _ => None,
    }
}

/// The directory at `path`, created with its missing parents.
fn made(path: &Path) -> Result<Dir, PathError> {
    match (Dir::open(path, Watcher::default()), path.parent(), path.file_name()) {
        (Err(error), Some(above), Some(name)) if error.kind() == std::io::ErrorKind::NotFound => {
            made(above)?.ensure_dir(name)
        }
        (opened, ..) => opened,
    }
}
