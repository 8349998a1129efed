//! The names of one prefix on disk, with which its memory is compared.

use std::path::PathBuf;

use super::list::is_year;
use crate::digest::Digest;
use crate::disk::{Dir, Kind, PathError};
use crate::distributor::Names;
use crate::identity::{Instant, Prefix, is_suffix_leaf, parse_suffix};

/// The directories of a prefix: one, or several where it was spelt in different cases.
pub(super) struct PrefixTree<'a> {
    root: &'a Dir,
    prefix: Prefix,
}

impl<'a> PrefixTree<'a> {
    pub(super) fn new(root: &'a Dir, prefix: Prefix) -> PrefixTree<'a> {
        PrefixTree { root, prefix }
    }

    /// Every directory whose two levels are the prefix, whatever their case.
    pub(super) fn directories(&self) -> Result<Vec<PathBuf>, PathError> {
        let (subdomain, word) = self.prefix.path_components();
        let mut found = Vec::new();
        for outer in matching(self.root, &subdomain)? {
            let Some(dir) = self.root.open_dir_if_there(&outer)? else { continue };
            for inner in matching(&dir, &word)? {
                found.push(PathBuf::from(&outer).join(inner));
            }
        }
        found.sort();
        Ok(found)
    }

    /// The years of a directory, newest first.
    fn years(&self, directory: &PathBuf) -> Result<Vec<String>, PathError> {
        let Some(dir) = self.root.open_dir_if_there(directory)? else { return Ok(Vec::new()) };
        let mut years = Vec::new();
        for entry in dir.entries()? {
            let entry = entry?;
            if let (Kind::Directory, Some(name)) = (entry.kind, entry.name.to_str())
                && is_year(name)
            {
                years.push(name.to_owned());
            }
        }
        years.sort_by(|a, b| (b.len(), b).cmp(&(a.len(), a)));
        Ok(years)
    }

    fn newest_of(&self, directory: &PathBuf) -> Result<Option<Instant>, PathError> {
        for year in self.years(directory)? {
            let Some(dir) = self.root.open_dir_if_there(directory.join(&year))? else { continue };
            // Text order is date order within a year: fields have fixed widths, and a fraction
            // follows its second. So only one name has to be taken apart.
            let mut newest: Option<String> = None;
            for entry in dir.entries()? {
                let entry = entry?;
                if let Some(leaf) = entry.name.to_str()
                    && newest.as_deref().is_none_or(|newest| leaf > newest)
                    && is_suffix_leaf(&year, leaf)
                {
                    newest = Some(leaf.to_owned());
                }
            }
            if let Some(leaf) = newest
                && let Ok(date) = parse_suffix(&format!("{year}/{leaf}"))
            {
                return Ok(Some(date));
            }
        }
        Ok(None)
    }
}

/// Names of directories in `dir` that are `name` in any case.
fn matching(dir: &Dir, name: &str) -> Result<Vec<String>, PathError> {
    let mut found = Vec::new();
    for entry in dir.entries()? {
        let entry = entry?;
        if let (Kind::Directory, Some(entry_name)) = (entry.kind, entry.name.to_str())
            && entry_name.trim_end_matches('.').eq_ignore_ascii_case(name)
        {
            found.push(entry_name.to_owned());
        }
    }
    Ok(found)
}

impl Names for PrefixTree<'_> {
    /// Which year directories there are, and when each newest one was last changed.
    fn state(&self) -> Result<String, PathError> {
        let mut text = String::new();
        for directory in self.directories()? {
            let years = self.years(&directory)?;
            let Some(newest) = years.first() else { continue };
            let Some(stamp) = self.root.stamp(directory.join(newest))? else { continue };
            let (device, inode) = stamp.identity;
            let changed = (stamp.modified.nanoseconds(), stamp.changed.nanoseconds());
            text += &format!("{} {years:?} {device}:{inode} {changed:?}\n", directory.display());
        }
        Ok(format!("{:.32}", Digest::of(text.as_bytes())))
    }

    fn newest(&self) -> Result<Option<Instant>, PathError> {
        let mut newest = None;
        for directory in self.directories()? {
            newest = newest.max(self.newest_of(&directory)?);
        }
        Ok(newest)
    }
}
