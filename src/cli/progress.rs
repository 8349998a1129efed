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

/// A progress line on the terminal.
pub(crate) struct Bar {
    unit: Unit,
    shown: ProgressBar,
    expected: AtomicU64,
    finished: AtomicU64,
    /// There is more than was expected, as of a stream: nobody knows how much is left.
    outgrown: Once,
}

impl Bar {
    pub(crate) fn new(unit: Unit) -> Bar {
        let bar = ProgressBar::new(0);
        let style = style(match unit {
            Unit::Bytes => "{bytes} of {total_bytes} {wide_bar} {bytes_per_sec} {eta} left  {msg}",
            Unit::Items => "{human_pos} of {human_len} items {wide_bar} {rate} {eta} left",
        })
        .with_key("rate", |state: &ProgressState, line: &mut dyn std::fmt::Write| {
            // A line that cannot be drawn is not worth an error.
            let _ = write!(line, "{:.0}/s", state.per_sec());
        });
        bar.set_style(style);
        bar.enable_steady_tick(Duration::from_millis(250));
        set_bar(Some(bar.clone()));
        let (expected, finished) = (AtomicU64::new(0), AtomicU64::new(0));
        Bar { unit, shown: bar, expected, finished, outgrown: Once::new() }
    }
}

fn style(template: &str) -> ProgressStyle {
    ProgressStyle::with_template(template)
        .expect("because the templates are constants that were tried")
}

impl Progress for Bar {
    fn expect(&self, items: u64, bytes: u64) {
        self.expected.fetch_add(items, Ordering::Relaxed);
        self.shown.inc_length(match self.unit {
            Unit::Bytes => bytes,
            Unit::Items => items,
        });
    }

    fn advance(&self, bytes: u64) {
        if self.unit != Unit::Bytes {
            return;
        }
        self.shown.inc(bytes);
        if self.shown.length().is_some_and(|length| self.shown.position() > length) {
            let open = || self.shown.set_style(style("{bytes} {bytes_per_sec}  {msg}"));
            self.outgrown.call_once(open);
        }
    }

    fn finish_item(&self, name: &str) {
        if self.unit == Unit::Items {
            return self.shown.inc(1);
        }
        let finished = self.finished.fetch_add(1, Ordering::Relaxed) + 1;
        let expected = self.expected.load(Ordering::Relaxed);
        let name = escape::one_line(name.rsplit('/').next().unwrap_or(name));
        let name: String = name.chars().take(24).collect();
        self.shown.set_message(format!("{finished}/{expected} {name}"));
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
            }),
        }
    }

    fn update(&self, change: impl FnOnce(&mut LinesState)) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        change(&mut state);
        if state.last.elapsed() >= INTERVAL {
            state.last = Instant::now();
            let items = human::count(state.items, "item");
            let mut line = format!("{items} of {}", state.expected_items);
            let [done, all] = [state.bytes, state.expected_bytes].map(human::bytes);
            if state.bytes > state.expected_bytes {
                line += &format!(", {done}");
            } else if state.expected_bytes > 0 {
                line += &format!(", {done} of {all}");
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

    fn advance(&self, bytes: u64) {
        self.update(|state| state.bytes += bytes);
    }

    fn finish_item(&self, _name: &str) {
        self.update(|state| state.items += 1);
    }
}
