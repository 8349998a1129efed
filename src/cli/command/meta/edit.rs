//! `urepo meta edit`: change a description in an editor.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::process::Command;

use urepo::amend::{Amendment, Description};
use urepo::collection::Collection;
use urepo::disk::{Dir, StoredFile, Watcher};
use urepo::holdings::Sight;
use urepo::identity::RepositoryName;
use urepo::sidecar::{Sidecar, TERMS};

use super::report::{AmendReporter, with_amender};
use crate::cli::Done;
use crate::cli::context::Context;
use crate::cli::exit::Exit;
use crate::cli::failure::Failure;
use crate::cli::shell;

/// A larger text is not a description.
const MAX_BYTES: u64 = 64 * 1024 * 1024;

/// The editor where no variable names one.
const EDITOR: &str = "vi";

/// The beginning of the line with the item, the date and the custody id of the text.
const BASE: &str = "# Description of ";

/// The words before the custody id in that line.
const STATE: &str = ", state ";

/// Change the description of an item in an editor
///
/// The editor is the one in VISUAL or EDITOR, else vi. It gets the description as a TOML text. An unchanged
/// text changes nothing. If the text is refused, it is kept, and the message names its path and the wrong
/// line: correct it, and use it with --file.
#[derive(Debug, clap::Args)]
pub(super) struct Edit {
    /// The item
    #[arg(value_name = "ITEM")]
    item: String,
    /// Read the text from FILE, or standard input (-), without starting an editor
    #[arg(long, value_name = "FILE")]
    file: Option<PathBuf>,
}

/// A text that was edited, and where it is.
struct Edited {
    text: String,
    /// The temporary file.
    kept: Option<(Dir, PathBuf)>,
    /// Where it was read, for messages.
    path: PathBuf,
}

impl Edit {
    pub(super) fn run(&self, context: &Context) -> Done {
        let collection = context.collection()?;
        let item = context.item(&collection, &self.item)?;
        let (sidecar, _) = item.sidecar()?;
        let name = item.name().clone();
        // Nobody edits a text that will be refused.
        check_changeable(context, &collection, &name)?;
        let base = Description::of(&sidecar);
        let edited = match &self.file {
            Some(path) => {
                let text = utf8(context.read_file(path, MAX_BYTES)?, path)?;
                check_base(&text, &sidecar)?;
                Edited { text, kept: None, path: path.clone() }
            }
            None => edit(context, &sidecar, &base)?,
        };
        let is_text = |line: &str| !line.trim().is_empty() && !line.trim_start().starts_with('#');
        if !edited.text.lines().any(is_text) {
            context.printer.note("the text is empty; nothing was changed");
            return edited.kept.map_or(Ok(()), |(dir, file)| Ok(dir.remove_file(&file)?));
        }
        let change = base.edited(&edited.text).map_err(|error| {
            let message = format!("cannot use `{}` as the description", edited.path.display());
            Failure::new(Exit::Failure, message).caused_by(error.to_string())
        });
        let done = change.and_then(|wanted| change_to(context, &collection, (&base, &wanted)));
        match (done, edited.kept) {
            (Ok(()), Some((dir, file))) => Ok(dir.remove_file(&file)?),
            (Ok(()), None) => Ok(()),
            (Err(failure), None) => Err(failure),
            (Err(failure), Some(_)) => {
                let path = shell::word(&edited.path);
                Err(failure.hint(format!(
                    "the text is kept: correct it, and `urepo meta edit {name} --file {path}`"
                )))
            }
        }
    }
}

/// Makes sure that the item may be changed at all.
fn check_changeable(context: &Context, collection: &Collection, name: &RepositoryName) -> Done {
    let progress = context.progress();
    let caller = context.caller(&*progress);
    let neighbours = context.neighbours(collection);
    let sight = &Sight::of_one(&neighbours);
    let amender = urepo::amend::Amender { collection, sight, writer: None, locks: None, caller };
    let amendment = Amendment { name: name.clone(), change: Box::new(|_| Ok(())) };
    Ok(amender.amend(amendment).map(drop)?)
}

/// Changes the item from one description to another.
fn change_to(
    context: &Context,
    collection: &Collection,
    (base, wanted): (&Description, &Description),
) -> Done {
    let mut reporter = AmendReporter::new(context, true);
    let name = base.name.clone();
    let done = with_amender(context, collection, true, |amender| {
        let change = Box::new(|now: &mut Description| now.replace(base, wanted));
        let result = amender.amend(Amendment { name: name.clone(), change });
        let _ = reporter.tell(&name, result);
        Ok(())
    });
    reporter.finish(done)
}

