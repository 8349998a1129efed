//! The size of the sidecar that would list a plan's entries.

use std::path::Path;

use super::{Plan, Planned, PlannedKind};
use crate::deposit::DepositError;
use crate::sidecar::MAX_BYTES;

/// The size of a file's entry in a sidecar without its path: keys, digest, the longest time and size.
const FILE_ENTRY_BYTES: usize = 192;

/// The same for a link or a directory.
const LEAST_ENTRY_BYTES: usize = 112;

/// The size of a sidecar without its entries: descriptions are short, and the list of entries left out is
/// limited.
const HEAD_BYTES: u64 = 1024 * 1024;

impl Plan {
    /// Makes sure that a sidecar can list all entries, with times and modes as long as they may be.
    pub(super) fn check_sidecar(&self, source: &Path) -> Result<(), DepositError> {
        // This number fits however long the names are.
        let fits = self.entries.len() <= 2048 || {
            let bytes = |planned: &Planned| match &planned.kind {
                PlannedKind::File { .. } => FILE_ENTRY_BYTES + quoted(planned.path.as_bytes()),
                PlannedKind::Link { target } => {
                    LEAST_ENTRY_BYTES + quoted(planned.path.as_bytes()) + quoted(target)
                }
                PlannedKind::Directory { empty: true } => {
                    LEAST_ENTRY_BYTES + quoted(planned.path.as_bytes())
                }
                PlannedKind::Directory { empty: false } => 0,
            };
            let listed = self.entries.iter().map(bytes).sum::<usize>();
            listed as u64 <= MAX_BYTES - HEAD_BYTES
        };
        if fits { Ok(()) } else { Err(DepositError::TooManyFiles { path: source.to_path_buf() }) }
    }
}

/// The most bytes that a text takes in a sidecar, where control characters, quotes, backslashes and bytes that
/// are not UTF-8 are escaped.
fn quoted(bytes: &[u8]) -> usize {
    let is_text = std::str::from_utf8(bytes).is_ok();
    let of = |byte: &u8| match byte {
        b'"' | b'\\' => 6,
        b' '..=b'~' => 1,
        0x80.. if is_text => 1,
        _ => 6,
    };
    bytes.iter().map(of).sum()
}

#[cfg(test)]
mod tests {
    use super::super::{LeftOut, payload_path};
    use super::*;
    use crate::disk::ExclusionRule;

    fn plan_of(files: usize, name: &str) -> Plan {
        let planned = |number: usize| Planned {
            path: payload_path(Path::new(&format!("{name}{number}"))),
            kind: PlannedKind::File { bytes: 1 },
            root: 0,
            below: 0,
        };
        Plan { entries: (0..files).map(planned).collect(), ..Plan::default() }
    }

    #[test]
    fn what_no_sidecar_lists_is_refused() {
        let check = |files, name: &str| plan_of(files, name).check_sidecar(Path::new("in"));
        check(345_000, "a.txt").unwrap();
        check(300_000, &"ü".repeat(100)).unwrap();
        let rule = ExclusionRule::Link;
        let left_out = (0..100_000)
            .map(|number| payload_path(Path::new(&format!("{number}{}", "x".repeat(250)))));
        let left_out = left_out.map(|path| LeftOut { path, rule: rule.clone() }).collect();
        Plan { left_out, ..plan_of(345_000, "a.txt") }.check_sidecar(Path::new("in")).unwrap();
        for name in ["x".repeat(250), "\"".repeat(40)] {
            let refused = check(345_000, &name);
            assert!(matches!(refused, Err(DepositError::TooManyFiles { .. })), "{name}");
        }
    }
}
