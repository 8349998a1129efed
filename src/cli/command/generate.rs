//! `urepo generate`: the manual and the completion scripts, for packages.

use std::path::PathBuf;

use clap_complete::env::Shells;
use urepo::collection::discover::check_outside;
use urepo::disk::{Dir, Watcher};

use crate::cli::Done;
use crate::cli::args::definitions;
use crate::cli::complete::VARIABLE;
use crate::cli::context::Context;
use crate::cli::exit::Exit;
use crate::cli::failure::Failure;

/// Write the manual or the completion scripts into a directory
#[derive(Debug, clap::Args)]
pub(crate) struct Generate {
    /// What to write: urepo*.1 and urepo.7, or urepo.bash, _urepo and urepo.fish
    what: Kind,
    /// An existing directory
    dir: PathBuf,
}

#[derive(Clone, Copy, Debug, clap::ValueEnum)]
enum Kind {
    Man,
    Completions,
}

/// The page of what clap does not know: finding codes, exit codes, files, settings.
const OVERVIEW: &str = include_str!("../../../man/urepo.7");

/// The script of bash.
const BASH: &str = include_str!("../complete.bash");

/// The shells, and the names of their scripts.
const SCRIPTS: [(&str, &str); 3] =
    [("bash", "urepo.bash"), ("zsh", "_urepo"), ("fish", "urepo.fish")];

impl Generate {
    pub(crate) fn run(&self, context: &Context) -> Done {
        let dir = context.absolute(&self.dir);
        check_outside(&dir)?;
        let into = Dir::open(&dir, Watcher::default())?;
        if context.global.dry_run {
            return context.printer.line(&format!("would write into {}", dir.display()));
        }
        match self.what {
            Kind::Man => {
                into.replace_file("urepo.7", OVERVIEW.as_bytes())?;
                clap_mangen::generate_to(definitions(), &dir)
                    .map_err(|error| unwritten("pages of the manual", &error))
            }
            Kind::Completions => SCRIPTS
                .iter()
                .try_for_each(|(shell, name)| Ok(into.replace_file(name, &script(shell)?)?)),
        }
    }
}

/// The script by which a shell requests candidates from urepo.
fn script(shell: &str) -> Result<Vec<u8>, Failure> {
    if shell == "bash" {
        return Ok(BASH.as_bytes().to_vec());
    }
    let mut script = Vec::new();
    let shells = Shells::builtins();
    let completer = shells.completer(shell).expect("because clap_complete has these shells");
    completer
        .write_registration(VARIABLE, "urepo", "urepo", "urepo", &mut script)
        .map_err(|error| unwritten("script", &error))?;
    if shell == "zsh" {
        // zsh loads the script as a function at the first completion, so the script has to answer that one as
        // well.
        script.extend(b"[[ $funcstack[1] == _urepo ]] && _clap_dynamic_completer_urepo\n");
    }
    Ok(script)
}

fn unwritten(what: &str, error: &std::io::Error) -> Failure {
    Failure::new(Exit::Failure, format!("cannot write the {what}")).caused_by(error.to_string())
}
