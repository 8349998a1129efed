//! What the index has to know, from the sidecars themselves.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::ControlFlow;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use urepo::catalog::{Catalog, CatalogError, Hit, RefreshContext};
use urepo::collection::{Collection, Names};
use urepo::disk::Watcher;
use urepo::index::{Count, Counts, Query};
use urepo::interrupt::Interrupt;
use urepo::item::{Content, State};
use urepo::sidecar::Sidecar;

use crate::support::{TestClock, agent, caller};

/// The directory of the indexes of collections beside `root`, where the program of the tests has it as well.
pub(crate) fn cache(root: &Path) -> PathBuf {
    root.with_file_name(".cache").join("urepo")
}

/// The file of the index of the collection in `root`, which is the only one in its directory with this id.
pub(crate) fn index_file(root: &Path) -> PathBuf {
    let id = open(root).id().to_owned();
    let files = std::fs::read_dir(cache(root)).unwrap().map(|it| it.unwrap().path());
    let name = |path: &PathBuf| path.file_name().unwrap().to_str().unwrap().to_owned();
    let mut files = files.filter(|it| name(it).starts_with(&id) && name(it).ends_with(".sqlite"));
    let file = files.next().unwrap();
    assert_eq!(files.next(), None);
    file
}

/// The collection in `root`, with a place for its index.
pub(crate) fn open(root: &Path) -> Collection {
    Collection::open(root, &Watcher::default()).unwrap().with_cache(&cache(root))
}

