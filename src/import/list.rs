//! Sources that are lists of paths.

use std::io::BufRead;
use std::path::PathBuf;

use super::ImportError;
use super::candidate::{Candidate, FoundCandidate, Refused};
use crate::deposit::SourcePlace;
use crate::disk::{NoPath, Paths};

/// A list that is being read.
pub struct SourceList {
    /// `None` at its end.
    paths: Option<Paths>,
    name: String,
    /// The directory that relative paths start at.
    base: PathBuf,
}

impl SourceList {
    /// The list from `reader`, called `name` in messages, in which the byte `end` ends each path.
    pub fn new(
        (reader, end): (Box<dyn BufRead + Send>, u8),
        name: String,
        base: PathBuf,
    ) -> SourceList {
        SourceList { paths: Some(Paths::new(reader, end)), name, base }
    }
}

impl Iterator for SourceList {
    type Item = FoundCandidate;

    fn next(&mut self) -> Option<FoundCandidate> {
        let failure = match self.paths.as_mut()?.read() {
            Ok(path) => {
                let found = Candidate::new(SourcePlace::Path(self.base.join(path?)));
                return Some(Ok(Candidate { is_named: true, ..found }));
            }
            Err(failure) => failure,
        };
        let name = self.name.clone();
        let error = match failure {
            NoPath::Unreadable(source) => ImportError::Read { name, source },
            NoPath::NotAList => ImportError::NotAList { name },
        };
        self.paths = None;
        let source = self.name.clone();
        Some(Err(Box::new(Refused { source, path: None, row: None, error })))
    }
}
