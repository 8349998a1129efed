//! Failures as the command line tells them: one line, causes, one hint, an exit code.

use std::error::Error;

use serde_json::json;
use urepo::disk::PathError;

use super::exit::Exit;
use super::printer::{Lost, Printer};

/// Why a command ended without success.
#[derive(Debug)]
pub(crate) struct Failure {
    pub(crate) exit: Exit,
    pub(crate) message: String,
    pub(crate) excerpt: Option<String>,
    pub(crate) causes: Vec<String>,
    pub(crate) hint: Option<String>,
    /// What it is called of several items, if it may be the same with many.
    pub(crate) common: Option<&'static str>,
    /// Everything was said already, or nobody is there to hear it.
    silent: bool,
    stdout_is_gone: bool,
}

impl Failure {
    pub(crate) fn new(exit: Exit, message: impl Into<String>) -> Failure {
        Failure {
            exit,
            message: message.into(),
            excerpt: None,
            causes: Vec::new(),
            hint: None,
            common: None,
            silent: false,
            stdout_is_gone: false,
        }
    }

    /// The failure that `error` is, with the chain of its causes.
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

    /// An end that has been explained before.
    pub(crate) fn told(exit: Exit) -> Failure {
        Failure { silent: true, ..Failure::new(exit, "") }
    }

    pub(crate) fn usage(message: impl Into<String>) -> Failure {
        Failure::new(Exit::Usage, message)
    }

    /// Whether there is no use in going on: nobody reads, or a stop was asked for.
    pub(crate) fn ends_the_run(&self) -> bool {
        self.silent || self.stdout_is_gone || self.exit == Exit::Interrupted
    }

    pub(crate) fn hint(mut self, hint: impl Into<String>) -> Failure {
        self.hint = Some(hint.into());
        self
    }

    /// The same failure is likely with many items, of which `common` says it.
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

    /// A failure to write to stdout, for a library that knows errors of the system alone.
    pub(crate) fn into_io_error(self) -> std::io::Error {
        std::io::Error::other(self.causes.join(": "))
    }

    /// The same with what was done.
    pub(crate) fn into_path_error(self) -> PathError {
        PathError::new("write to", "stdout", self.into_io_error())
    }

    /// Tells it on stderr: lines for people, one record with `--json`.
    pub(crate) fn tell(&self, printer: &Printer) {
        if self.silent {
            return;
        }
        if printer.json {
            let record = json!({
                "type": "error", "version": 1, "ok": false, "exit_code": self.exit.code(),
                "error": {
                    "code": self.exit.code(), "message": self.message,
                    "causes": self.causes, "hint": self.hint,
                },
            });
            printer.say(&record.to_string());
            return;
        }
        printer.error(&self.message);
        if let Some(excerpt) = &self.excerpt {
            printer.excerpt(excerpt);
        }
        for cause in &self.causes {
            printer.cause(cause);
        }
        if let Some(hint) = &self.hint {
            printer.hint(hint);
        }
    }

    /// The message and its causes in one line.
    pub(crate) fn in_one_line(&self) -> String {
        std::iter::once(&self.message).chain(&self.causes).cloned().collect::<Vec<_>>().join(": ")
    }
}
