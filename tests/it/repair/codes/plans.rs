//! Plans, and what they leave.

use super::*;

/// Good files are not copied, and directories keep what no sidecar says of them.
#[test]
fn what_is_good_stays_what_it_is() {
    let pair = Pair::new();
    let (doc, kept) = (pair.item("a").join("doc"), pair.item("a").join("doc/c.txt"));
    let sub = doc.join("sub");
    fs::remove_file(sub.join("b.bin")).unwrap();
    fs::set_permissions(&sub, fs::Permissions::from_mode(0o750)).unwrap();
    let time = std::time::UNIX_EPOCH + std::time::Duration::from_secs(1_000_000_000);
    fs::File::open(&sub).unwrap().set_modified(time).unwrap();
    let inode = fs::metadata(&kept).unwrap().ino();
    let plan = mended(pair.repair(&["b"]));
    let expected = [urepo::repair::EntryStep {
        path: urepo::item::PayloadPath::from_text("sub/b.bin").unwrap(),
        source: EntrySource::Donor(0),
    }];
    assert_eq!(plan.steps, expected);
    assert_eq!(fs::metadata(&kept).unwrap().ino(), inode);
    let stamp = fs::metadata(&sub).unwrap();
    assert_eq!((stamp.mode() & 0o777, stamp.modified().unwrap()), (0o750, time));
}

#[test]
fn the_plan_says_where_each_file_comes_from() {
    let pair = Pair::new();
    pair.add_copy("c");
    let doc = pair.item("a").join("doc");
    fs::remove_file(doc.join("a.txt")).unwrap();
    flip(&doc.join("sub/b.bin"));
    flip(&pair.item("b").join("doc/a.txt"));
    fs::remove_dir(doc.join("sub/empty")).unwrap();
    fs::write(doc.join("added"), "?").unwrap();
    fs::write(pair.item("a").join("notes"), "?").unwrap();
    fs::set_permissions(doc.join("c.txt"), fs::Permissions::from_mode(0o600)).unwrap();
    let plan = pair.plan(&["b", "c"]).unwrap();
    let (b, c) = (pair.root("b"), pair.root("c"));
    let expected = format!(
        "take doc/a.txt from {}\nset mode and time of doc/c.txt\ntake doc/sub/b.bin from {}\n\
         make doc/sub/empty\ntake out doc/added\ntake out notes\n",
        c.display(),
        b.display()
    );
    assert_eq!(plan.to_string(), expected);
    let sources: Vec<_> = plan.steps.iter().map(|step| step.source).collect();
    let expected = [
        EntrySource::Donor(1),
        EntrySource::OwnAttributes,
        EntrySource::Donor(0),
        EntrySource::Sidecar,
    ];
    assert_eq!(sources, expected);
    // Two donors, each half damaged, make one whole.
    flip(&pair.item("c").join("doc/sub/b.bin"));
    mended(pair.repair(&["b", "c"]));
    assert_eq!(pair.codes(), []);
    assert_eq!(pair.plan(&["b", "c"]), None);
}

#[test]
fn a_damaged_donor_is_not_used() {
    let pair = Pair::new();
    flip(&pair.item("a").join("doc/a.txt"));
    flip(&pair.item("b").join("doc/a.txt"));
    for donors in [&["b"][..], &[]] {
        match pair.refuses(donors, Options::default()) {
            RepairError::Lost { lost, .. } => assert_eq!(lost[0].to_text(), "a.txt"),
            error => panic!("{error}"),
        }
    }
    // With nothing else to mend, a partial repair has nothing to do either.
    assert!(matches!(pair.repair(&["b"]), Err(RepairError::Lost { .. })));
    // A donor whose sidecar is of no use still has good bytes.
    flip(&pair.item("b").join("doc/a.txt"));
    fs::remove_file(pair.item("b").join("item.toml")).unwrap();
    mended(pair.repair(&["b"]));
    assert_eq!(pair.codes(), []);
}

#[test]
fn a_partial_repair_leaves_what_it_can_not_mend() {
    let pair = Pair::new();
    let doc = pair.item("a").join("doc");
    flip(&doc.join("a.txt"));
    fs::remove_file(doc.join("sub/b.bin")).unwrap();
    fs::remove_file(pair.item("b").join("doc/a.txt")).unwrap();
    let damaged = fs::read(doc.join("a.txt")).unwrap();
    let plan = mended(pair.repair(&["b"]));
    assert_eq!(plan.lost().map(ToString::to_string).collect::<Vec<_>>(), ["a.txt"]);
    assert_eq!(pair.codes(), [Code::DigestDiffers]);
    assert_eq!(fs::read(doc.join("a.txt")).unwrap(), damaged);
    // Nothing is left that this donor has.
    assert!(matches!(pair.refuses(&["b"], Options::default()), RepairError::Lost { .. }));
    // A missing one stays missing.
    fs::remove_file(doc.join("a.txt")).unwrap();
    flip(&doc.join("c.txt"));
    mended(pair.repair(&["b"]));
    assert_eq!(pair.codes(), [Code::FileMissing]);
}
