//! Manifests of a bag: digests of files.

use std::collections::BTreeMap;
use std::path::Path;

use super::{BagError, PAYLOAD, TagFiles};
use crate::digest::{Algorithm, Checker, Checksum};
use crate::disk::copy::BUFFER_BYTES;
use crate::disk::{Dir, Kind};
use crate::item::PayloadPath;
use crate::item::bagit::EscapeRules;

/// The list of files to fetch.
const FETCHES: &str = "fetch.txt";

/// Number of files of a payload up to which a manifest is read before it is compared with them. A manifest of a
/// hundred megabytes would fill the memory for a payload of no files at all.
const UNSEEN_FILES: usize = 100_000;

/// A manifest in the directory of a bag: its file name, and the algorithm of its digests.
struct BagList {
    file: String,
    algorithm: Algorithm,
}

/// The files of the payload with all their digests.
pub(super) fn payload(
    tags: &TagFiles<'_>,
) -> Result<BTreeMap<PayloadPath, Vec<Checksum>>, BagError> {
    let dir = tags.dir;
    let is_there = dir.stat(PAYLOAD)?.is_some_and(|stamp| stamp.kind == Kind::Directory);
    if !is_there {
        return Err(BagError::NoPayload);
    }
    let lists = lists(dir, "manifest-")?;
    if lists.is_empty() {
        return Err(BagError::NoManifest);
    }
    let mut files: BTreeMap<PayloadPath, Vec<Checksum>> = BTreeMap::new();
    let mut counts = Vec::new();
    for list in &lists {
        let file = &list.file;
        let mut listed = 0;
        list.visit(tags, |line, path, checksum| {
            let below = path.as_path().strip_prefix(PAYLOAD).ok();
            let Some(below) = below.and_then(|below| PayloadPath::new(below).ok()) else {
                return Err(BagError::Outside { file: file.clone(), line });
            };
            if files.len() >= UNSEEN_FILES && dir.stat(path.as_path())?.is_none() {
                return Err(BagError::NotThere { path: below });
            }
            listed += 1;
            let known = files.entry(below).or_default();
            // A line that is repeated without end must not fill the memory either.
            let is_alike = |it: &&Checksum| it.algorithm() == checksum.algorithm();
            if !known.contains(&checksum) && known.iter().filter(is_alike).count() < 2 {
                known.reserve_exact(1);
                known.push(checksum);
            }
            Ok(())
        })?;
        counts.push((file.clone(), listed));
    }
    // Before 1.0, each file had to be in only one of the manifests.
    if tags.version >= (1, 0)
        && let Some((file, listed)) = counts.into_iter().find(|(_, count)| *count < files.len())
    {
        return Err(BagError::Incomplete { file, listed, files: files.len() });
    }
    Ok(files)
}

/// Reads the tag files that have digests, and compares them.
pub(super) fn check_tags(tags: &TagFiles<'_>) -> Result<(), BagError> {
    let mut buffer = vec![0; BUFFER_BYTES];
    for list in lists(tags.dir, "tagmanifest-")? {
        list.visit(tags, |_, path, checksum| {
            let checksums = [checksum];
            let mut checker = Checker::new(&checksums);
            let mut file = tags.dir.open_file(path.as_path())?;
            if file.stat()?.kind != Kind::File {
                return Err(BagError::NotAFile { file: path.to_string() });
            }
            loop {
                match file.read_some(&mut buffer)? {
                    0 => break,
                    length => checker.update(&buffer[..length]),
                }
            }
            checker.mismatch().map_or(Ok(()), |algorithm| {
                Err(BagError::Tag { file: path.to_string(), algorithm })
            })
        })?;
    }
    Ok(())
}

