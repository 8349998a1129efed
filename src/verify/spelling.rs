//! Names that are in a collection twice, in two spellings.

use std::collections::HashMap;
use std::path::Path;

use super::stray::kind_at;
use crate::disk::{Dir, Kind, PathError};
use crate::identity::RepositoryName;

/// Knows in which spellings prefixes are on disk: those of one subdomain at a time.
///
/// Only prefixes are spelt in different ways. Where each has one directory, as nearly everywhere, a
/// name costs no look at the disk.
pub(super) struct Spellings<'a> {
    root: &'a Dir,
    /// The directories in the root, by their folded names; read once.
    subdomains: Option<HashMap<String, Vec<String>>>,
    /// The folded subdomain that `doubles` is about.
    subdomain: String,
    /// The directories of prefixes that have several, by the folded word.
    doubles: HashMap<String, Vec<String>>,
}

impl<'a> Spellings<'a> {
    pub(super) fn new(root: &'a Dir) -> Spellings<'a> {
        Spellings { root, subdomains: None, subdomain: String::new(), doubles: HashMap::new() }
    }

    /// The spellings in which `name` is on disk, where its prefix has several.
    pub(super) fn of(&mut self, name: &RepositoryName) -> Result<Vec<String>, PathError> {
        let [subdomain, word, ..] = name.components();
        let subdomain = folded(subdomain);
        if self.subdomain != subdomain {
            self.doubles = self.doubles_of(&subdomain)?;
            self.subdomain = subdomain;
        }
        let mut spellings = Vec::new();
        if self.doubles.is_empty() {
            return Ok(spellings);
        }
        for directory in self.doubles.get(&folded(word)).into_iter().flatten() {
            let spelling = format!("{directory}/{}", name.suffix());
            if kind_at(self.root, Path::new(&spelling))?.is_some() {
                spellings.push(spelling);
            }
        }
        Ok(spellings)
    }

    fn doubles_of(&mut self, subdomain: &str) -> Result<HashMap<String, Vec<String>>, PathError> {
        let subdomains = match self.subdomains.take() {
            Some(subdomains) => subdomains,
            None => by_folded_name(self.root, "")?,
        };
        let mut words: HashMap<String, Vec<String>> = HashMap::new();
        for outer in subdomains.get(subdomain).into_iter().flatten() {
            let Some(dir) = self.root.open_dir_if_there(outer)? else { continue };
            for (word, directories) in by_folded_name(&dir, &format!("{outer}/"))? {
                words.entry(word).or_default().extend(directories);
            }
        }
        self.subdomains = Some(subdomains);
        words.retain(|_, directories| directories.len() > 1);
        for directories in words.values_mut() {
            directories.sort();
        }
        Ok(words)
    }
}

/// The directories in `dir`, with `prefix` before their names, by their folded names.
fn by_folded_name(dir: &Dir, prefix: &str) -> Result<HashMap<String, Vec<String>>, PathError> {
    let mut found: HashMap<String, Vec<String>> = HashMap::new();
    for entry in dir.entries()? {
        let entry = entry?;
        if let (Kind::Directory, Some(name)) = (entry.kind, entry.name.to_str()) {
            found.entry(folded(name)).or_default().push(format!("{prefix}{name}"));
        }
    }
    Ok(found)
}

fn folded(name: &str) -> String {
    name.trim_end_matches('.').to_ascii_lowercase()
}
