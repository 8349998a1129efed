//! The sources of `urepo new`, one request at a time.

use std::collections::VecDeque;
use std::ffi::OsStr;
use std::io::IsTerminal as _;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use urepo::deposit::{Preset, Request, Source, SourcePlace};
use urepo::disk::{Exclusion, NoPath, Paths, Stream, resolved};
use urepo::import::DefaultTitle;
use urepo::item::PayloadPath;
use urepo::progress::Scan;
use urepo::sidecar::{Conditions, Metadata, Relations};

use super::New;
use crate::cli::context::Context;
use crate::cli::exit::Exit;
use crate::cli::failure::Failure;
use crate::cli::input::{can_be_read_twice, is_stdin, name_of, unreadable};

/// Requests that are read one by one: a list of a million names is not kept in memory.
pub(super) struct Requests {
    given: VecDeque<PathBuf>,
    list: Option<List>,
    /// Standard input, if it becomes an item.
    stream: Option<Stream>,
    each: bool,
    stream_name: PayloadPath,
    /// Whether that name was given.
    stream_has_name: bool,
    target: Option<PayloadPath>,
    metadata: Metadata,
    default_title: DefaultTitle,
    pub(super) relations: Relations,
    conditions: Conditions,
    exclusion: Exclusion,
    failure: SharedFailure,
    /// Whether a path or a stream has been named.
    has_any: bool,
}

/// The error of reading the list, which is reported after the requests before it.
#[derive(Clone, Debug, Default)]
pub(super) struct SharedFailure(Arc<Mutex<Option<Failure>>>);

impl SharedFailure {
    pub(super) fn take(&self) -> Option<Failure> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).take()
    }

    fn set(&self, failure: Failure) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(failure);
    }
}

struct List {
    paths: Paths,
    name: String,
}

/// Refuses a source that lies in another one: it would be removed with that before its turn.
fn refuse_nested(paths: &[PathBuf], context: &Context) -> Result<(), Failure> {
    let mut sorted: Vec<_> = paths.iter().map(|path| (context.absolute(path), path)).collect();
    // The entries of a directory follow it.
    sorted.sort();
    let is_nested = |pair: &&[(PathBuf, &PathBuf)]| pair[1].0.starts_with(&pair[0].0);
    let Some([(_, outer), (_, inner)]) = sorted.windows(2).find(is_nested) else { return Ok(()) };
    let (outer, inner) = (outer.display(), inner.display());
    Err(Failure::usage(format!("`{inner}` is part of `{outer}`, with which it would be removed"))
        .hint("name each source once, or leave `--remove-source` out"))
}

impl Requests {
    pub(super) fn new(
        new: &New,
        described: (Metadata, Conditions),
        target: Option<PayloadPath>,
        context: &Context,
    ) -> Result<Requests, Failure> {
        if new.paths.is_empty() && new.files_from0.is_none() {
            return Err(
                Failure::usage("no path was given").hint("`urepo help new` says how it is used")
            );
        }
        let streams = new.paths.iter().chain(&new.files_from0).filter(|path| is_stdin(path));
        if streams.count() > 1 {
            return Err(Failure::usage("standard input can be read only once"));
        }
        if new.remove {
            refuse_nested(&new.paths, context)?;
        }
        let has_stream = new.paths.iter().any(|path| is_stdin(path));
        if has_stream && !new.each && (new.paths.len() > 1 || new.files_from0.is_some()) {
            return Err(Failure::usage("standard input makes an item of its own")
                .hint("add `--each`, or give `-` alone"));
        }
        let open = |path: &PathBuf| List::open(path, context);
        let list = new.files_from0.as_ref().map(open).transpose()?;
        let stream = has_stream.then(|| context.stdin()).transpose()?;
        Ok(Requests {
            given: new.paths.iter().cloned().collect(),
            list,
            stream,
            each: new.each,
            stream_name: super::payload_path(
                new.stream_name.as_deref().unwrap_or(OsStr::new("data")),
            )?,
            stream_has_name: new.stream_name.is_some(),
            target,
            metadata: described.0,
            relations: Relations::default(),
            default_title: new.description.default_title(),
            conditions: described.1,
            exclusion: new.exclude.of_item()?,
            failure: SharedFailure::default(),
            has_any: false,
        })
    }

    /// The place for a failure of reading the list.
    pub(super) fn failure(&self) -> SharedFailure {
        self.failure.clone()
    }

