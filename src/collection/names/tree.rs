//! The names of one prefix on disk, for comparison with its memory.

use std::cell::{OnceCell, RefCell};
use std::cmp::Ordering;
use std::collections::HashMap;
use std::path::{Path, PathBuf};

use super::list::{is_year, number};
use crate::collection::Collection;
use crate::disk::{Dir, Kind, PathError};
use crate::distributor::{Names, Newest};
use crate::identity::{Instant, Prefix, parse_suffix};
use crate::layout;

/// The directories of a prefix: one, or several where it was spelt in different cases.
pub(in crate::collection) struct PrefixTree<'a> {
    pub(in crate::collection) root: &'a Dir,
    pub(in crate::collection) prefix: Prefix,
    /// Collections that hold names of this prefix as well.
    pub(in crate::collection) mirrors: &'a [Collection],
    /// The collection itself, if it has a ledger.
    pub(in crate::collection) collection: Option<&'a Collection>,
    /// The directories of the subsystem, once there are some.
    directories: OnceCell<Vec<PathBuf>>,
    /// The last year in which a name was looked for, in each of them where there is one.
    year: RefCell<(String, Vec<Option<Dir>>)>,
}

impl<'a> PrefixTree<'a> {
    pub(in crate::collection) fn new(root: &'a Dir, prefix: Prefix) -> PrefixTree<'a> {
        let (directories, year) = (OnceCell::new(), RefCell::default());
        PrefixTree { root, prefix, mirrors: &[], collection: None, directories, year }
    }

    /// The names in `collection`, and those that its ledger has recorded.
    pub(in crate::collection) fn of(collection: &'a Collection, prefix: Prefix) -> PrefixTree<'a> {
        PrefixTree { collection: Some(collection), ..PrefixTree::new(collection.root(), prefix) }
    }

    /// The same, with the names that `mirrors` hold, or held by their ledgers.
    pub(in crate::collection) fn with_mirrors(self, mirrors: &'a [Collection]) -> PrefixTree<'a> {
        PrefixTree { mirrors, ..self }
    }

    /// Every directory whose two levels are the prefix, whatever their case.
    pub(in crate::collection) fn directories(&self) -> Result<Vec<PathBuf>, PathError> {
        let mut found = prefixes(self.root, &self.prefix.path_components().0)?;
        Ok(found.remove(&self.prefix.folded()).unwrap_or_default())
    }

    /// The years of a directory, newest first.
    fn years(&self, directory: &Path) -> Result<Vec<String>, PathError> {
        let Some(dir) = self.root.open_dir_if_there(directory)? else { return Ok(Vec::new()) };
        let mut years = dir.names_of(Kind::Directory, is_year)?;
        years.sort_by(|a, b| number(b).cmp(&number(a)));
        Ok(years)
    }

    /// The directories of every prefix of this subsystem: `word@80` is `word` of another time.
    fn directories_of_subsystem(&self) -> Result<Vec<PathBuf>, PathError> {
        let subsystem = self.prefix.subsystem();
        let is_of_it = |(prefix, _): &(String, _)| {
            prefix.parse().is_ok_and(|prefix: Prefix| prefix.subsystem() == subsystem)
        };
        let prefixes = prefixes(self.root, &self.prefix.path_components().0)?;
        let found = prefixes.into_iter().filter(is_of_it).flat_map(|(_, found)| found);
        let mut found: Vec<_> = found.collect();
        found.sort();
        Ok(found)
    }

    /// The same, listed once.
    fn cached_directories(&self) -> Result<&[PathBuf], PathError> {
        if let Some(found) = self.directories.get() {
            return Ok(found);
        }
        let found = self.directories_of_subsystem()?;
        Ok(self.directories.get_or_init(|| found))
    }

    /// Lists the directories again if there were none: items may have been published since.
    pub(in crate::collection) fn look_again(&mut self) {
        if self.directories.get().is_some_and(Vec::is_empty) {
            self.directories.take();
        }
    }

    /// The newest names of a directory. Only directories are items.
    fn newest_of(&self, directory: &Path, limit: Instant) -> Result<Newest, PathError> {
        let mut newest = Newest::default();
        let limit_suffix = limit.suffix();
        let (limit_year, limit_leaf) = limit_suffix.split_once('/').unwrap_or_default();
        for year in self.years(directory)? {
            let Some(dir) = self.root.open_dir_if_there(directory.join(&year))? else { continue };
            // Text order is date order within a year: fields have fixed widths, and a fraction follows its
            // second. So few names have to be parsed.
            let is_future = |leaf: &str| match number(&year).cmp(&number(limit_year)) {
                Ordering::Equal => leaf > limit_leaf,
                order => order.is_gt(),
            };
            let mut leaves = [String::new(), String::new()];
            for entry in dir.entries()? {
                let entry = entry?;
                if let (Kind::Directory, Some(leaf)) = (entry.kind, entry.name.to_str()) {
                    let last = &mut leaves[usize::from(is_future(leaf))];
                    if leaf > last.as_str()
                        && let Ok(date) = parse_suffix(&format!("{year}/{leaf}"))
                    {
                        leaf.clone_into(last);
                        newest.add(date, limit);
                    }
                }
            }
            if newest.date.is_some() {
                break;
            }
        }
        Ok(newest)
    }
}

/// The directories of all prefixes of a subdomain, by the folded prefix: one for each spelling, sorted.
pub(super) fn prefixes(
    root: &Dir,
    subdomain: &str,
) -> Result<HashMap<String, Vec<PathBuf>>, PathError> {
    let mut found: HashMap<_, Vec<_>> = HashMap::new();
    let is_it = |name: &str| name.trim_end_matches('.').eq_ignore_ascii_case(subdomain);
    for outer in root.names_of(Kind::Directory, is_it)? {
        let Some(dir) = root.open_dir_if_there(&outer)? else { continue };
        for inner in dir.names_of(Kind::Directory, |_| true)? {
            let prefix = format!("{subdomain}/{}", inner.trim_end_matches('.'));
            let path = Path::new(&outer).join(inner);
            found.entry(prefix.to_ascii_lowercase()).or_default().push(path);
        }
    }
    for directories in found.values_mut() {
        directories.sort();
    }
    Ok(found)
}

impl Names for PrefixTree<'_> {
    fn newest(&self, limit: Instant) -> Result<Newest, PathError> {
        let mut newest = Newest::default();
        for directory in self.directories_of_subsystem()? {
            newest = newest.or(self.newest_of(&directory, limit)?);
        }
        for mirror in self.mirrors {
            newest = newest.or(PrefixTree::new(mirror.root(), self.prefix.clone()).newest(limit)?);
            mirror.visit_recorded(&self.prefix, None, |name| newest.add(name.instant(), limit))?;
        }
        if let Some(own) = self.collection {
            let mut future = Vec::new();
            own.visit_recorded(&self.prefix, None, |name| match name.instant() {
                date if date > limit => future.push(name),
                date => newest.add(date, limit),
            })?;
            for name in future {
                let is_here = self.root.stat(layout::item_directory(&name))?.is_some();
                let kind = if is_here { &mut newest.future } else { &mut newest.departed };
                *kind = (*kind).max(Some(name.instant()));
            }
        }
        Ok(newest)
    }

    fn is_taken(&self, date: Instant) -> Result<bool, PathError> {
        let suffix = date.suffix();
        let (year, shortest) = suffix.split_once('/').unwrap_or_default();
        // A foreign name may spell out seconds that the shortest form omits.
        let longer = format!("{shortest}.00");
        let directories = self.cached_directories()?;
        let mut last = self.year.borrow_mut();
        if last.0 != year || last.1.len() != directories.len() {
            *last = (year.to_owned(), directories.iter().map(|_| None).collect());
        }
        for (directory, opened) in directories.iter().zip(&mut last.1) {
            // Another process may make one that is missing.
            if opened.is_none() {
                *opened = self.root.open_dir_if_there(directory.join(year))?;
            }
            let Some(dir) = opened else { continue };
            for leaf in [shortest, &longer] {
                if dir.stat(leaf)?.is_some() {
                    return Ok(true);
                }
            }
        }
        Ok(false)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::disk::Watcher;

    const NOW: &str = "2026-11-21T02:13:20Z";

    struct TestTree {
        _scratch: tempfile::TempDir,
        root: Dir,
    }

    impl TestTree {
        fn new(directories: &[&str]) -> TestTree {
            let scratch = tempfile::tempdir().unwrap();
            let root = Dir::open(scratch.path(), Watcher::default()).unwrap();
            let tree = TestTree { _scratch: scratch, root };
            for directory in directories {
                tree.make(directory);
            }
            tree
        }

        fn make(&self, directory: &str) {
            let mut path = PathBuf::new();
            for level in Path::new(directory) {
                path.push(level);
                let _ = self.root.make_dir(&path);
            }
        }

        fn names(&self) -> PrefixTree<'_> {
            PrefixTree::new(&self.root, "example.org/a".parse().unwrap())
        }

        fn newest(&self) -> [Option<String>; 2] {
            let newest = self.names().newest(NOW.parse().unwrap()).unwrap();
            [newest.date, newest.future].map(|date| date.map(Instant::suffix))
        }
    }

    fn some(suffix: &str) -> Option<String> {
        Some(suffix.to_owned())
    }

    #[test]
    fn only_directories_called_as_items_are_names() {
        let tree = TestTree::new(&[
            "example.org/a/2025/03.01.00.00",
            "example.org/a/2026/02.03.04.05",
            "example.org/a/2026/02.03.04.05.5",
            "example.org/a/2026/02.31.00.00",
            "example.org/a/2026/11.20",
            "example.org/a/2026/zzz",
            "example.org/a/2026/00",
        ]);
        let file = Path::new("example.org/a/2026/10.03.04.05");
        tree.root.create_file(file).unwrap();
        assert_eq!(tree.newest(), [some("2026/02.03.04.05"), None]);
        tree.make("example.org/a/2026/02.03.04.05.06.5");
        assert_eq!(tree.newest(), [some("2026/02.03.04.05.06.5"), None]);
    }

    #[test]
    fn names_of_the_future_are_told_apart() {
        let tree = TestTree::new(&[
            "example.org/a/9999",
            "example.org/a/2199/01.01.00.00",
            "example.org/a/10000/01.01.00.00",
            "example.org/a/2026/11.21.02.13.20.5",
            "example.org/a/2026/11.21.02.13.20",
            "example.org/a/2025/12.31.23.59",
        ]);
        assert_eq!(tree.newest(), [some("2026/11.21.02.13.20"), some("10000/01.01.00.00")]);
    }

    #[test]
    fn a_date_is_taken_in_every_spelling() {
        let tree = TestTree::new(&[
            "Example.ORG/a/2026/11.21.02.13",
            "example.org/A@80/2026/11.21.02.14.00",
            "example.org/ab/2026/11.21.02.15",
        ]);
        let names = tree.names();
        let is_taken = |date: &str| names.is_taken(date.parse().unwrap()).unwrap();
        assert!(is_taken("2026-11-21T02:13:00Z") && is_taken("2026-11-21T02:14:00Z"));
        assert!(!is_taken("2026-11-21T02:15:00Z") && !is_taken("2026-11-21T02:13:01Z"));
    }

    #[test]
    fn a_year_that_another_process_makes_is_seen() {
        let tree = TestTree::new(&["example.org/a"]);
        let names = tree.names();
        let is_taken = || names.is_taken("2026-11-21T02:13:00Z".parse().unwrap()).unwrap();
        assert!(!is_taken());
        tree.make("example.org/a/2026");
        assert!(!is_taken());
        tree.make("example.org/a/2026/11.21.02.13");
        assert!(is_taken());
    }

    #[test]
    fn every_spelling_of_a_subsystem_counts() {
        let tree = TestTree::new(&[
            "Example.ORG/a/2001/01.01.00.00",
            "example.org/A@80/2002/01.01.00.00",
            "example.org/a.8080/2003/01.01.00.00",
            "example.org/ab/2004/01.01.00.00",
        ]);
        assert_eq!(tree.newest(), [some("2002/01.01.00.00"), None]);
    }
}
