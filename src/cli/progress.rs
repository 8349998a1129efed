//! Progress for people: two lines on a terminal, elsewhere plain lines at intervals on request.

mod counts;
mod overview;
mod screen;

use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressState, ProgressStyle};
use urepo::interrupt::Interrupt;
use urepo::progress::Progress;

use super::escape;
use super::printer::{Printer, bar_output, set_bar, stderr_size};
use super::table::cut_start;
use counts::Counts;
pub(crate) use counts::{Total, Unit};
use screen::Screen;

/// Progress that a person sees.
pub(crate) struct Shown {
    counts: Arc<Counts>,
    form: Form,
}

/// How it is seen.
enum Form {
    /// Lines on the terminal: one for the whole run, one for the present file.
    Bar(ProgressBar),
    /// Plain lines at intervals, for logs; the last one was then.
    Lines(Printer, Mutex<Instant>),
}

/// How often the lines on the terminal are drawn.
const TICK: Duration = Duration::from_millis(250);

/// Estimates of the time left up to this are shown at once. A longer one is shown after a hundredth of it: at the
/// speed of many small files, the large file after them would take days.
const CERTAIN: Duration = Duration::from_secs(3600);

/// The interval of plain lines.
const INTERVAL: Duration = Duration::from_secs(10);

impl Shown {
    pub(crate) fn on_terminal(unit: Unit, total: Total, interrupt: &Interrupt) -> Shown {
        let screen = Screen::new(bar_output(), stderr_size);
        let counts = Arc::new(Counts::new(unit, total));
        let bar = drawn_on(screen, &counts, interrupt.clone());
        bar.enable_steady_tick(TICK);
        set_bar(Some(bar.clone()));
        Shown { counts, form: Form::Bar(bar) }
    }

    pub(crate) fn in_lines(printer: Printer, total: Total) -> Shown {
        let form = Form::Lines(printer, Mutex::new(Instant::now()));
        Shown { counts: Arc::new(Counts::new(Unit::Bytes, total)), form }
    }

    /// Shows that `amount` more is done.
    fn show(&self, amount: u64) {
        match &self.form {
            Form::Bar(bar) => bar.inc(amount),
            Form::Lines(printer, last) => {
                let mut last = last.lock().unwrap_or_else(PoisonError::into_inner);
                if last.elapsed() >= INTERVAL {
                    *last = Instant::now();
                    printer.say(&self.counts.overview().text());
                }
            }
        }
    }
}

/// The bar that draws `counts`.
fn drawn_on(screen: Screen, counts: &Arc<Counts>, interrupt: Interrupt) -> ProgressBar {
    let target = ProgressDrawTarget::term_like(Box::new(screen.clone()));
    let bar = ProgressBar::with_draw_target(None, target);
    let drawn = Arc::clone(counts);
    let lines = move |state: &ProgressState, lines: &mut dyn std::fmt::Write| {
        // Lines that cannot be drawn are not worth an error.
        let _ = lines.write_str(&if interrupt.requested() {
            drawn.overview().stopping(screen.columns().into())
        } else {
            lines_of(&drawn, state, screen.columns().into())
        });
    };
    let style = ProgressStyle::with_template("{lines}")
        .expect("because the template is a constant that was tried");
    bar.set_style(style.with_key("lines", lines));
    bar
}

fn lines_of(counts: &Counts, state: &ProgressState, columns: usize) -> String {
    let mut overview = counts.overview();
    let rate = format!("{:.0}", state.per_sec()).parse().unwrap_or(0);
    let measured = overview.bytes.or(overview.count);
    overview.rate = Some(rate);
    overview.left = match measured {
        // Nothing is left to read, and the time for the sync is unknown.
        Some((done, Some(all))) if done == all => None,
        Some((done, Some(all))) if rate > 0 => {
            let left = Duration::from_secs((all - done).div_ceil(rate));
            (left <= CERTAIN.max(state.elapsed() * 100)).then_some(left)
        }
        _ => None,
    };
    let mut lines = overview.line(columns);
    let current = escape::one_line(&counts.current());
    if !current.is_empty() {
        lines.push('\n');
        lines += &cut_start(&current, columns);
    }
    lines
}

