//! The sources of `urepo new`, one request at a time.

use std::collections::VecDeque;
use std::ffi::OsStr;
use std::io::IsTerminal as _;
use std::path::PathBuf;

use urepo::deposit::{Preset, Request, Source, SourcePlace};
use urepo::disk::{Exclusion, Stream, resolved};
use urepo::import::DefaultTitle;
use urepo::item::PayloadPath;
use urepo::progress::Scan;
use urepo::sidecar::{Conditions, Metadata, Relations};

use super::New;
use crate::cli::context::Context;
use crate::cli::failure::Failure;
use crate::cli::input::is_stdin;

/// The requests, one by one.
pub(super) struct Requests {
    given: VecDeque<PathBuf>,
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
        described: (Metadata, DefaultTitle, Conditions),
        target: Option<PayloadPath>,
        context: &Context,
    ) -> Result<Requests, Failure> {
        if new.paths.is_empty() {
            return Err(
                Failure::usage("no path was given").hint("`urepo help new` says how it is used")
            );
        }
        if new.paths.iter().filter(|path| is_stdin(path)).count() > 1 {
            return Err(Failure::usage("standard input can be read only once"));
        }
        if new.remove {
            refuse_nested(&new.paths, context)?;
        }
        let has_stream = new.paths.iter().any(|path| is_stdin(path));
        if has_stream && !new.each && new.paths.len() > 1 {
            return Err(Failure::usage("standard input makes an item of its own")
                .hint("add `--each`, or give `-` alone"));
        }
        let stream = has_stream.then(|| context.stdin()).transpose()?;
        Ok(Requests {
            given: new.paths.iter().cloned().collect(),
            stream,
            each: new.each,
            stream_name: super::payload_path(
                new.stream_name.as_deref().unwrap_or(OsStr::new("data")),
            )?,
            stream_has_name: new.stream_name.is_some(),
            target,
            metadata: described.0,
            relations: Relations::default(),
            default_title: described.1,
            conditions: described.2,
            exclusion: new.exclude.of_item()?,
        })
    }

    /// Whether a person is typing a source: progress would be drawn into that.
    pub(super) fn are_typed(&self) -> bool {
        self.stream.is_some() && std::io::stdin().is_terminal()
    }

    /// Finds the totals of several items; the totals of a single item are in its plan.
    pub(super) fn totals(
        &self,
        new: &New,
        context: &Context,
    ) -> Option<impl FnOnce(&Scan<'_>) -> Option<()> + Send + use<>> {
        if !self.each || self.stream.is_some() {
            return None;
        }
        let given = self.given.clone();
        let (links, exclusion) = (new.links, self.exclusion.clone());
        let watcher = context.watcher();
        Some(move |scan: &Scan<'_>| {
            let found = |path| {
                scan.found(SourcePlace::Path(path).measure(links, &exclusion, &watcher, scan)?)
            };
            given.into_iter().try_for_each(found)
        })
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
        let first = self.given.pop_front()?;
        let source = if self.each || self.given.is_empty() {
            self.source(first)
        } else {
            Source::Together([first].into_iter().chain(self.given.drain(..)).collect())
        };
        Some(self.request(source))
    }
}