/// Lets a person edit the description of an item in a temporary file.
fn edit(context: &Context, sidecar: &Sidecar, base: &Description) -> Result<Edited, Failure> {
    let text = head(sidecar) + &base.to_text();
    let dir = Dir::open(&std::env::temp_dir(), Watcher::default())?;
    let (file, mut written) = new_file(&dir)?;
    written.write_all(text.as_bytes())?;
    let path = written.path().to_path_buf();
    drop(written);
    let failed = |cause: String| {
        let failure = Failure::new(Exit::Failure, "the editor failed; nothing was changed");
        let failure = failure.caused_by(cause);
        // A text that was saved before that is kept.
        if context.read_file(&path, MAX_BYTES).is_ok_and(|now| now == text.as_bytes()) {
            let _ = dir.remove_file(&file);
            let hint =
                "`VISUAL` or `EDITOR` names the editor; `--file FILE` takes a text without one";
            return failure.hint(hint);
        }
        failure.hint(format!(
            "what was saved is kept: `urepo meta edit {} --file {}` takes it",
            sidecar.repository,
            shell::word(&path)
        ))
    };
    // The shell outlives a Ctrl-C that its editor catches.
    let script = format!("trap : INT; {} \"$1\"", editor());
    let mut command = Command::new("sh");
    command.args(["-c", &script, "sh"]).arg(&path);
    match context.without_ctrl_c(|| urepo::disk::with_umask(|| command.status()))? {
        Ok(status) if status.success() => {}
        Ok(status) => return Err(failed(status.to_string())),
        Err(error) => return Err(failed(error.to_string())),
    }
    let edited = utf8(context.read_file(&path, MAX_BYTES)?, &path)?;
    Ok(Edited { text: edited, kept: Some((dir, file)), path })
}

/// A file that only this user reads.
fn new_file(dir: &Dir) -> Result<(PathBuf, StoredFile), Failure> {
    let mut number = 0;
    loop {
        let file = PathBuf::from(format!("urepo-meta-{}-{number}.toml", std::process::id()));
        match dir.create_file_with_mode(&file, 0o600) {
            Err(error) if error.kind() == ErrorKind::AlreadyExists && number < 1000 => number += 1,
            created => return Ok((file, created?)),
        }
    }
}

fn editor() -> String {
    let named = |name: &str| std::env::var(name).ok().filter(|it| !it.trim().is_empty());
    named("VISUAL").or_else(|| named("EDITOR")).unwrap_or_else(|| EDITOR.to_owned())
}

/// The text above the description.
fn head(sidecar: &Sidecar) -> String {
    let terms = TERMS.join(", ");
    let (name, date, id) = (&sidecar.repository, sidecar.changed(), sidecar.custody.id());
    let mut lines = vec![format!("{BASE}{name} of {date}{STATE}{id}")];
    let mut line = "#".to_owned();
    let words = format!(
        "Save the file to change the description; leave it as it is, or \
         empty it, to change nothing. The terms of \
         [metadata] are {terms}; a term with several values is a list. Keys of your own stand below \
         [metadata.x]. `urepo meta set` changes relations."
    );
    for word in words.split(' ') {
        if line.len() + word.len() > 98 {
            lines.push(std::mem::replace(&mut line, "#".to_owned()));
        }
        line += &format!(" {word}");
    }
    lines.push(line);
    lines.join("\n") + "\n\n"
}

/// Refuses a text that was made of another description of the item, or of another item.
fn check_base(text: &str, sidecar: &Sidecar) -> Done {
    let Some(line) = text.lines().next().and_then(|line| line.strip_prefix(BASE)) else {
        return Ok(());
    };
    let Some((name, date)) = line.split_once(" of ") else { return Ok(()) };
    let (date, id) = date.split_once(STATE).unwrap_or((date, ""));
    // Dates are for people. The id is new with each change, by any clock.
    if (name, id) == (sidecar.repository.as_str(), sidecar.custody.id().to_string().as_str()) {
        return Ok(());
    }
    let message = format!("the text was made of `{name}` as it was at {date}");
    Err(Failure::new(Exit::Conflict, message)
        .caused_by(format!("`{}` was changed at {}", sidecar.repository, sidecar.changed()))
        .hint("compare both, and remove the first line to take the text as it is"))
}

fn utf8(bytes: Vec<u8>, path: &Path) -> Result<String, Failure> {
    String::from_utf8(bytes).map_err(|error| {
        let line = error.as_bytes()[..error.utf8_error().valid_up_to()]
            .iter()
            .filter(|byte| **byte == b'\n')
            .count();
        Failure::new(Exit::Failure, format!("`{}` is not UTF-8", path.display()))
            .caused_by(format!("line {}", line + 1))
    })
}