    /// Whether a person is typing a source: progress would be drawn into that.
    pub(super) fn are_typed(&self) -> bool {
        self.stream.is_some() && std::io::stdin().is_terminal()
    }

    /// Finds the totals of several items, whose names are read again; the totals of a single item are in its
    /// plan.
    pub(super) fn totals(
        &self,
        new: &New,
        context: &Context,
    ) -> Option<impl FnOnce(&Scan<'_>) -> Option<()> + Send + use<>> {
        let has_pipe =
            self.stream.is_some() || !new.files_from0.iter().all(|it| can_be_read_twice(it));
        if !self.each || has_pipe {
            return None;
        }
        let given = self.given.clone();
        let list = new.files_from0.as_ref().map(|path| List::open(path, context));
        let mut list = list.transpose().ok()?;
        let (links, exclusion) = (new.links, self.exclusion.clone());
        let watcher = context.watcher();
        Some(move |scan: &Scan<'_>| {
            let found = |path| {
                scan.found(SourcePlace::Path(path).measure(links, &exclusion, &watcher, scan)?)
            };
            given.into_iter().try_for_each(found)?;
            while let Some(list) = &mut list
                && let Some(path) = list.next().ok()?
            {
                found(path)?;
            }
            Some(())
        })
    }

    fn next_path(&mut self) -> Option<PathBuf> {
        if let Some(path) = self.given.pop_front() {
            return Some(path);
        }
        match self.list.as_mut()?.next() {
            Ok(path) => path,
            Err(failure) => {
                self.failure.set(failure);
                self.list = None;
                None
            }
        }
    }

    fn request(&self, source: Source) -> Request {
        let (target, mut metadata) = (self.target.clone(), self.metadata.clone());
        let name = match &source {
            Source::At(SourcePlace::Path(path)) => Some(path.as_path()),
            Source::Stream { name, .. } if self.stream_has_name => Some(name.as_path()),
            Source::Stream { .. } | Source::At(_) | Source::Together(_) => None,
        };
        if let (DefaultTitle::SourceName, Some(name)) = (self.default_title, name) {
            // `.` and `..` have no name of their own.
            let resolved = name.file_name().is_none().then(|| resolved(name).ok()).flatten();
            metadata.set_default_title(resolved.as_deref().unwrap_or(name));
        }
        let (relations, conditions) = (self.relations.clone(), self.conditions.clone());
        let exclusion = self.exclusion.clone();
        let given = Preset { relations, conditions, exclusion, ..Preset::default() };
        Request { source, target, metadata, given }
    }

    fn source(&mut self, path: PathBuf) -> Source {
        match self.stream.take_if(|_| is_stdin(&path)) {
            Some(stream) => {
                Source::Stream { name: self.stream_name.clone(), reader: Box::new(stream) }
            }
            None => Source::At(SourcePlace::Path(path)),
        }
    }
}

impl Iterator for Requests {
    type Item = Request;

    fn next(&mut self) -> Option<Request> {
        let Some(first) = self.next_path() else {
            // The caller waits for the name of a single item.
            if !self.each && !self.has_any {
                let message = "the list names nothing to deposit";
                self.failure.set(Failure::new(Exit::Failure, message));
            }
            return None;
        };
        self.has_any = true;
        if self.each {
            let source = self.source(first);
            return Some(self.request(source));
        }
        let mut paths = vec![first];
        while let Some(path) = self.next_path() {
            paths.push(path);
        }
        // A list that could not be read to its end would make an item with a part missing.
        if self.failure.0.lock().unwrap_or_else(PoisonError::into_inner).is_some() {
            return None;
        }
        let source = match paths.len() {
            1 => self.source(paths.remove(0)),
            _ => Source::Together(paths),
        };
        Some(self.request(source))
    }
}

impl List {
    fn open(path: &Path, context: &Context) -> Result<List, Failure> {
        Ok(List { paths: Paths::new(context.lines_of(path)?, b'\0'), name: name_of(path) })
    }

    fn next(&mut self) -> Result<Option<PathBuf>, Failure> {
        self.paths.read().map_err(|cause| match cause {
            NoPath::Unreadable(error) => {
                unreadable(&error, format!("cannot read the list {}", self.name))
            }
            NoPath::NotAList => {
                let message = format!("the list {} is not one of NUL-ended paths", self.name);
                Failure::new(Exit::Failure, message).hint("`find … -print0` writes such a list")
            }
        })
    }
}
