//! What goes to stdout and stderr, and how.

use std::io::{self, IsTerminal, Write};

use anstream::ColorChoice;
use anstyle::{AnsiColor, Style};

use super::escape;
use super::progress::without_bar;

/// How much is said besides the answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Verbosity {
    /// Errors only.
    Quiet,
    /// What a person should know.
    Normal,
    /// What was done as well.
    Verbose,
}

/// Writes answers to stdout and everything else to stderr.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Printer {
    pub(crate) verbosity: Verbosity,
    pub(crate) json: bool,
    color: ColorChoice,
    stdout_is_terminal: bool,
}

const ERROR: Style = AnsiColor::Red.on_default().bold();
const WARNING: Style = AnsiColor::Yellow.on_default().bold();
const HINT: Style = AnsiColor::Cyan.on_default().bold();

impl Printer {
    pub(crate) fn new(verbosity: Verbosity, json: bool, color: ColorChoice) -> Printer {
        Printer { verbosity, json, color, stdout_is_terminal: io::stdout().is_terminal() }
    }

    /// One line of the answer, as it is in a pipe and harmless on a terminal.
    pub(crate) fn line(&self, line: &str) -> io::Result<()> {
        self.answer(|out| {
            if self.stdout_is_terminal {
                writeln!(out, "{}", escape::one_line(line))
            } else {
                writeln!(out, "{line}")
            }
        })
    }

    /// Several lines of our own making, in which names from outside may stand.
    pub(crate) fn lines(&self, text: &str) -> io::Result<()> {
        self.bytes(escape::lines(text).as_bytes())
    }

    /// Bytes of the answer, as they are.
    pub(crate) fn bytes(&self, bytes: &[u8]) -> io::Result<()> {
        self.answer(|out| out.write_all(bytes))
    }

    /// A JSON record on a line of its own.
    pub(crate) fn record(&self, record: &serde_json::Value) -> io::Result<()> {
        self.answer(|out| writeln!(out, "{record}"))
    }

    fn answer(
        &self,
        write: impl FnOnce(&mut io::StdoutLock<'_>) -> io::Result<()>,
    ) -> io::Result<()> {
        let write = || write(&mut io::stdout().lock());
        if self.stdout_is_terminal { without_bar(write) } else { write() }
    }

    /// Makes sure that the answer has left.
    pub(crate) fn flush(&self) -> io::Result<()> {
        io::stdout().lock().flush()
    }

    /// Something a person should know, unless they asked for quiet.
    pub(crate) fn note(&self, text: &str) {
        if self.verbosity >= Verbosity::Normal {
            self.say(&escape::lines(text));
        }
    }

    /// What was done, for those who asked.
    pub(crate) fn detail(&self, text: &str) {
        if self.verbosity >= Verbosity::Verbose {
            self.say(&escape::lines(text));
        }
    }

    pub(crate) fn warning(&self, text: &str) {
        if self.verbosity >= Verbosity::Normal {
            self.say(&format!("{WARNING}warning:{WARNING:#} {}", escape::one_line(text)));
        }
    }

    pub(crate) fn error(&self, text: &str) {
        self.say(&format!("{ERROR}error:{ERROR:#} {}", escape::one_line(text)));
    }

    pub(crate) fn excerpt(&self, text: &str) {
        self.say(&escape::lines(text));
    }

    pub(crate) fn cause(&self, text: &str) {
        self.say(&format!("caused by: {}", escape::one_line(text)));
    }

    pub(crate) fn hint(&self, text: &str) {
        self.say(&format!("{HINT}hint:{HINT:#} {}", escape::one_line(text)));
    }

    /// Nobody is told that stderr can not be written: there is nowhere left to say so.
    pub(crate) fn say(&self, line: &str) {
        let mut err = anstream::AutoStream::new(io::stderr(), self.color);
        let _ = without_bar(|| writeln!(err, "{line}"));
    }
}
