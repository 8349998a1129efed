//! Printing a sidecar.

use std::fmt::Write as _;

use super::print::{table, text_pair};
use super::{FORMAT, Sidecar, custody, datetime};
use crate::digest::{Digest, Hasher};
use crate::identity::Instant;
use crate::item::{Content, Entry};
use crate::item::{PayloadPath, Totals};

/// Approximate size of the pieces of text: an item may have many files.
const PIECE_BYTES: usize = 64 * 1024;

/// Approximate size of a sidecar with one file.
const USUAL_BYTES: usize = 1024;

impl Sidecar {
    /// Prints the sidecar, sealed, piece by piece into `sink`.
    pub fn write<E>(&self, sink: impl FnMut(&[u8]) -> Result<(), E>) -> Result<(), E> {
        self.write_with(&self.files, sink)
    }

    /// Prints the sidecar with `files` in place of its own, so that a long list need not be moved into it.
    pub fn write_with<E>(
        &self,
        files: &[Entry],
        sink: impl FnMut(&[u8]) -> Result<(), E>,
    ) -> Result<(), E> {
        let mut out = Sealing { text: self.head(), hasher: Hasher::default(), sink };
        write_totals(&mut out.text, &self.payload);
        for entry in files {
            write_entry(&mut out.text, entry);
            out.hand_on_if_large()?;
        }
        out.finish()
    }

    /// The whole text, sealed.
    pub fn to_text(&self) -> String {
        let mut text = Vec::new();
        let written = self.write(|piece| {
            text.extend_from_slice(piece);
            Ok::<(), std::convert::Infallible>(())
        });
        match written {
            Ok(()) => String::from_utf8_lossy(&text).into_owned(),
        }
    }

    /// The digest of everything that the holdings of one item share beside their payload: description and its
    /// date, relations, target, IBIp, whether the Original may migrate, and who may read it.
    pub fn description_digest(&self) -> Digest {
        let mut text = String::new();
        table(&mut text, "metadata", self.metadata.table());
        table(&mut text, "relations", self.relations.table());
        let ibip = self.ibip.as_ref().map(ToString::to_string);
        text_pair(&mut text, "ibip", &ibip.unwrap_or_default());
        let target = self.target.as_ref().map(PayloadPath::to_text);
        text_pair(&mut text, "target", &target.unwrap_or_default());
        let _ = writeln!(text, "transferable = {}", self.transferable);
        // Without this part, digests agree with those of earlier versions.
        if let Some(described) = self.described {
            date_pair(&mut text, "described", described);
        }
        table(&mut text, "access", &self.access.table());
        Digest::of(text.as_bytes())
    }

    /// Everything before the payload.
    pub(super) fn head(&self) -> String {
        let mut text = String::with_capacity(USUAL_BYTES);
        self.write_head(&mut text);
        table(&mut text, "access", &self.access.table());
        custody::write(&mut text, &self.custody);
        table(&mut text, "metadata", self.metadata.table());
        table(&mut text, "relations", self.relations.table());
        table(&mut text, "origin", &self.origin);
        self.write_care(&mut text);
        text
    }

    fn write_head(&self, text: &mut String) {
        let _ = writeln!(text, "format = {FORMAT}");
        text_pair(text, "state", &self.state.to_string());
        text_pair(text, "repository", &self.repository.to_string());
        if let Some(ibip) = &self.ibip {
            text_pair(text, "ibip", &ibip.to_string());
        }
        date_pair(text, "created", self.created);
        date_pair(text, "timestamp", self.timestamp);
        if let Some(described) = self.described {
            date_pair(text, "described", described);
        }
        if let Some(target) = &self.target {
            path_pair(text, "target", target);
        }
        let _ = writeln!(text, "transferable = {}", self.transferable);
    }

    fn write_care(&self, text: &mut String) {
        if let Some(removal) = &self.removal {
            text.push_str("\n[removal]\n");
            text_pair(text, "by", &removal.by);
            if let Some(reason) = &removal.reason {
                text_pair(text, "reason", reason);
            }
            text_pair(text, "was", &removal.was.to_string());
            if let Some(updated) = removal.updated {
                date_pair(text, "updated", updated);
            }
        }
    }
}

fn write_totals(text: &mut String, totals: &Totals) {
    let Totals { files, bytes, digest } = totals;
    let _ = writeln!(text, "\n[payload]\nfiles = {files}\nbytes = {bytes}\nsha256 = \"{digest}\"");
}

fn write_entry(text: &mut String, entry: &Entry) {
    text.push_str("\n[[file]]\n");
    path_pair(text, "path", &entry.path);
    match &entry.content {
        Content::File { bytes, digest, modified, mode } => {
            let _ = writeln!(text, "bytes = {bytes}\nsha256 = \"{digest}\"");
            date_pair(text, "modified", *modified);
            let _ = writeln!(text, "mode = \"{mode:04o}\"");
        }
        Content::Link { target } => {
            text.push_str("kind = \"link\"\n");
            text_pair(text, "target", &crate::item::escape(target));
        }
        Content::EmptyDirectory { modified, mode } => {
            text.push_str("kind = \"directory\"\n");
            date_pair(text, "modified", *modified);
            let _ = writeln!(text, "mode = \"{mode:04o}\"");
        }
    }
}

fn path_pair(text: &mut String, key: &str, path: &PayloadPath) {
    text_pair(text, key, &path.to_text());
}

fn date_pair(text: &mut String, key: &str, instant: Instant) {
    let _ = writeln!(text, "{key} = {}", datetime::to_value(instant));
}

struct Sealing<S> {
    text: String,
    hasher: Hasher,
    sink: S,
}

impl<S, E> Sealing<S>
where
    S: FnMut(&[u8]) -> Result<(), E>,
{
    fn hand_on_if_large(&mut self) -> Result<(), E> {
        if self.text.len() >= PIECE_BYTES {
            self.hasher.update(self.text.as_bytes());
            (self.sink)(self.text.as_bytes())?;
            self.text.clear();
        }
        Ok(())
    }

    fn finish(mut self) -> Result<(), E> {
        self.text.push('\n');
        self.hasher.update(self.text.as_bytes());
        let seal = self.hasher.finish();
        let _ = writeln!(self.text, "{}sha256 = \"{seal}\"", super::read::SEAL_LINE);
        (self.sink)(self.text.as_bytes())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sidecar::AccessLevel;

    #[test]
    fn access_is_part_of_the_description() {
        let text = "format = 1\nstate = \"Original\"\n\
            repository = \"example.org/a/2026/11.21.02.13\"\n\
            created = 2026-11-21T02:13:00Z\ntimestamp = 2026-11-21T02:13:05Z\n\n\
            [custody]\nepoch = 1\nid = \"00000000000000aa\"\nholder = \"60cb\"\n\n\
            [payload]\nfiles = 0\nbytes = 0\n\
            sha256 = \"e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855\"\n";
        let (open, _) = Sidecar::read(text.as_bytes()).unwrap();
        let mut closed = open.clone();
        closed.access.level = AccessLevel::Closed;
        assert_ne!(open.description_digest(), closed.description_digest());
    }
}