/// Opens the catalog of `collection`, and does something with it.
pub(crate) fn try_catalog<T>(
    collection: &Collection,
    act: impl FnOnce(&mut Catalog<'_>) -> T,
) -> Result<T, CatalogError> {
    catalog_by(|context| Catalog::open(collection, context)).map(|mut catalog| act(&mut catalog))
}

/// Opens a catalog as its caller says.
pub(crate) fn catalog_by<T>(open: impl FnOnce(&RefreshContext<'_>) -> T) -> T {
    let (agent, interrupt) = (agent(), Interrupt::default());
    let clock = TestClock::at("2100-01-01T00:00:00Z");
    open(&RefreshContext { jobs: 1, caller: caller(&agent, &clock, &interrupt) })
}

pub(crate) fn catalog<T>(root: &Path, act: impl FnOnce(&mut Catalog<'_>) -> T) -> T {
    try_catalog(&open(root), act).unwrap()
}

/// Builds the index.
pub(crate) fn with_index(root: &Path) {
    let collection = open(root);
    catalog_by(|context| Catalog::rebuild(&collection, context).map(drop)).unwrap();
}

/// Waits for the next tick of the clock of the file system: what changes after this has another time
/// than what has changed before.
pub(crate) fn settle(root: &Path) {
    let probe = root.join(".urepo/probe");
    let tick = || {
        let _ = std::fs::remove_file(&probe);
        std::fs::write(&probe, "").unwrap();
        let probe = std::fs::metadata(&probe).unwrap();
        (probe.ctime(), probe.ctime_nsec())
    };
    let before = tick();
    while tick() == before {}
    // Times may be finer for a file that has just been looked at: a second step is beyond that.
    let before = tick();
    while tick() == before {}
    std::fs::remove_file(probe).unwrap();
}

/// Copies a file or a directory, with all that is in it.
pub(crate) fn copy_tree(from: &Path, to: &Path) {
    for entry in walkdir::WalkDir::new(from) {
        let entry = entry.unwrap();
        let path = to.join(entry.path().strip_prefix(from).unwrap());
        if entry.file_type().is_dir() {
            std::fs::create_dir_all(path).unwrap();
        } else {
            let path = if from == entry.path() { to.to_path_buf() } else { path };
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::copy(entry.path(), path).unwrap();
        }
    }
}

pub(crate) fn found(catalog: &mut Catalog<'_>, query: &Query) -> Vec<Hit> {
    let mut all = Vec::new();
    let searched = catalog.find(query, |found| {
        all.push(found);
        Ok(ControlFlow::Continue(()))
    });
    searched.unwrap();
    all
}

/// The names of what is found.
pub(crate) fn names(catalog: &mut Catalog<'_>, query: &Query) -> BTreeSet<String> {
    let found = found(catalog, query);
    let names: BTreeSet<_> = found.iter().map(|found| found.name.to_string()).collect();
    assert_eq!(names.len(), found.len(), "found twice: {found:?}");
    names
}

/// Every item, with its sidecar if that can be read.
pub(crate) type Items = BTreeMap<String, Option<Sidecar>>;

pub(crate) fn items(root: &Path) -> Items {
    let collection = open(root);
    let mut items = Items::new();
    let visited = collection.visit_names(&Names::default(), |name| {
        let sidecar = collection.item(&name).unwrap().sidecar().ok().map(|(sidecar, _)| sidecar);
        items.insert(name.to_string(), sidecar);
        Ok::<_, urepo::disk::PathError>(ControlFlow::Continue(()))
    });
    visited.unwrap();
    items
}

/// Compares all that the index in `root` has with the sidecars. Returns how many items it had to read, if it was there.
#[track_caller]
pub(crate) fn agrees(root: &Path, context: &str) -> Option<u64> {
    let items = items(root);
    catalog(root, |catalog| {
        assert_eq!(catalog.counts(None).unwrap(), counts(&items), "{context}");
        let read = catalog.report().read;
        for (query, expected) in queries(&items) {
            assert_eq!(names(catalog, &query), expected, "{query:?} {context}");
        }
        for found in found(catalog, &Query::default()) {
            let Some(sidecar) = &items[found.name.as_str()] else {
                assert_eq!(found.state, None, "{found:?} {context}");
                continue;
            };
            let told = (found.state, found.files, found.bytes, found.title.as_deref());
            let Sidecar { state, payload, metadata, .. } = sidecar;
            let known = (Some(*state), payload.files, payload.bytes, metadata.title());
            assert_eq!(told, known, "{found:?} {context}");
        }
        // Nothing was read only for an answer.
        assert_eq!(catalog.report().read, read, "{context}");
        (!catalog.report().built).then_some(read)
    })
}

/// Queries that find every item by all that it can be found by, with the names that each finds.
fn queries(items: &Items) -> Vec<(Query, BTreeSet<String>)> {
    let which = |fits: &dyn Fn(&Sidecar) -> bool| -> BTreeSet<String> {
        let fits = |sidecar: &Option<Sidecar>| sidecar.as_ref().is_some_and(fits);
        items.iter().filter(|(_, it)| fits(it)).map(|(name, _)| name.clone()).collect()
    };
    let mut queries = vec![(Query::default(), items.keys().cloned().collect())];
    for state in [State::Original, State::Copy, State::Deleted] {
        let query = Query::default().state(Some(state));
        queries.push((query, which(&|sidecar| sidecar.state == state)));
    }
    let (mut files, mut digests, mut words) = (BTreeSet::new(), BTreeSet::new(), BTreeSet::new());
    for sidecar in items.values().flatten() {
        for entry in &sidecar.files {
            files.insert(entry.path.to_text().into_owned());
            if let Content::File { digest, .. } = &entry.content {
                digests.insert(digest.to_string());
            }
        }
        words.extend(title_words(sidecar));
        if let Some(ibip) = &sidecar.ibip {
            let query = Query::default().identifier(&ibip.as_str().to_ascii_lowercase());
            queries.push((query, which(&|other| other.ibip.as_ref() == Some(ibip))));
        }
    }
    for file in files {
        let has = |sidecar: &Sidecar| {
            let paths = sidecar.files.iter().map(|entry| entry.path.to_text().to_lowercase());
            let (inner, whole) = (format!("/{}", file.to_lowercase()), file.to_lowercase());
            paths.into_iter().any(|path| path == whole || path.ends_with(&inner))
        };
        let expected = which(&has);
        // A path with directories is a whole one.
        if !file.contains('/') {
            queries.push((
                Query::default().file(&format!("[{}]{}", &file[..1], &file[1..])),
                expected.clone(),
            ));
        }
        queries.push((Query::default().file(&file), expected));
    }
    for digest in digests {
        let digest = digest.parse().unwrap();
        let has = |sidecar: &Sidecar| {
            sidecar.files.iter().any(|entry| match &entry.content {
                Content::File { digest: one, .. } => *one == digest,
                _ => false,
            })
        };
        queries.push((Query::default().digest(&digest), which(&has)));
    }
    for word in words {
        let query = Query::default().text(&format!("title:{word}")).unwrap();
        queries.push((query, which(&|sidecar| title_words(sidecar).contains(&word))));
    }
    queries
}

fn title_words(sidecar: &Sidecar) -> Vec<String> {
    let title = sidecar.metadata.title().unwrap_or_default().to_lowercase();
    title.split_whitespace().map(str::to_owned).collect()
}

/// What there is to count.
fn counts(items: &Items) -> Counts {
    let mut counts = Counts::default();
    let mut payloads = BTreeSet::new();
    for (name, sidecar) in items {
        let Some(sidecar) = sidecar else {
            counts.states.entry(None).or_default().items += 1;
            continue;
        };
        if [State::Deleted, State::Elsewhere].contains(&sidecar.state) {
            counts.states.entry(Some(sidecar.state)).or_default().items += 1;
            continue;
        }
        let lower = name.to_ascii_lowercase();
        let levels: Vec<_> = lower.split('/').collect();
        let prefix = format!("{}/{}", levels[0].trim_end_matches('.'), levels[1]);
        for count in [
            &mut counts.total,
            counts.states.entry(Some(sidecar.state)).or_default(),
            counts.prefixes.entry(prefix).or_default(),
            counts.years.entry(levels[2].parse().unwrap()).or_default(),
        ] {
            let Count { items, files, bytes } = count;
            *items += 1;
            *files += sidecar.payload.files;
            *bytes += sidecar.payload.bytes;
        }
        for entry in &sidecar.files {
            let path = entry.path.to_text().to_lowercase();
            let name = path.rsplit('/').next().unwrap();
            let ending = name.rsplit_once('.').map_or("", |(_, ending)| ending).to_owned();
            *counts.formats.entry(ending).or_default() += 1;
        }
        if sidecar.payload.files > 0 && !payloads.insert(sidecar.payload.digest.to_string()) {
            counts.repeated += 1;
        }
    }
    counts
}
