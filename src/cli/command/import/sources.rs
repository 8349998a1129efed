//! The sources of `urepo import`, one candidate at a time.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use urepo::disk::{Dir, Exclusion, Links, PathError, resolved};
use urepo::import::{
    Candidate, FoundCandidate, ImportError, Manifest, ManifestReader, Refused, RejectDirectory,
    RejectsFile, SourceList, SourceTree, Units, header,
};

use super::Import;
use crate::cli::context::Context;
use crate::cli::explain::NOT_MOUNTED;
use crate::cli::failure::Failure;
use crate::cli::input::{Document, is_stdin, name_of};

/// Candidates as they are found.
pub(super) type Candidates = Box<dyn Iterator<Item = FoundCandidate> + Send>;

/// The origin of candidates.
pub(super) struct Sources<'a> {
    context: &'a Context,
    trees: Vec<PathBuf>,
    units: Units,
    links: Links,
    /// The exclusions from directories of items, and from directories named as items.
    of_items: Exclusion,
    of_item: Exclusion,
    /// Whether standard input is a list of paths.
    has_list: bool,
    manifest: Option<ManifestTable>,
}

struct ManifestTable {
    path: PathBuf,
    document: Document,
    reading: ManifestReader,
}

impl<'a> Sources<'a> {
    pub(super) fn new(import: &Import, context: &'a Context) -> Result<Sources<'a>, Failure> {
        if import.sources.is_empty() {
            return Err(Failure::usage("no source was given")
                .hint("`urepo help import` says how it is used"));
        }
        let units = if import.each_file { Units::EachFile } else { Units::Entries };
        let (of_items, of_item) = import.exclude.of_items_and_item(context)?;
        let manifest = ManifestTable::new(import, context)?;
        let (lists, trees): (Vec<_>, Vec<_>) = match manifest {
            Some(_) => Default::default(),
            None => import.sources.iter().partition(|path| is_stdin(path)),
        };
        Ok(Sources {
            context,
            trees: trees.into_iter().map(|path| context.absolute(path)).collect(),
            units,
            links: import.links,
            of_items,
            of_item,
            has_list: !lists.is_empty(),
            manifest,
        })
    }

    /// Whether the candidates can be read again: a list in a pipe has one reader.
    pub(super) fn can_be_read_twice(&self) -> bool {
        !self.has_list
    }

    /// Opens the directory for rejected sources. What lies in it is not imported, so no source may lie in it.
    pub(super) fn reject_directory(&self, path: &Path) -> Result<RejectDirectory, Failure> {
        let opened = RejectDirectory::open(&self.context.absolute(path), &self.context.watcher());
        let directory = opened.map_err(unmounted)?;
        let root = self.manifest.as_ref().map(|it| it.reading.root.path().to_path_buf());
        for source in self.trees.iter().chain(&root) {
            // A missing one is reported when it is opened. `drop/*` also names the directory itself.
            let within = resolved(source).ok();
            let within = within.as_ref().and_then(|it| it.strip_prefix(directory.path()).ok());
            if within.is_some_and(|it| it != Path::new("") || self.trees.len() < 2) {
                let (source, rejected) = (source.display(), directory.path().display());
                let message =
                    format!("`{source}` lies in `{rejected}`, the directory of rejected sources");
                let hint = "choose a directory beside it, or below it";
                return Err(Failure::usage(message).hint(hint));
            }
        }
        Ok(directory)
    }

    /// All candidates.
    pub(super) fn candidates(&self) -> Result<Candidates, Failure> {
        if let Some(rows) = self.rows() {
            return rows;
        }
        let mut all: Candidates = Box::new(std::iter::empty());
        let is_single = self.trees.len() == 1 && !self.has_list;
        for path in &self.trees {
            let watcher = &self.context.watcher();
            match SourceTree::open(path, self.units, self.links, &self.of_items, watcher) {
                Ok(tree) => all = Box::new(all.chain(tree)),
                Err(error) if is_single => return Err(unmounted(error)),
                // The others are imported.
                Err(error) => {
                    let refused = Refused {
                        source: path.display().to_string(),
                        path: Some(path.clone()),
                        row: None,
                        error: ImportError::Disk(error),
                    };
                    all = Box::new(all.chain(std::iter::once(Err(Box::new(refused)))));
                }
            }
        }
        if self.has_list {
            let name = name_of(Path::new("-"));
            let list = SourceList::new(self.context.list()?, name, self.context.current.clone());
            all = Box::new(all.chain(self.named(list)));
        }
        Ok(all)
    }

    /// The rows of the manifest, if there is one.
    pub(super) fn rows(&self) -> Option<Result<Candidates, Failure>> {
        let ManifestTable { path, document, reading } = self.manifest.as_ref()?;
        let rows = document.lines().and_then(|reader| {
            let name = name_of(path);
            Ok(Manifest::new(reader, name, reading.clone())?)
        });
        Some(rows.map(|rows| Box::new(self.named(rows)) as Candidates))
    }

    /// Whether any row has an identifier.
    pub(super) fn give_names(&self) -> Result<bool, Failure> {
        let Some(rows) = self.rows() else { return Ok(false) };
        Ok(rows?.any(|found| found.is_ok_and(|candidate| candidate.label.is_some())))
    }

    /// Candidates in a list: each is taken, whatever its name.
    fn named<I: Iterator<Item = FoundCandidate> + Send>(
        &self,
        found: I,
    ) -> impl Iterator<Item = FoundCandidate> + Send + use<I> {
        let exclusion = self.of_item.clone();
        found.map(move |found| Ok(Candidate { exclusion: exclusion.clone(), ..found? }))
    }

    /// The new file at `path` for failed sources.
    pub(super) fn rejects_file(&self, path: Option<&Path>) -> Result<Option<RejectsFile>, Failure> {
        let Some(path) = path else { return Ok(None) };
        match RejectsFile::new(path, self.header()?, &self.context.watcher()) {
            Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => {
                Err(Failure::from(error).hint("name another file, or move that one away first"))
            }
            outcome => Ok(Some(outcome?)),
        }
    }

    /// The header of the manifest.
    fn header(&self) -> Result<Option<Vec<u8>>, Failure> {
        let Some(ManifestTable { path, document, reading }) = &self.manifest else {
            return Ok(None);
        };
        header(document.lines()?, &reading.table)
            .map_err(|error| urepo::disk::PathError::new("read", path, error).into())
    }
}

/// The failure of a named directory, which may be the mount point of a missing disk.
pub(super) fn unmounted(error: PathError) -> Failure {
    let is_missing = error.kind() == std::io::ErrorKind::NotFound;
    let failure = Failure::from(error);
    if is_missing { failure.hint(NOT_MOUNTED) } else { failure }
}

impl ManifestTable {
    /// The table among the sources, by its ending or by `--format`. A table has rows for all items of an import.
    fn new(import: &Import, context: &Context) -> Result<Option<ManifestTable>, Failure> {
        let args = &import.manifest;
        let is_table = |path: &&PathBuf| {
            let path = if is_stdin(path) { (*path).clone() } else { context.absolute(path) };
            !import.as_files && args.table.is_table(&path)
        };
        let path = match (import.sources.iter().find(is_table), &import.sources[..]) {
            (Some(path), [_]) => path,
            (Some(path), _) => {
                return Err(Failure::usage(format!("`{}` is a table", path.display()))
                    .hint("import it alone, or deposit tables themselves with `--as-files`"));
            }
            (None, _) if args.are_given() => {
                let message = "`--root`, `--update` and the options of tables belong to a table";
                return Err(Failure::usage(message).hint(
                    "name the table: `urepo import list.csv`, or another name and `--format`",
                ));
            }
            (None, _) => return Ok(None),
        };
        if import.each_file {
            return Err(Failure::usage("a row of a table is an item")
                .hint("`--as-files` deposits tables themselves"));
        }
        let table = args.table.options(path)?;
        let root = match &args.root {
            Some(root) => context.absolute(root),
            None if is_stdin(path) => context.current.clone(),
            None => context.absolute(path).parent().map(Path::to_path_buf).unwrap_or_default(),
        };
        let root = Arc::new(Dir::open(&resolved(&root)?, context.watcher())?);
        let reading = ManifestReader { table, root, links: import.links };
        let document = context.document(path)?;
        Ok(Some(ManifestTable { path: path.clone(), document, reading }))
    }
}

/// Limit on warnings about languages.
const MOST_LANGUAGES: usize = 100;

/// The same candidates; warns once of each language that the standard does not list.
pub(super) fn warning<I: Iterator<Item = FoundCandidate>>(
    context: &Context,
    found: I,
) -> impl Iterator<Item = FoundCandidate> + use<'_, I> {
    let mut warned = BTreeSet::new();
    found.inspect(move |found| {
        let language = found.as_ref().ok().and_then(|it| it.metadata.unlisted_language());
        if let Some(language) = language
            && warned.len() < MOST_LANGUAGES
            && warned.insert(language.to_owned())
        {
            context.warn_of_language(language);
        }
    })
}
