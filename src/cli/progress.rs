//! Progress for people: one line on a terminal, plain lines at intervals elsewhere if asked.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, Once, PoisonError};
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressState, ProgressStyle};
use urepo::progress::Progress;

use super::printer::{Printer, set_bar};
use super::{escape, human};

/// What a long run has many of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Unit {
    /// Bytes are copied or read, of many items.
    Bytes,
    /// Items are looked at, no byte of their payload is read.
    Items,
}

/// A progress line on the terminal. It counts; once the total is known it is a bar that says how long the rest
/// takes.
pub(crate) struct Bar {
    unit: Unit,
    shown: ProgressBar,
    expected: AtomicU64,
    /// The number of items in all, if anybody knows it.
    announced: AtomicU64,
    finished: AtomicU64,
    /// The total is known.
    measured: Once,
    /// There is more than was expected, as of a stream: nobody knows how much is left.
    outgrown: Once,
}

const UNKNOWN: u64 = u64::MAX;

impl Bar {
    pub(crate) fn new(unit: Unit) -> Bar {
        let bar = ProgressBar::new(0);
        bar.set_style(style(match unit {
            Unit::Bytes => COUNTED,
            Unit::Items => "{human_pos} items  {rate}",
        }));
        bar.enable_steady_tick(Duration::from_millis(250));
        set_bar(Some(bar.clone()));
        Bar {
            unit,
            shown: bar,
            expected: AtomicU64::new(0),
            announced: AtomicU64::new(UNKNOWN),
            finished: AtomicU64::new(0),
            measured: Once::new(),
            outgrown: Once::new(),
        }
    }

    /// Draws a bar once everything that was announced is expected.
    fn measure(&self) {
        if self.is_measured() {
            let template = match self.unit {
                Unit::Bytes => {
                    "{bytes} of {total_bytes} {wide_bar} {bytes_per_sec} {eta} left  {msg}"
                }
                Unit::Items => "{human_pos} of {human_len} items {wide_bar} {rate} {eta} left",
            };
            self.measured.call_once(|| self.shown.set_style(style(template)));
        }
    }

    /// Of a stream nobody knows the length.
    fn is_measured(&self) -> bool {
        let is_complete =
            self.expected.load(Ordering::Relaxed) >= self.announced.load(Ordering::Relaxed);
        is_complete && self.shown.length().is_some_and(|length| length > 0)
    }
}

/// How a line begins whose end nobody knows.
const COUNTED: &str = "{bytes}  {bytes_per_sec}  {msg}";

fn style(template: &str) -> ProgressStyle {
    let style = ProgressStyle::with_template(template)
        .expect("because the templates are constants that were tried");
    style.with_key("rate", |state: &ProgressState, line: &mut dyn std::fmt::Write| {
        // A line that cannot be drawn is not worth an error.
        let _ = write!(line, "{:.0}/s", state.per_sec());
    })
}

impl Progress for Bar {
    fn expect(&self, items: u64, bytes: u64) {
        self.shown.inc_length(match self.unit {
            Unit::Bytes => bytes,
            Unit::Items => items,
        });
        self.expected.fetch_add(items, Ordering::Relaxed);
        self.measure();
    }

    fn announce(&self, items: u64) {
        self.announced.store(items, Ordering::Relaxed);
        self.measure();
    }

    fn advance(&self, bytes: u64) {
        if self.unit != Unit::Bytes {
            return;
        }
        self.shown.inc(bytes);
        if self.shown.length().is_some_and(|length| self.shown.position() > length) {
            self.outgrown.call_once(|| self.shown.set_style(style(COUNTED)));
        }
    }

    fn finish_item(&self, name: &str) {
        if self.unit == Unit::Items {
            return self.shown.inc(1);
        }
        let finished = self.finished.fetch_add(1, Ordering::Relaxed) + 1;
        let name = escape::one_line(name.rsplit('/').next().unwrap_or(name));
        let name: String = name.chars().take(20).collect();
        let items = if self.is_measured() {
            format!("{finished}/{}", self.expected.load(Ordering::Relaxed))
        } else {
            human::count(finished, "item")
        };
        self.shown.set_message(format!("{items} {name}"));
    }
}

impl Drop for Bar {
    fn drop(&mut self) {
        set_bar(None);
        self.shown.finish_and_clear();
    }
}

/// Plain lines at intervals, for logs.
pub(crate) struct ProgressLines {
    printer: Printer,
    state: Mutex<LinesState>,
}

struct LinesState {
    last: Instant,
    items: u64,
    bytes: u64,
    expected_items: u64,
    expected_bytes: u64,
    /// The number of items in all, if anybody knows it.
    announced: Option<u64>,
}

const INTERVAL: Duration = Duration::from_secs(10);

impl ProgressLines {
    pub(crate) fn new(printer: Printer) -> ProgressLines {
        ProgressLines {
            printer,
            state: Mutex::new(LinesState {
                last: Instant::now(),
                items: 0,
                bytes: 0,
                expected_items: 0,
                expected_bytes: 0,
                announced: None,
            }),
        }
    }

    fn update(&self, change: impl FnOnce(&mut LinesState)) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        change(&mut state);
        if state.last.elapsed() >= INTERVAL {
            state.last = Instant::now();
            let mut line = human::count(state.items, "item");
            let [done, all] = [state.bytes, state.expected_bytes].map(human::bytes);
            let is_measured = state.announced.is_some_and(|all| state.expected_items >= all);
            if is_measured && state.bytes <= state.expected_bytes {
                line += &format!(" of {}, {done} of {all}", state.expected_items);
            } else if state.expected_bytes > 0 {
                line += &format!(", {done}");
            }
            self.printer.say(&line);
        }
    }
}

impl Progress for ProgressLines {
    fn expect(&self, items: u64, bytes: u64) {
        self.update(|state| {
            state.expected_items += items;
            state.expected_bytes += bytes;
        });
    }

    fn announce(&self, items: u64) {
        self.update(|state| state.announced = Some(items));
    }

    fn advance(&self, bytes: u64) {
        self.update(|state| state.bytes += bytes);
    }

    fn finish_item(&self, _name: &str) {
        self.update(|state| state.items += 1);
    }
}

#[cfg(test)]
mod tests {
    use urepo::progress::Announced;

    use super::*;

    #[test]
    fn a_total_is_shown_once_all_that_was_announced_is_expected() {
        let bar = Bar::new(Unit::Bytes);
        bar.expect(1, 10);
        bar.advance(5);
        assert!(!bar.is_measured(), "more may come");
        bar.announce(2);
        assert!(!bar.is_measured(), "one item is still unknown");
        bar.expect(1, 30);
        assert!(bar.is_measured());
        // What an engine expects was announced before.
        let announced = Announced(&bar);
        announced.expect(5, 500);
        announced.advance(5);
        announced.finish_item("a");
        assert_eq!((bar.shown.length(), bar.shown.position()), (Some(40), 10));
        let stream = Bar::new(Unit::Bytes);
        stream.announce(1);
        stream.expect(1, 0);
        assert!(!stream.is_measured(), "a stream has no length");
    }
}
