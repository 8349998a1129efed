//! Output to stdout and stderr.

use std::io::{self, IsTerminal, Write};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use anstream::ColorChoice;
use anstyle::{AnsiColor, Style};
use indicatif::ProgressBar;
use serde::Serialize;

use super::failure::{Failure, Lost};
use super::records::{self, Error, FullError};
use super::{Done, escape};

/// The amount of output besides the answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Verbosity {
    /// Errors only.
    Quiet,
    /// Notes and warnings as well.
    Normal,
    /// Reports of work as well.
    Verbose,
}

/// The role of stdout in a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Purpose {
    /// It takes the answer: if it is closed, the run ends.
    Answer,
    /// It takes reports of work, which is finished even if it is closed.
    Work,
}

/// Writes answers to stdout and everything else to stderr. Nothing else in the program writes there.
#[derive(Clone, Debug)]
pub(crate) struct Printer {
    pub(crate) verbosity: Verbosity,
    pub(crate) json: bool,
    pub(crate) purpose: Purpose,
    color: ColorChoice,
    stdout_is_terminal: bool,
    /// Without a stdout, reports of work go to stderr, so that no identifier is lost.
    lost: Arc<OnceLock<Lost>>,
}

/// Lines for stdout, which are written together: exact in a pipe, harmless on a terminal.
#[derive(Debug)]
pub(crate) struct Output {
    is_terminal: bool,
    bytes: Vec<u8>,
}

impl Output {
    /// A line.
    pub(crate) fn line(&mut self, line: &str) {
        if self.is_terminal {
            self.bytes.extend(escape::one_line(line).bytes());
        } else {
            self.bytes.extend(line.bytes());
        }
        self.bytes.push(b'\n');
    }

    /// An escaped line, with its end.
    pub(crate) fn ended(&mut self, line: &str, end: u8) {
        self.bytes.extend(line.bytes());
        self.bytes.push(end);
    }

    /// Our own text of several lines, with untrusted names in it.
    pub(crate) fn lines(&mut self, text: &str) {
        self.bytes.extend(escape::lines(text).bytes());
    }

    /// Lines with names that may not be UTF-8.
    pub(crate) fn exact(&mut self, lines: &[u8]) {
        if self.is_terminal {
            self.bytes.extend(escape::lines(&String::from_utf8_lossy(lines)).bytes());
        } else {
            self.bytes.extend(lines);
        }
    }

    /// A JSON record on one line.
    pub(crate) fn record(&mut self, record: &impl Serialize) {
        self.bytes.extend(escape::json(&records::to_json(record).to_string()).bytes());
        self.bytes.push(b'\n');
    }
}

/// The progress bar on the terminal, which gives way while something is written.
static DRAWN: Mutex<Option<ProgressBar>> = Mutex::new(None);

/// Writes while the progress bar is hidden; it is drawn below the output afterwards.
fn without_bar<T>(write: impl FnOnce() -> T) -> T {
    let drawn = DRAWN.lock().unwrap_or_else(PoisonError::into_inner).clone();
    match drawn {
        Some(bar) => bar.suspend(write),
        None => write(),
    }
}

/// The terminal of the progress bar: stderr.
pub(crate) fn bar_output() -> Box<dyn Write + Send> {
    Box::new(io::stderr())
}

/// The number of rows and columns of that terminal.
pub(crate) fn stderr_size() -> (u16, u16) {
    let size = rustix::termios::tcgetwinsize(io::stderr()).ok();
    size.filter(|size| size.ws_col > 0).map_or((24, 80), |size| (size.ws_row, size.ws_col))
}

/// Sets the progress bar that is now on the terminal.
pub(crate) fn set_bar(bar: Option<ProgressBar>) {
    *DRAWN.lock().unwrap_or_else(PoisonError::into_inner) = bar;
}

const ERROR: Style = AnsiColor::Red.on_default().bold();
const WARNING: Style = AnsiColor::Yellow.on_default().bold();
const HINT: Style = AnsiColor::Cyan.on_default().bold();

impl Printer {
    pub(crate) fn new(
        verbosity: Verbosity,
        json: bool,
        color: ColorChoice,
        purpose: Purpose,
    ) -> Printer {
        Printer {
            verbosity,
            json,
            purpose,
            // Decided once, not for each line.
            color: match color {
                ColorChoice::Auto => anstream::AutoStream::choice(&io::stderr()),
                chosen => chosen,
            },
            stdout_is_terminal: io::stdout().is_terminal(),
            lost: Arc::default(),
        }
    }

    /// Whether a person sees what is written to stdout.
    pub(crate) fn stdout_is_terminal(&self) -> bool {
        self.stdout_is_terminal
    }

