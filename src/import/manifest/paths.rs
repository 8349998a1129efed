//! Turning a row of a manifest into a candidate: finding its path beneath a directory.

use std::path::{Component, Path, PathBuf};

use super::seen::SeenKeys;
use super::{ManifestReader, RowError, RowFault, TableRow};
use crate::import::ImportError;
use crate::import::candidate::{Candidate, RowText};
use crate::import::forms::Forms;
use crate::import::tree::place;
use crate::item::PayloadPath;

/// The candidate of a row.
pub(super) fn candidate(
    row: TableRow,
    reading: &ManifestReader,
    seen: &mut SeenKeys,
    forms: &mut Forms,
) -> Result<Candidate, (RowText, ImportError)> {
    let TableRow { text, row, fields } = row;
    let line = text.line;
    let error = |column, fault| RowError { line, row, column, fault }.into();
    let Some((path, column)) = fields.path else {
        return Err((text, error(None, RowFault::NoPath)));
    };
    let found = match found(&path, reading, forms) {
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
        match self::found(&path, reading, forms) {
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
/// another Unicode form counts.
fn found(path: &str, reading: &ManifestReader, forms: &mut Forms) -> Result<PathBuf, PathFault> {
    let relative = beneath(path, reading).map_err(PathFault::Row)?;
    let found = forms.find(&reading.root, &relative);
    let found = found.map_err(|error| PathFault::Disk(error.into()))?;
    found.ok_or_else(|| PathFault::Row(RowFault::Ambiguous(path.to_owned())))
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
