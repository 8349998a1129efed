//! Items that share an IBIp, found with eight bytes of memory for each item.

use std::collections::BTreeMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::ops::ControlFlow;
use std::path::PathBuf;

use super::Code;
use super::finding::{Finding, Place};
use crate::collection::{Collection, Names};
use crate::disk::PathError;
use crate::identity::{Ibip, RepositoryName};

/// Limit on the items that are reported.
const REPORTED: usize = 1000;

/// The hash of each `IBIp`.
#[derive(Debug, Default)]
pub(super) struct Ibips(Vec<u64>);

impl Ibips {
    /// Notes that an item has this `IBIp`.
    pub(super) fn note(&mut self, ibip: &Ibip) {
        self.0.push(hash(ibip));
    }

    /// Finds the items of `names` that share an `IBIp`. Items are opened only if two hashes agree.
    pub(super) fn findings(mut self, collection: &Collection, names: &Names) -> Vec<Finding> {
        self.0.sort_unstable();
        let twice = self.0.chunk_by(|a, b| a == b).filter(|same| same.len() > 1);
        let twice: Vec<u64> = twice.map(|same| same[0]).collect();
        if twice.is_empty() {
            return Vec::new();
        }
        let mut holders: BTreeMap<Ibip, Vec<RepositoryName>> = BTreeMap::new();
        let mut count = 0;
        // An item that cannot be read has a finding already.
        let _ = collection.visit_names(names, |name| {
            let sidecar = collection.item(&name).and_then(|item| item.sidecar());
            if let Ok((sidecar, _)) = sidecar
                && let Some(ibip) = sidecar.ibip
                && twice.binary_search(&hash(&ibip)).is_ok()
            {
                let names = holders.entry(ibip).or_default();
                // Two spellings of one name are another finding.
                if !names.contains(&name) {
                    names.push(name);
                    count += 1;
                }
            }
            let is_enough = count >= REPORTED;
            Ok::<_, PathError>(if is_enough {
                ControlFlow::Break(())
            } else {
                ControlFlow::Continue(())
            })
        });
        let findings = holders.iter().flat_map(|(ibip, names)| {
            names.iter().skip(1).map(move |name| {
                let detail = format!("its IBIp {ibip} is that of `{}` as well", names[0]);
                Finding::new(Code::DoubleIbip, Place::Tree(PathBuf::from(name.as_str())), detail)
            })
        });
        findings.collect()
    }
}

fn hash(ibip: &Ibip) -> u64 {
    let mut hasher = DefaultHasher::new();
    ibip.hash(&mut hasher);
    hasher.finish()
}
