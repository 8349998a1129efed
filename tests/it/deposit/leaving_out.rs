//! What a deposit leaves out of a source: counted, recorded, and never removed.

use urepo::deposit::Preset;
use urepo::disk::{Exclusion, Pattern};

use super::*;

fn exclusion(patterns: &[&str]) -> Exclusion {
    let patterns: Vec<_> = patterns.iter().map(|it| Pattern::new(it).unwrap()).collect();
    Exclusion::new(&patterns, &[], true).unwrap()
}

fn request_without(path: &Path, patterns: &[&str]) -> urepo::deposit::Request {
    let given = Preset { exclusion: exclusion(patterns), ..Preset::default() };
    urepo::deposit::Request { given, ..request(path) }
}

fn left_out(deposited: &Deposited) -> Vec<String> {
    deposited.left_out.iter().map(|it| format!("{} by {}", it.path, it.rule)).collect()
}

/// A directory with files of patterns at two levels.
fn make_source(place: &Place) -> PathBuf {
    let source = place.source("dir");
    for path in
        ["a.txt", "a.log", "cache/big", "sub/b.log", "sub/keep.log", "sub/c.txt", "only/x.log"]
    {
        std::fs::create_dir_all(source.join(path).parent().unwrap()).unwrap();
        std::fs::write(source.join(path), path).unwrap();
    }
    std::fs::write(source.join(".urepoignore"), "# caches\n/cache/\r\n*.log\n").unwrap();
    std::fs::write(source.join("sub/.urepoignore"), "!keep.log\n").unwrap();
    source
}

#[test]
fn what_matches_is_left_out_and_recorded() {
    let place = Place::new();
    let source = make_source(&place);
    let deposited = place.request(vec![request_without(&source, &["c.*"])], options()).unwrap();
    let kept = tree(&place.payload(&deposited));
    let paths: Vec<_> = kept.iter().map(|line| line.split(' ').next().unwrap()).collect();
    assert_eq!(paths, ["a.txt", "only/", "sub/", "sub/keep.log"]);
    let expected = [
        ".urepoignore by .urepoignore",
        "a.log by *.log",
        "cache by /cache/",
        "only/x.log by *.log",
        "sub/.urepoignore by .urepoignore",
        "sub/b.log by *.log",
        "sub/c.txt by c.*",
    ];
    assert_eq!(left_out(&deposited), expected);
    assert_eq!((deposited.payload.files, deposited.payload.bytes), (2, 17));
    let (sidecar, _) = place.collection.item(&deposited.label.name).unwrap().sidecar().unwrap();
    let recorded: Vec<_> = sidecar.origin["left_out"]
        .as_array()
        .unwrap()
        .iter()
        .filter_map(|it| it.as_str())
        .collect();
    let paths: Vec<_> = expected.map(|it| it.split(' ').next().unwrap()).to_vec();
    assert_eq!(recorded, paths);
    // The directory whose files are all left out is kept as an empty one.
    assert!(sidecar.files.iter().any(|entry| entry.path.to_string() == "only"));
}

#[test]
fn nothing_is_left_out_unasked() {
    let place = Place::new();
    let source = make_source(&place);
    let deposited = place.deposit(&source).unwrap();
    assert_eq!(tree(&place.payload(&deposited)), tree(&source));
    assert_eq!(left_out(&deposited), [""; 0]);
    let (sidecar, _) = place.collection.item(&deposited.label.name).unwrap().sidecar().unwrap();
    assert_eq!(sidecar.origin.get("left_out"), None);
}

#[test]
fn a_file_that_is_named_is_taken() {
    let place = Place::new();
    let file = place.source("a.log");
    std::fs::write(&file, "a").unwrap();
    let deposited = place.request(vec![request_without(&file, &["*.log"])], options()).unwrap();
    assert_eq!((deposited.payload.files, left_out(&deposited).len()), (1, 0));
    let together = Source::Together(vec![file, make_source(&place)]);
    let request =
        urepo::deposit::Request { source: together, ..request_without(Path::new(""), &[]) };
    let deposited = place.request(vec![request], options()).unwrap();
    let files = tree(&place.payload(&deposited));
    assert!(files.iter().any(|line| line.starts_with("a.log ")), "{files:?}");
    assert!(left_out(&deposited).contains(&"dir/a.log by *.log".to_owned()));
}