    /// The width of the terminal on stdout; `None` if it is not a terminal.
    pub(crate) fn stdout_width(&self) -> Option<usize> {
        if !self.stdout_is_terminal {
            return None;
        }
        let columns = rustix::termios::tcgetwinsize(io::stdout()).map_or(0, |size| size.ws_col);
        Some(if columns == 0 { 80 } else { columns.into() })
    }

    /// Whether a person sees what is written to stderr.
    pub(crate) fn stderr_is_terminal(&self) -> bool {
        io::stderr().is_terminal()
    }

    /// Why stdout takes no more output, if it does not.
    pub(crate) fn lost(&self) -> Option<&Lost> {
        self.lost.get()
    }

    /// An empty buffer for several lines that are written together.
    pub(crate) fn output(&self) -> Output {
        Output { is_terminal: self.stdout_is_terminal, bytes: Vec::new() }
    }

    /// Writes several lines together.
    pub(crate) fn send(&self, output: &Output) -> Done {
        self.payload(&output.bytes)
    }

    /// One line of the answer.
    pub(crate) fn line(&self, line: &str) -> Done {
        self.one(|output| output.line(line))
    }

    /// Our own text of several lines, with untrusted names in it.
    pub(crate) fn lines(&self, text: &str) -> Done {
        self.one(|output| output.lines(text))
    }

    /// Lines with names that may not be UTF-8.
    pub(crate) fn exact(&self, lines: &[u8]) -> Done {
        self.one(|output| output.exact(lines))
    }

    /// A JSON record on one line.
    pub(crate) fn record(&self, record: &impl Serialize) -> Done {
        self.one(|output| output.record(record))
    }

    fn one(&self, write: impl FnOnce(&mut Output)) -> Done {
        let mut output = self.output();
        write(&mut output);
        self.send(&output)
    }

    /// The unchanged bytes of a file or a stream, which the caller keeps away from a terminal.
    ///
    /// Once stdout has failed, nothing more is written. An answer then ends; work continues, and the end of
    /// the run reports it (`report::conclude`).
    pub(crate) fn payload(&self, bytes: &[u8]) -> Done {
        if self.lost.get().is_none()
            && let Err(error) = self.write(bytes)
        {
            let reader_left = error.kind() == io::ErrorKind::BrokenPipe;
            // The first failure has been reported.
            let _ = self.lost.set(Lost { reader_left, reason: error.to_string() });
        }
        match (self.lost.get(), self.purpose) {
            (Some(lost), Purpose::Answer) => Err(Failure::of_stdout(lost)),
            _ => Ok(()),
        }
    }

    fn write(&self, bytes: &[u8]) -> io::Result<()> {
        let write = || {
            let mut out = io::stdout().lock();
            out.write_all(bytes)?;
            out.flush()
        };
        if self.stdout_is_terminal { without_bar(write) } else { write() }
    }

    /// A note for a person, unless `--quiet` is given.
    pub(crate) fn note(&self, text: &str) {
        if self.verbosity >= Verbosity::Normal {
            self.say(&escape::lines(text));
        }
    }

    /// A report of work, with `--verbose`.
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

    /// An error about `failure` in the words of its command, with its hint.
    pub(crate) fn error_of(&self, failure: &Failure, text: &str) {
        self.error(text);
        failure.hints().iter().for_each(|hint| self.hint(hint));
    }

    /// Reports a failure on stderr: lines for people, one record with `--json`.
    pub(crate) fn failure(&self, failure: &Failure) {
        if failure.silent {
            return;
        }
        if self.json {
            let Failure { exit, message, causes, .. } = failure;
            let hints = failure.hints().join("; ");
            let (code, hint) = (exit.code(), Some(&*hints).filter(|hint| !hint.is_empty()));
            let error = FullError { code, message, causes, hint };
            let record = records::to_json(&Error { error, exit_code: code });
            self.say(&escape::json(&record.to_string()));
            return;
        }
        self.error(&failure.message);
        if let Some(excerpt) = &failure.excerpt {
            self.excerpt(excerpt);
        }
        for cause in &failure.causes {
            self.say(&format!("caused by: {}", escape::one_line(cause)));
        }
        failure.hints().iter().for_each(|hint| self.hint(hint));
    }

    pub(crate) fn excerpt(&self, text: &str) {
        self.say(&escape::lines(text));
    }

    pub(crate) fn hint(&self, text: &str) {
        self.say(&format!("{HINT}hint:{HINT:#} {}", escape::one_line(text)));
    }

    /// An error on stderr is ignored: it cannot be reported anywhere.
    pub(crate) fn say(&self, line: &str) {
        let mut err = anstream::AutoStream::new(io::stderr(), self.color);
        // In one piece: the stream writes each part of a format by itself.
        let _ = without_bar(|| err.write_all(format!("{line}\n").as_bytes()));
    }
}
