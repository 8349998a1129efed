//! Checksums that came with a source: `[origin.digests.sha512]` and so on, one line for each file.
//!
//! They were compared with the bytes at the import. An exported bag contains them again.

use toml::{Table, Value};

use crate::digest::{Algorithm, Checksum};
use crate::item::PayloadPath;

/// The key in `[origin]`.
pub(crate) const DIGESTS: &str = "digests";

/// The beginning of the line that opens the table of an algorithm.
pub(super) const HEADER: &str = "[origin.digests.";

/// The table of the checksums of `files`, without SHA-256, which every file has anyway.
pub(crate) fn table_of<'a>(
    files: impl Iterator<Item = (&'a PayloadPath, &'a Vec<Checksum>)>,
) -> Table {
    let mut digests = Table::new();
    for (path, checksums) in files {
        for checksum in checksums {
            let algorithm = checksum.algorithm();
            if algorithm == Algorithm::Sha256 {
                continue;
            }
            let table = digests.entry(algorithm.key()).or_insert_with(|| Table::new().into());
            if let Value::Table(table) = table {
                table.insert(path.to_text().into_owned(), checksum.to_string().into());
            }
        }
    }
    digests
}

/// A checksum that came with one file.
pub(crate) fn of_file(
    origin: &Table,
    path: &PayloadPath,
    algorithm: Algorithm,
) -> Option<Checksum> {
    let of_files = origin.get(DIGESTS)?.get(algorithm.key())?;
    Checksum::new(algorithm, of_files.get(path.to_text().as_ref())?.as_str()?)
}

/// The checksums that came with all of `files`, by algorithm; an algorithm that only some files have is left
/// out.
pub(crate) fn of_all<'a>(
    origin: &Table,
    files: &(impl Iterator<Item = &'a PayloadPath> + Clone),
) -> Vec<(Algorithm, Vec<Checksum>)> {
    let Some(Value::Table(digests)) = origin.get(DIGESTS) else { return Vec::new() };
    let brought = digests.iter().filter_map(|(key, table)| {
        let (algorithm, table) = (Algorithm::named(key)?, table.as_table()?);
        let checksum = |path: &PayloadPath| {
            Checksum::new(algorithm, table.get(path.to_text().as_ref())?.as_str()?)
        };
        Some((algorithm, files.clone().map(checksum).collect::<Option<Vec<_>>>()?))
    });
    brought.filter(|(algorithm, all)| *algorithm != Algorithm::Sha256 && !all.is_empty()).collect()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    #[test]
    fn what_all_files_have_comes_back() {
        let path = |text: &str| PayloadPath::from_text(text).unwrap();
        let checksum =
            |algorithm, digit: &str, count| Checksum::new(algorithm, &digit.repeat(count)).unwrap();
        let files = BTreeMap::from([
            (
                path("a \"b\"\n[c]"),
                vec![
                    checksum(Algorithm::Md5, "a", 32),
                    checksum(Algorithm::Sha1, "b", 40),
                    checksum(Algorithm::Sha256, "c", 64),
                ],
            ),
            (path("d/é"), vec![checksum(Algorithm::Md5, "d", 32)]),
        ]);
        let origin = Table::from_iter([(DIGESTS.to_owned(), Value::Table(table_of(files.iter())))]);
        let origin: Table = toml::to_string(&origin).unwrap().parse().unwrap();
        let expected = vec![checksum(Algorithm::Md5, "a", 32), checksum(Algorithm::Md5, "d", 32)];
        assert_eq!(of_all(&origin, &files.keys()), [(Algorithm::Md5, expected)]);
        assert_eq!(of_all(&origin, &files.keys().take(1)).len(), 2);
        assert_eq!(of_all(&origin, &files.keys().take(0)), []);
        assert_eq!(of_all(&Table::new(), &files.keys()), []);
    }
}