impl Progress for Shown {
    fn expect(&self, items: u64, bytes: u64) {
        self.counts.expect(items, bytes);
        self.show(0);
    }

    fn expect_files(&self, files: u64) {
        self.counts.expect_files(files);
    }

    fn announce(&self, items: u64) {
        self.counts.announce(items);
    }

    fn start_scan(&self) {
        self.counts.start_scan();
    }

    fn abandon_scan(&self) {
        self.counts.abandon_scan();
    }

    fn advance(&self, file: &Path, bytes: u64) {
        self.counts.advance(file, bytes);
        // Skipped bytes say nothing about the speed.
        let is_read = self.counts.unit == Unit::Bytes && !file.as_os_str().is_empty();
        self.show(if is_read { bytes } else { 0 });
    }

    fn finish_file(&self) {
        self.counts.finish_file();
    }

    fn finish_item(&self, name: &str) {
        self.counts.finish_item(name);
        self.show(u64::from(self.counts.unit == Unit::Items));
    }
}

impl Drop for Shown {
    fn drop(&mut self) {
        if let Form::Bar(bar) = &self.form {
            set_bar(None);
            bar.finish_and_clear();
        }
    }
}

#[cfg(test)]
mod tests {
    use unicode_width::UnicodeWidthStr;

    use super::*;

    /// Terminals wrap lines that are too wide, which would then not be cleared.
    #[test]
    fn lines_fit_the_terminal_and_are_cleared() {
        let (out, interrupt) = (Out::default(), Interrupt::default());
        let counts = Arc::new(Counts::new(Unit::Bytes, Total::default()));
        let screen = Screen::new(Box::new(out.clone()), || (24, 40));
        let shown = drawn_on(screen, &counts, interrupt.clone());
        let bar = Shown { counts, form: Form::Bar(shown.clone()) };
        bar.announce(1);
        bar.expect(1, 2048);
        bar.advance(Path::new("/a/long/way/down/to/a\u{1b}[2Jb/年次報告書.pdf"), 1024);
        shown.force_draw();
        let drawn = out.take();
        let (_, last) = drawn.rsplit_once("\u{1b}[1A").unwrap();
        let (first, second) = last.split_once("\r\n").unwrap();
        assert!(first.starts_with("1.0 KiB of 2.0 KiB  ") && first.ends_with(" left"), "{first:?}");
        assert_eq!(second, "…y/down/to/a\\u{1b}[2Jb/年次報告書.pdf");
        assert!(first.width() <= 37 && second.width() <= 37, "{drawn:?}");
        bar.advance(Path::new("b"), 1024);
        shown.force_draw();
        let drawn = out.take();
        assert!(drawn.contains("2.0 KiB of 2.0 KiB  ") && drawn.ends_with("/s\r\nb"), "{drawn:?}");
        interrupt.request();
        shown.force_draw();
        assert!(out.take().ends_with("\u{1b}[1Astopping…  2.0 KiB of 2.0 KiB"));
        drop(bar);
        let cleared = "\r\u{1b}[2K";
        assert_eq!(out.take(), cleared);
    }

    /// The bytes of small files come slowly, which says nothing about a large one after them.
    #[test]
    fn no_time_is_left_until_it_is_known() {
        let (out, interrupt) = (Out::default(), Interrupt::default());
        let counts = Arc::new(Counts::new(Unit::Bytes, Total::default()));
        let screen = Screen::new(Box::new(out.clone()), || (24, 80));
        let shown = drawn_on(screen, &counts, interrupt);
        let bar = Shown { counts, form: Form::Bar(shown.clone()) };
        bar.announce(2);
        bar.expect(2, u64::MAX);
        bar.advance(Path::new("small"), 1);
        shown.force_draw();
        let drawn = out.take();
        assert!(drawn.contains("/s") && !drawn.contains(" left"), "{drawn:?}");
    }

    #[derive(Clone, Default)]
    struct Out(Arc<Mutex<Vec<u8>>>);

    impl Out {
        fn take(&self) -> String {
            String::from_utf8(std::mem::take(&mut *self.0.lock().unwrap())).unwrap()
        }
    }

    impl std::io::Write for Out {
        fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
            self.0.lock().unwrap().write(bytes)
        }

        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }
}
