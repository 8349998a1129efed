//! Nothing is taken away from a source on the word of a Copy that was not read back, and nothing is
//! published that the source does not have any more.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use urepo::disk::{Operation, Watch};
use urepo::transfer::{Leaves, TransferError, Verb};

use super::support::{Pair, State, edit, findings};
use crate::support::{staged, whole_items};

/// Damages a staged file between its sync and its being read back.
struct Rot {
    stage: PathBuf,
    struck: AtomicBool,
}

impl Watch for Rot {
    fn before(&self, operation: Operation, path: &Path) -> std::io::Result<()> {
        let is_read = matches!(operation, Operation::Open | Operation::Read);
        let is_staged = path.starts_with(&self.stage) && path.ends_with("sub/b.bin");
        if is_read && is_staged && !self.struck.swap(true, Ordering::SeqCst) {
            let mut bytes = std::fs::read(path)?;
            bytes[100_000] ^= 1;
            std::fs::write(path, bytes)?;
        }
        Ok(())
    }
}

#[test]
fn rot_of_what_was_received_leaves_the_original() {
    for copied in [false, true] {
        let pair = Pair::across();
        let name = pair.deposit_tree();
        if copied {
            pair.run(Verb::Copy, Leaves::Stub);
            pair.edit_source(&name, "sub/b.bin", &vec![9; 200_000]);
        }
        let before = copied.then(|| pair.sidecar_at_destination(&name));
        let rot = Arc::new(Rot {
            stage: pair.root(1).join(".urepo/staging"),
            struck: AtomicBool::new(false),
        });
        let (from, to) = pair.watched(Arc::clone(&rot) as _).unwrap();
        let outcome = pair.run_between(&from, &to, Verb::Migrate, Leaves::Stub).remove(0);
        assert!(rot.struck.load(Ordering::SeqCst), "the Copy was never read back");
        let result = outcome.result;
        assert!(matches!(result, Err(TransferError::NotProven { .. })), "{result:?}");
        assert_eq!(pair.sidecar_at_source(&name).state, State::Original);
        // What is damaged never shows at the destination.
        let after = pair.to().item(&name).ok().map(|item| item.sidecar().unwrap().0);
        assert_eq!(after, before);
        assert!(pair.is_clean());
        assert_eq!(staged(pair.root(1)), [""; 0]);
    }
}

#[test]
fn a_copy_stays_where_its_twin_is_damaged() {
    let pair = Pair::new();
    let name = pair.deposit_tree();
    let third = pair.third();
    pair.run(Verb::Copy, Leaves::Stub);
    pair.run_between(&pair.from(), &third, Verb::Copy, Leaves::Stub);
    let twin = third.item(&name).unwrap().payload_path().join("sub/b.bin");
    std::fs::write(&twin, vec![8; 300_000]).unwrap();
    let outcome = pair.run_between(&pair.to(), &third, Verb::Migrate, Leaves::Stub).remove(0);
    let result = outcome.result;
    assert!(matches!(result, Err(TransferError::NotProven { .. })), "{result:?}");
    assert_eq!(whole_items(&pair.to()), [name.to_string()]);
    assert_eq!(findings(&pair.to()), [""; 0]);
}

/// Makes a new state of the source's item while it is being copied.
struct Editor {
    pair: Arc<Pair>,
    done: AtomicBool,
}

impl Watch for Editor {
    fn before(&self, operation: Operation, path: &Path) -> std::io::Result<()> {
        let is_last = operation == Operation::CreateFile && path.ends_with("sub/b.bin");
        if is_last && !self.done.swap(true, Ordering::SeqCst) {
            let name = whole_items(&self.pair.from())[0].parse().unwrap();
            edit(&self.pair.from(), &name, "a.txt", b"changed");
        }
        Ok(())
    }
}

#[test]
fn a_source_that_changes_while_it_is_copied_is_not_published() {
    for verb in [Verb::Copy, Verb::Migrate] {
        let pair = Arc::new(Pair::across());
        let name = pair.deposit_tree();
        let editor = Arc::new(Editor { pair: Arc::clone(&pair), done: AtomicBool::new(false) });
        let (from, to) = pair.watched(Arc::clone(&editor) as _).unwrap();
        let result = pair.run_between(&from, &to, verb, Leaves::Stub).remove(0).result;
        assert!(editor.done.load(Ordering::SeqCst));
        assert!(matches!(result, Err(TransferError::Changed { .. })), "{verb:?} {result:?}");
        assert!(pair.to().item(&name).is_err(), "{verb:?}");
        assert_eq!(pair.sidecar_at_source(&name).state, State::Original);
        // The next run takes the new state.
        assert!(pair.run(verb, Leaves::Stub)[0].result.is_ok());
        assert!(pair.is_clean());
    }
}
