//! Failures of the command line: one line, causes, one hint, an exit code.

use std::error::Error;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use urepo::disk::PathError;
use urepo::identity::RepositoryName;

use super::exit::Exit;
use super::remedy::{self, Advice};
use super::{Done, shell};

/// Why a command ended without success.
#[derive(Debug)]
pub(crate) struct Failure {
    pub(crate) exit: Exit,
    pub(crate) message: String,
    pub(crate) excerpt: Option<Box<str>>,
    pub(crate) causes: Vec<String>,
    pub(crate) hint: Option<String>,
    /// The item with the remedies that take the place of the hint.
    pub(crate) about: Option<Box<About>>,
    /// Its text for several items, if it may be the same for many.
    pub(crate) common: Option<&'static str>,
    /// The item was changed, and the disk did not confirm it.
    pub(crate) is_unconfirmed: bool,
    /// Everything has been reported, or the output is closed.
    pub(crate) silent: bool,
    stdout_is_gone: bool,
}

/// The item of a failure.
#[derive(Debug)]
pub(crate) struct About {
    pub(crate) name: RepositoryName,
    /// The root of the collection where its payload was found damaged.
    pub(crate) damaged: Option<PathBuf>,
    /// Without remedies, the place of its Original takes the place of the hint.
    pub(crate) names_original: bool,
    /// Its remedies, once the collections in sight were asked.
    pub(crate) remedies: Option<Vec<Advice>>,
}

/// Why stdout takes no more output.
#[derive(Debug)]
pub(crate) struct Lost {
    /// The reader has left, as `head` does.
    pub(crate) reader_left: bool,
    /// The error, for people.
    pub(crate) reason: String,
}

impl Failure {
    pub(crate) fn new(exit: Exit, message: impl Into<String>) -> Failure {
        Failure {
            exit,
            message: message.into(),
            excerpt: None,
            causes: Vec::new(),
            hint: None,
            about: None,
            common: None,
            is_unconfirmed: false,
            silent: false,
            stdout_is_gone: false,
        }
    }

    /// The failure for `error`, with the chain of its causes.
    pub(crate) fn of(exit: Exit, error: &dyn Error) -> Failure {
        let mut failure = Failure::new(exit, error.to_string());
        let mut source = error.source();
        while let Some(cause) = source {
            let text = cause.to_string();
            // A transparent error repeats the text of the one it wraps.
            if !failure.message.ends_with(&text) && failure.causes.last() != Some(&text) {
                failure.causes.push(text);
            }
            source = cause.source();
        }
        failure
    }

    /// The failure for `error`, which came after the item was changed.
    pub(crate) fn unconfirmed(error: &dyn Error) -> Failure {
        Failure { is_unconfirmed: true, ..Failure::of(Exit::Failure, error) }
    }

    /// An end that has already been explained.
    pub(crate) fn told(exit: Exit) -> Failure {
        Failure { silent: true, ..Failure::new(exit, "") }
    }

    pub(crate) fn usage(message: impl Into<String>) -> Failure {
        Failure::new(Exit::Usage, message)
    }

    /// Whether the run should stop: the output is closed, or a stop was requested.
    pub(crate) fn ends_the_run(&self) -> bool {
        self.silent || self.stdout_is_gone || self.exit == Exit::Interrupted
    }

    /// Adds a hint. A command in `hint` applies to the collection in use, unless it names another with `-c`.
    pub(crate) fn hint(mut self, hint: impl AsRef<str>) -> Failure {
        self.hint = Some(shell::pasted(hint.as_ref()));
        self
    }

    /// The remedies of the item `name`, if it has any, take the place of the hint.
    pub(crate) fn about(mut self, name: &RepositoryName) -> Failure {
        let (damaged, remedies, names_original) = (None, None, false);
        self.about =
            Some(Box::new(About { name: name.clone(), damaged, names_original, remedies }));
        self
    }

    /// The same of an item whose Original is elsewhere: without remedies, its place takes the place of the hint.
    pub(crate) fn elsewhere(self, name: &RepositoryName) -> Failure {
        let mut failure = self.about(name);
        failure.about.iter_mut().for_each(|about| about.names_original = true);
        failure
    }

    /// The same of an item whose payload was found damaged in the collection at `root`.
    pub(crate) fn about_damage(self, name: &RepositoryName, root: &Path) -> Failure {
        let mut failure = self.about(name);
        failure.about.iter_mut().for_each(|about| about.damaged = Some(root.to_path_buf()));
        failure
    }

    /// The remedies of its item.
    pub(crate) fn remedies(&self) -> &[Advice] {
        self.about.as_ref().and_then(|about| about.remedies.as_deref()).unwrap_or_default()
    }

    /// Its remedies: those of the item, or else the lines of the hint.
    pub(crate) fn hints(&self) -> Vec<String> {
        match self.remedies() {
            [] => self.hint.iter().flat_map(|hint| hint.lines().map(str::to_owned)).collect(),
            remedies => remedy::lines(remedies),
        }
    }

    /// The same failure is likely for many items; `common` is its text for them.
    pub(crate) fn in_common(mut self, common: &'static str) -> Failure {
        self.common = Some(common);
        self
    }

    pub(crate) fn caused_by(mut self, cause: impl Into<String>) -> Failure {
        self.causes.push(cause.into());
        self
    }

    /// A failure to write the answer.
    pub(crate) fn of_stdout(lost: &Lost) -> Failure {
        let failure = Failure {
            stdout_is_gone: true,
            ..Failure::new(Exit::Failure, "cannot write to stdout")
        };
        failure.caused_by(&lost.reason)
    }

    /// A failure to write to stdout, for a library with plain I/O errors.
    pub(crate) fn into_io_error(self) -> std::io::Error {
        std::io::Error::other(self.causes.join(": "))
    }

    /// The same, with the action.
    pub(crate) fn into_path_error(self) -> PathError {
        PathError::new("write to", "stdout", self.into_io_error())
    }

    /// The message and its causes in one line.
    pub(crate) fn in_one_line(&self) -> String {
        std::iter::once(&self.message).chain(&self.causes).cloned().collect::<Vec<_>>().join(": ")
    }
}

/// Whether a visit goes on after `done`. The failure that breaks it off is kept in `failed`.
pub(crate) fn go_on(done: Done, failed: &mut Option<Failure>) -> ControlFlow<()> {
    match done {
        Ok(()) => ControlFlow::Continue(()),
        Err(failure) => {
            *failed = Some(failure);
            ControlFlow::Break(())
        }
    }
}
