//! A bounded number of names of one year, in order, without an allocation for each.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;

use crate::disk::{Dir, PathError};

/// Names with their directories, in the order of their bytes, which within a year is the order of dates.
#[derive(Debug, Default)]
pub(crate) struct Window {
    bytes: Vec<u8>,
    spans: Vec<Span>,
}

/// The range of a name in the bytes, and the number of its directory.
#[derive(Clone, Copy, Debug)]
struct Span {
    start: u32,
    length: u16,
    dir: u16,
}

/// A name and the number of its directory.
pub(crate) type Named<'a> = (&'a OsStr, usize);

impl Window {
    /// Maximum number of names of one year held at a time, some thirty bytes each; a larger year is listed in
    /// several passes.
    pub(crate) const LIMIT: usize = 1 << 20;

    /// The first `limit` entries of the numbered `dirs` after `after`. An error has the number of its
    /// directory.
    pub(crate) fn of<'d>(
        dirs: impl IntoIterator<Item = (usize, &'d Dir)>,
        after: Option<(&OsStr, usize)>,
        limit: usize,
    ) -> Result<Window, (usize, PathError)> {
        let mut window = Window::default();
        for (at, dir) in dirs {
            for entry in dir.entries().map_err(|error| (at, error))? {
                let entry = entry.map_err(|error| (at, error))?;
                if after.is_none_or(|after| (&*entry.name, at) > after) {
                    window.push(&entry.name, at);
                }
                if window.spans.len() == 2 * limit {
                    window.keep_first(limit);
                }
            }
        }
        window.keep_first(limit);
        window.sort();
        Ok(window)
    }

    pub(crate) fn len(&self) -> usize {
        self.spans.len()
    }

    pub(crate) fn iter(&self) -> impl DoubleEndedIterator<Item = Named<'_>> {
        self.spans.iter().map(|span| named(&self.bytes, span))
    }

    fn push(&mut self, name: &OsStr, dir: usize) {
        // No file system has longer names or more directories for one year.
        let (Ok(start), Ok(length), Ok(dir)) =
            (self.bytes.len().try_into(), name.len().try_into(), dir.try_into())
        else {
            return;
        };
        self.bytes.extend_from_slice(name.as_bytes());
        self.spans.push(Span { start, length, dir });
    }

    fn sort(&mut self) {
        let Window { bytes, spans } = self;
        spans.sort_unstable_by(|a, b| named(bytes, a).cmp(&named(bytes, b)));
    }

    /// Forgets all but the first `limit` in order.
    fn keep_first(&mut self, limit: usize) {
        let Window { bytes, spans } = self;
        if spans.len() <= limit {
            return;
        }
        spans.select_nth_unstable_by(limit, |a, b| named(bytes, a).cmp(&named(bytes, b)));
        spans.truncate(limit);
        let mut kept = Window::default();
        for span in &*spans {
            let (name, dir) = named(bytes, span);
            kept.push(name, dir);
        }
        *self = kept;
    }
}

fn named<'a>(bytes: &'a [u8], span: &Span) -> Named<'a> {
    let start = span.start as usize;
    (OsStr::from_bytes(&bytes[start..start + usize::from(span.length)]), usize::from(span.dir))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn windows_over_several_spellings_miss_nothing_and_repeat_nothing() {
        let scratch = tempfile::tempdir().expect("a scratch directory");
        let root = Dir::open(scratch.path(), crate::disk::Watcher::default()).expect("it is there");
        let dirs = ["a", "b"].map(|name| {
            root.make_dir(name).expect(name);
            root.open_dir(name).expect(name)
        });
        let mut all = Vec::new();
        for (at, dir) in dirs.iter().enumerate() {
            // Some names are in both.
            for leaf in (0..9).filter(|leaf| leaf % 3 != at) {
                dir.make_dir(format!("{leaf:02}")).expect("a directory");
                all.push((std::ffi::OsString::from(format!("{leaf:02}")), at));
            }
        }
        all.sort();
        for limit in 1..6 {
            let (mut listed, mut after) = (Vec::new(), None::<(std::ffi::OsString, usize)>);
            loop {
                let last = after.as_ref().map(|(name, dir)| (&**name, *dir));
                let window =
                    Window::of(dirs.iter().enumerate(), last, limit).expect("it can be listed");
                listed.extend(window.iter().map(|(name, dir)| (name.to_owned(), dir)));
                if window.len() < limit {
                    break;
                }
                after = listed.last().cloned();
            }
            assert_eq!(listed, all, "{limit} at a time");
        }
    }
}
