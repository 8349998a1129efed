//! Progress of a long run, reported to an observer.

/// Hears of work as it is done. Called from many threads, often; it has to be quick.
pub trait Progress: Send + Sync {
    /// `items` and `bytes` more are known to lie ahead.
    fn expect(&self, items: u64, bytes: u64);

    /// `bytes` more have been copied or read.
    fn advance(&self, bytes: u64);

    /// One more item is finished, whether well or not.
    fn finish_item(&self, name: &str);

    /// Whether anybody sees it, so that it is worth finding out beforehand how much there is to do.
    fn is_shown(&self) -> bool {
        true
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
