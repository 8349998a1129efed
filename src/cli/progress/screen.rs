//! The terminal that progress is drawn on.

use std::fmt;
use std::io::{self, Write};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use indicatif::TermLike;
use unicode_width::UnicodeWidthStr;

/// Columns that stay free, so that the echo of Ctrl-C does not wrap.
const MARGIN: u16 = 3;

/// A terminal on which each line ends with its text: neither the echo of a key nor a narrower window then
/// leaves parts of it behind. Each drawing is one write.
#[derive(Clone)]
pub(super) struct Screen {
    state: Arc<Mutex<ScreenState>>,
    size: fn() -> (u16, u16),
}

struct ScreenState {
    out: Box<dyn Write + Send>,
    pending: String,
    /// The position of the cursor if lines were filled with blanks.
    column: usize,
    width: u16,
}

impl Screen {
    /// A terminal of `size` rows and columns behind `out`.
    pub(super) fn new(out: Box<dyn Write + Send>, size: fn() -> (u16, u16)) -> Screen {
        let state = ScreenState { out, pending: String::new(), column: 0, width: 0 };
        Screen { state: Arc::new(Mutex::new(state)), size }
    }

    /// The number of columns that may be used.
    pub(super) fn columns(&self) -> u16 {
        (self.size)().1.saturating_sub(MARGIN).max(1)
    }

    fn state(&self) -> MutexGuard<'_, ScreenState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn control(&self, count: usize, letter: char) {
        if count > 0 {
            self.state().pending += &format!("\u{1b}[{count}{letter}");
        }
    }
}

impl fmt::Debug for Screen {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Screen")
    }
}

impl TermLike for Screen {
    fn width(&self) -> u16 {
        let columns = self.columns();
        self.state().width = columns;
        columns
    }

    fn height(&self) -> u16 {
        (self.size)().0
    }

    fn move_cursor_up(&self, n: usize) -> io::Result<()> {
        self.control(n, 'A');
        Ok(())
    }

    fn move_cursor_down(&self, n: usize) -> io::Result<()> {
        self.control(n, 'B');
        Ok(())
    }

    fn move_cursor_right(&self, n: usize) -> io::Result<()> {
        self.control(n, 'C');
        Ok(())
    }

    fn move_cursor_left(&self, n: usize) -> io::Result<()> {
        self.control(n, 'D');
        Ok(())
    }

    fn write_line(&self, text: &str) -> io::Result<()> {
        self.write_str(text)?;
        let mut state = self.state();
        state.pending += "\r\n";
        state.column = 0;
        Ok(())
    }

    fn write_str(&self, text: &str) -> io::Result<()> {
        let mut state = self.state();
        if !text.is_empty() && state.column >= usize::from(state.width) {
            state.pending += "\r\n";
            state.column = 0;
        }
        let is_filler = state.column > 0 && text.bytes().all(|byte| byte == b' ');
        if !is_filler {
            state.pending += text;
        }
        state.column += text.width();
        Ok(())
    }

    fn clear_line(&self) -> io::Result<()> {
        let mut state = self.state();
        state.pending += "\r\u{1b}[2K";
        state.column = 0;
        Ok(())
    }

    fn flush(&self) -> io::Result<()> {
        let mut state = self.state();
        let pending = std::mem::take(&mut state.pending);
        state.out.write_all(pending.as_bytes())?;
        state.out.flush()
    }
}