/// Makes sure that `fetch.txt`, if present, names only existing files of the payload: nothing is fetched.
pub(super) fn check_fetches(tags: &TagFiles<'_>) -> Result<(), BagError> {
    if tags.dir.stat(FETCHES)?.is_none() {
        return Ok(());
    }
    for (at, line) in tags.text_of(FETCHES)?.lines().enumerate() {
        if line.trim().is_empty() {
            continue;
        }
        let (file, line_number) = (FETCHES.to_owned(), at + 1);
        let blanks = [' ', '\t'];
        let mut rest = line;
        // The address and the length, and then the path, which may have blanks.
        for _ in 0..2 {
            let split = rest.split_once(blanks);
            let Some((_, after)) = split else {
                return Err(BagError::Line { file, line: line_number });
            };
            rest = after.trim_start_matches(blanks);
        }
        let path = meant(tags, rest, (&file, line_number))?;
        if !path.as_path().starts_with(PAYLOAD) {
            return Err(BagError::Outside { file, line: line_number });
        }
        if tags.dir.stat(path.as_path())?.is_none() {
            return Err(BagError::NotFetched { file: path.to_string() });
        }
    }
    Ok(())
}

/// The manifests whose names begin with `prefix`, by name.
fn lists(dir: &Dir, prefix: &str) -> Result<Vec<BagList>, BagError> {
    let mut lists = Vec::new();
    for entry in dir.entries()? {
        let entry = entry?;
        let Some(name) = entry.name.to_str() else { continue };
        let algorithm = name.strip_prefix(prefix).and_then(|rest| rest.strip_suffix(".txt"));
        // A manifest of an unknown algorithm is skipped if another one can be checked.
        let Some(algorithm) = algorithm.and_then(Algorithm::named) else { continue };
        // Skipping it would leave files unchecked.
        if entry.kind != Kind::File {
            return Err(BagError::NotAFile { file: name.to_owned() });
        }
        lists.push(BagList { file: name.to_owned(), algorithm });
    }
    lists.sort_by(|a, b| a.file.cmp(&b.file));
    Ok(lists)
}

impl BagList {
    /// Calls `visit` for each line, with its number from 1, its path in the bag and its digest.
    fn visit(
        &self,
        tags: &TagFiles<'_>,
        mut visit: impl FnMut(usize, PayloadPath, Checksum) -> Result<(), BagError>,
    ) -> Result<(), BagError> {
        let BagList { file, algorithm } = self;
        let text = tags.text_of(file)?;
        for (at, line) in text.lines().enumerate() {
            if line.trim().is_empty() {
                continue;
            }
            let wrong = || BagError::Line { file: file.clone(), line: at + 1 };
            let (digest, path) = line.split_once([' ', '\t']).ok_or_else(wrong)?;
            let checksum = Checksum::new(*algorithm, digest).ok_or_else(wrong)?;
            // The separator is two blanks, or a blank and a star, as written by `md5sum`.
            let path = path.trim_start_matches([' ', '\t']);
            let path = path.strip_prefix('*').unwrap_or(path);
            let path = path.strip_prefix("./").unwrap_or(path);
            let path = meant(tags, path, (file, at + 1))?;
            visit(at + 1, path, checksum)?;
        }
        Ok(())
    }
}

/// The path in `text`, which is on this line of a tag file. The names are those of the disk.
///
/// Some programs escape too little: if the unescaped name does not exist, `text` is the name.
fn meant(
    tags: &TagFiles<'_>,
    text: &str,
    (file, line): (&str, usize),
) -> Result<PayloadPath, BagError> {
    let is_there = |path: &PayloadPath| Ok::<_, BagError>(tags.dir.stat(path.as_path())?.is_some());
    let path_of = |text: &str| {
        PayloadPath::new(Path::new(text))
            .map_err(|_| BagError::Outside { file: file.to_owned(), line })
    };
    // A file name may contain `\` here, unlike on Windows.
    if text.contains('\\') && !path_of(text).is_ok_and(|path| is_there(&path).unwrap_or(true)) {
        return Err(BagError::Separator { file: file.to_owned(), line });
    }
    let rules = if tags.version >= (1, 0) { EscapeRules::Rfc } else { EscapeRules::Draft };
    let (mut meant, bare) = (path_of(&rules.unescape(text))?, path_of(text)?);
    if meant != bare && !is_there(&meant)? && is_there(&bare)? {
        meant = bare;
    }
    let found = tags.forms.borrow_mut().find(tags.dir, meant.as_path())?;
    let found = found.ok_or_else(|| BagError::Ambiguous { path: meant.clone() })?;
    Ok(PayloadPath::new(&found).unwrap_or(meant))
}
