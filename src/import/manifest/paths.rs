//! Turning a row of a manifest into a candidate: finding its path beneath a directory.

use std::path::{Component, Path, PathBuf};

use unicode_normalization::UnicodeNormalization;

use super::seen::SeenKeys;
use super::{ManifestReader, RowError, RowFault, TableRow};
use crate::disk::PathError;
use crate::import::ImportError;
use crate::import::candidate::{Candidate, RowText};
use crate::import::tree::place;
use crate::item::PayloadPath;

/// The candidate of a row.
pub(super) fn candidate(
    row: TableRow,
    reading: &ManifestReader,
    seen: &mut SeenKeys,
) -> Result<Candidate, (RowText, ImportError)> {
    let TableRow { text, row, fields } = row;
    let line = text.line;
    let error = |column, fault| RowError { line, row, column, fault }.into();
    let Some((path, column)) = fields.path else {
        return Err((text, error(None, RowFault::NoPath)));
    };
    let found = match found(&path, reading) {
        Ok(found) => found,
        Err(PathFault::Row(fault)) => return Err((text, error(Some(column), fault))),
        Err(PathFault::Disk(error)) => return Err((text, error)),
    };
    let mut names = vec![("path", found.to_string_lossy().into_owned())];
    if let Some(label) = &fields.label {
        names.push(("name", label.name.folded()));
        names.extend(label.ibip.as_ref().map(|it| ("IBIp", it.as_str().to_ascii_uppercase())));
    }
    for (kind, what) in names {
        if let Err(fault) = seen.note(kind, &what, line) {
            return Err((text, error(None, fault)));
        }
    }
    let mut references = Vec::new();
    for (kind, path, column) in fields.references {
        match self::found(&path, reading) {
            Ok(path) => references.push((kind, reading.root.path_of(path))),
            Err(PathFault::Row(fault)) => return Err((text, error(Some(column), fault))),
            Err(PathFault::Disk(error)) => return Err((text, error)),
        }
    }
    let place = place(&reading.root, found, reading.links);
    Ok(Candidate {
        is_named: true,
        row: Some(text),
        metadata: fields.metadata,
        label: fields.label,
        sha256: fields.sha256,
        conditions: fields.conditions,
        condition_keys: fields.said.conditions,
        relations: fields.relations,
        references,
        ..Candidate::new(place)
    })
}

enum PathFault {
    Row(RowFault),
    Disk(ImportError),
}

/// The place of `path` below the root. If the name does not exist, a single file with the same name in
/// another Unicode form counts: macOS writes `a` and a tilde instead of `ã`.
fn found(path: &str, reading: &ManifestReader) -> Result<PathBuf, PathFault> {
    let relative = beneath(path, reading).map_err(PathFault::Row)?;
    let exists = |path: &Path| match reading.root.stat(path) {
        Ok(stamp) => stamp.is_some(),
        // Reading it reports the error.
        Err(error) => error.kind() != std::io::ErrorKind::NotFound,
    };
    if path.is_ascii() || exists(&relative) {
        return Ok(relative);
    }
    let mut actual = PathBuf::new();
    for name in &relative {
        let exact = actual.join(name);
        if exists(&exact) {
            actual = exact;
            continue;
        }
        let directory = if actual.as_os_str().is_empty() { Path::new(".") } else { &actual };
        let Some(wanted) = name.to_str() else { return Ok(relative) };
        let mut others = Vec::new();
        let refused = |error: PathError| PathFault::Disk(error.into());
        let dir = reading.root.open_dir(directory).map_err(refused)?;
        for entry in dir.entries().map_err(refused)? {
            let name = entry.map_err(refused)?.name;
            if name.to_str().is_some_and(|name| name.nfc().eq(wanted.nfc())) {
                others.push(name);
            }
        }
        match others.as_slice() {
            [other] => actual.push(other),
            // The name does not exist; the candidate reports that.
            [] => return Ok(relative),
            _ => return Err(PathFault::Row(RowFault::Ambiguous(path.to_owned()))),
        }
    }
    Ok(actual)
}

/// The place of `path` below the root, by its text, which contains no `..`.
fn beneath(path: &str, reading: &ManifestReader) -> Result<PathBuf, RowFault> {
    let text = || path.to_owned();
    if path.contains('\0') {
        return Err(RowFault::NulInPath(text()));
    }
    let outside = || RowFault::Outside(text());
    let mut relative = Path::new(path);
    if relative.is_absolute() {
        relative = relative.strip_prefix(reading.root.path()).map_err(|_| outside())?;
    }
    let names = relative.components().filter(|it| *it != Component::CurDir);
    let path = PayloadPath::new(&names.collect::<PathBuf>());
    let path =
        path.map_err(|_| if stays(relative) { RowFault::Dots(text()) } else { outside() })?;
    Ok(path.as_path().to_path_buf())
}

/// Whether a path with `..` stays below its beginning.
fn stays(path: &Path) -> bool {
    let mut depth = 0_i32;
    for component in path.components() {
        depth += match component {
            Component::ParentDir => -1,
            Component::Normal(_) => 1,
            _ => 0,
        };
        if depth < 0 {
            return false;
        }
    }
    depth > 0
}