#[test]
fn a_source_of_which_something_was_left_out_is_not_removed() {
    let place = Place::new();
    let source = make_source(&place);
    let before = tree(&source);
    let remove = Options { sources: SourceRule::Remove, ..options() };
    let deposited = place.request(vec![request_without(&source, &[])], remove).unwrap();
    assert_eq!(tree(&source), before);
    let [reason] = deposited.left.as_slice() else { panic!("{:?}", deposited.left) };
    assert!(reason.ends_with("is not in the item: it was left out, or is new"), "{reason}");
}

#[test]
fn a_source_that_is_left_out_as_a_whole_is_refused() {
    let place = Place::new();
    let source = make_source(&place);
    let refused = place.request(vec![request_without(&source, &["*"])], options()).unwrap_err();
    assert!(matches!(refused, DepositError::AllLeftOut { entries: 6, .. }), "{refused}");
    std::fs::write(source.join("sub/.urepoignore"), b"[z-a]\n").unwrap();
    let refused = place.request(vec![request_without(&source, &[])], options()).unwrap_err();
    let DepositError::Disk(refused) = refused else { panic!("{refused}") };
    assert!(refused.path().ends_with("dir/sub/.urepoignore"), "{refused}");
    std::fs::write(source.join("sub/.urepoignore"), b"\xff\n").unwrap();
    place.request(vec![request_without(&source, &[])], options()).unwrap_err();
}

/// Only a regular file of that name says what is left out: a link could lead anywhere.
#[test]
fn patterns_are_read_from_files_only() {
    let place = Place::new();
    let source = place.source("dir");
    std::fs::create_dir_all(source.join("sub")).unwrap();
    for path in ["a.log", "patterns", "sub/b.log"] {
        std::fs::write(source.join(path), "*.log\n").unwrap();
    }
    symlink("patterns", source.join(".urepoignore")).unwrap();
    std::fs::create_dir(source.join("sub/.urepoignore")).unwrap();
    let deposited = place.request(vec![request_without(&source, &[])], options()).unwrap();
    assert_eq!(tree(&place.payload(&deposited)), tree(&source));
}

/// However much is left out, it takes no room from the entries: the sidecar lists a part and says how many there are.
#[test]
fn the_list_of_what_was_left_out_is_cut() {
    let place = Place::new();
    let source = place.source("dir");
    std::fs::create_dir(&source).unwrap();
    for number in 0..1_005 {
        std::fs::write(source.join(format!("{number}.log")), "").unwrap();
    }
    std::fs::write(source.join("a.txt"), "a").unwrap();
    let origin = |patterns: &[&str]| {
        let deposited = place.request(vec![request_without(&source, patterns)], options()).unwrap();
        assert_eq!(deposited.left_out.len(), 1_005);
        let item = place.collection.item(&deposited.label.name).unwrap();
        let origin = item.sidecar().unwrap().0.origin;
        (origin["left_out"].as_array().unwrap().len(), origin["left_out_total"].as_integer())
    };
    assert_eq!(origin(&["*.log"]), (1_000, Some(1_005)));
    for number in 0..1_005 {
        let long = format!("{number}{}", "x".repeat(240));
        std::fs::rename(source.join(format!("{number}.log")), source.join(long)).unwrap();
    }
    let (listed, total) = origin(&["*xx"]);
    assert!((200..300).contains(&listed), "{listed}");
    assert_eq!(total, Some(1_005));
}

/// A link to a file of patterns is one where links are followed, and a link where they are not.
#[test]
fn a_file_of_patterns_may_be_a_link_that_is_followed() {
    let place = Place::new();
    let source = make_source(&place);
    std::fs::rename(source.join(".urepoignore"), source.join("../patterns")).unwrap();
    symlink("../patterns", source.join(".urepoignore")).unwrap();
    let with = |links| {
        let options = Options { links, ..options() };
        place.request(vec![request_without(&source, &[])], options).unwrap()
    };
    let followed = left_out(&with(Links::Follow));
    assert!(followed.contains(&".urepoignore by .urepoignore".to_owned()), "{followed:?}");
    assert!(followed.contains(&"a.log by *.log".to_owned()), "{followed:?}");
    assert_eq!(left_out(&with(Links::AsIs)), ["sub/.urepoignore by .urepoignore"]);
}
