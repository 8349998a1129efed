//! A source that was imported before, of which its row or bag says something else now: it fails and stays.

use std::fs;

use super::bags::make_bag;
use super::{Collection, Digest, Watcher};
use crate::support::{World, whole_items};

/// A file and a directory that were imported by the rows of `in/m.csv`.
fn imported() -> World {
    let world = World::with_collection();
    world.write("in/a", "bytes");
    world.write("in/dir/one", "bytes");
    rows(&world, ["", ""], "");
    import(&world, "", 0);
    fs::create_dir(world.path("done")).unwrap();
    world
}

fn rows(world: &World, [a, dir]: [&str; 2], title: &str) {
    let text = format!(
        "path,sha256,title,relation.next_edition\na,{a},{title},row:dir\ndir,{dir},{title},\n"
    );
    world.write("in/m.csv", text.replace("row:dir", if title.is_empty() { "" } else { "row:dir" }));
}

/// Imports, and returns what was told.
#[track_caller]
fn import(world: &World, more: &str, code: i32) -> String {
    let ran = world.run(&format!("-c archive import in/m.csv {more}"));
    assert_eq!(ran.code, code, "{more}: {}", ran.stderr);
    ran.stderr
}

fn sidecars(world: &World) -> Vec<String> {
    let names =
        whole_items(&Collection::open(&world.path("archive"), &Watcher::default()).unwrap());
    let read = |name| fs::read_to_string(world.path("archive").join(name).join("item.toml"));
    names.into_iter().map(|name| read(name).unwrap()).collect()
}

/// The digest of the file, and of the manifest of the directory.
fn right() -> [String; 2] {
    let file = Digest::of(b"bytes").to_string();
    let dir = Digest::of(format!("{file}  one\n").as_bytes()).to_string();
    [file, dir]
}

#[test]
fn rows_fail_however_they_are_imported_again() {
    let world = imported();
    let (before, wrong) = (sidecars(&world), Digest::of(b"other").to_string());
    rows(&world, [&wrong, &wrong], "New");
    let ways = ["", "--dry-run", "--update", "--skip-same", "--remove-source"];
    for more in ways {
        let told = import(&world, more, 3);
        for expected in [
            "line 2: `[WORLD]/in/a` was not imported: the bytes of `a` do not have the SHA-256",
            "line 3: `[WORLD]/in/dir` was not imported: the files of `[WORLD]/in/dir` do not have",
        ] {
            assert!(told.contains(expected), "{more}: {told}");
        }
        assert!(world.path("in/a").exists() && world.path("in/dir/one").exists(), "{more}");
        assert_eq!(sidecars(&world), before, "{more}");
    }
    // Rows that are right are taken as before.
    let [file, dir] = &right();
    rows(&world, [file, dir], "New");
    let told = import(&world, "--update --remove-source", 0);
    assert!(told.contains("2 there already") || told.contains("changed 2"), "{told}");
    assert!(!world.path("in/a").exists() && !world.path("in/dir").exists());
    assert_ne!(sidecars(&world), before);
    // Also when the sources have gone.
    rows(&world, [&wrong, dir], "Newer");
    let told = import(&world, "--update --remove-source", 3);
    assert!(told.contains("1 of 2 sources was not imported"), "{told}");
    let titles: Vec<_> = sidecars(&world).iter().map(|text| text.contains("Newer")).collect();
    assert_eq!(titles, [false, true]);
}

/// Nothing is taken from a row of a source that was changed, either.
#[test]
fn rows_of_changed_sources_update_nothing() {
    let world = imported();
    let before = sidecars(&world);
    world.write("in/a", "rotten");
    rows(&world, [&right()[0], ""], "New");
    let told = import(&world, "--update", 3);
    assert!(told.contains("line 2: `[WORLD]/in/a` was not imported"), "{told}");
    assert_eq!(sidecars(&world)[0], before[0]);
}

/// A row with an identifier, whose line an import that was killed had not written.
#[test]
fn rows_with_identifiers_fail() {
    let world = World::with_collection();
    world.write("in/a", "bytes");
    let row = |sha256: &str| {
        let text =
            format!("path,identifier,sha256\na,sid.inpe.br/mtc-m18/2009/02.16.17.46,{sha256}\n");
        world.write("in/m.csv", text);
    };
    row("");
    import(&world, "", 0);
    row(&Digest::of(b"other").to_string());
    let told = import(&world, "", 3);
    assert!(told.contains("the bytes of `a` do not have the SHA-256"), "{told}");
    row(&Digest::of(b"bytes").to_string());
    import(&world, "", 0);
}

#[test]
fn bags_fail() {
    let other = Digest::of(b"other");
    let sub = Digest::of(b"beta");
    let cases: [(&str, String, &str); 6] = [
        (
            "manifest-sha256.txt",
            format!("{other}  data/a.txt\n{sub}  data/sub/b%.txt\n"),
            "the bytes of `a.txt` do not have the SHA-256 that was given",
        ),
        (
            "manifest-sha256.txt",
            format!("{sub}  data/sub/b%.txt\n"),
            "`a.txt` is in no list of the files",
        ),
        // The item does not have these: the file is read.
        (
            "manifest-md5.txt",
            "2c1743a391305fbf367df8e4f069f9f8  data/a.txt\n".to_owned(),
            "the bytes of `a.txt` do not have the MD5 that was given",
        ),
        ("manifest-md5.txt", "2c1743a391305fbf367df8e4f069f9f9  data/a.txt\n".to_owned(), ""),
        // The item has these.
        (
            "manifest-sha1.txt",
            "a295e0bdde1938d1fbfd343e5a3e569e868e1460  data/sub/b%.txt\n".to_owned(),
            "the bytes of `sub/b%.txt` do not have the SHA-1 that was given",
        ),
        ("bag-info.txt", "Payload-Oxum: 10.2\n".to_owned(), "tells of 2 files and 10 bytes"),
    ];
    for (file, text, expected) in cases {
        let world = World::with_collection();
        let bag = world.path("in/bag");
        make_bag(&bag);
        fs::remove_file(bag.join("manifest-md5.txt")).unwrap();
        fs::remove_file(bag.join("tagmanifest-sha256.txt")).unwrap();
        let sha1 = "a295e0bdde1938d1fbfd343e5a3e569e868e1465  data/sub/b%.txt\n";
        world.write("in/bag/manifest-sha1.txt", sha1);
        world.run("-c archive import in").succeeded();
        world.write(&format!("in/bag/{file}"), &text);
        let ran = world.run("-c archive import in");
        assert_eq!(ran.code, if expected.is_empty() { 0 } else { 3 }, "{file}: {}", ran.stderr);
        assert!(ran.stderr.contains(expected), "{file}: {}", ran.stderr);
        assert_eq!(sidecars(&world).len(), 1);
    }
}

#[test]
fn rows_of_bags_fail() {
    let world = World::with_collection();
    make_bag(&world.path("in/bag"));
    let row = |sha256: Digest| world.write("in/m.csv", format!("path,sha256\nbag,{sha256}\n"));
    let (alpha, beta) = (Digest::of(b"alpha"), Digest::of(b"beta"));
    let right = Digest::of(format!("{alpha}  a.txt\n{beta}  sub/b%.txt\n").as_bytes());
    for (sha256, code) in [(alpha, 3), (right, 0), (alpha, 3)] {
        row(sha256);
        import(&world, "", code);
    }
}
