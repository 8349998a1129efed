//! Progress of a long run, reported to an observer.

/// Hears of work as it is done. Called from many threads, often; it has to be quick.
pub trait Progress: Send + Sync {
    /// `items` and `bytes` more are known to lie ahead.
    fn expect(&self, items: u64, bytes: u64);

    /// No more than `items` are to come in all: what was expected is the total once it is as many. Without this
    /// call nobody knows how much is left.
    fn announce(&self, _items: u64) {}

    /// `bytes` more have been copied or read.
    fn advance(&self, bytes: u64);

    /// One more item is finished, whether well or not.
    fn finish_item(&self, name: &str);

    /// Whether anybody sees it, so that it is worth finding out beforehand how much there is to do.
    fn is_shown(&self) -> bool {
        true
    }
}

/// Passes on what is done, where all of it was expected and announced beforehand.
#[derive(Clone, Copy)]
pub struct Announced<'a>(pub &'a dyn Progress);

impl Progress for Announced<'_> {
    fn expect(&self, _items: u64, _bytes: u64) {}

    fn advance(&self, bytes: u64) {
        self.0.advance(bytes);
    }

    fn finish_item(&self, name: &str) {
        self.0.finish_item(name);
    }

    fn is_shown(&self) -> bool {
        self.0.is_shown()
    }
}

/// Shows nothing.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoProgress;

impl Progress for NoProgress {
    fn expect(&self, _items: u64, _bytes: u64) {}
    fn advance(&self, _bytes: u64) {}
    fn finish_item(&self, _name: &str) {}

    fn is_shown(&self) -> bool {
        false
    }
}
