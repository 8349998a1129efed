//! Bags.

use super::*;

/// The lines of a manifest of a bag.
fn lines(bag: &Path, file: &str) -> Vec<String> {
    let text = std::fs::read_to_string(bag.join(file)).unwrap();
    text.lines().map(str::to_owned).collect()
}

fn bag(world: &World, name: &str, more: &str) -> (PathBuf, Ran) {
    let line = format!("-c archive export {name} --format bag {more} --to bags");
    (world.path("bags").join(file_name(name)), world.run(&line))
}

#[test]
fn have_the_payload_and_its_digests() {
    let (world, name) = world_with_odd_item(|_| ());
    let (bag, ran) = bag(&world, &name, "--as oai_dc");
    ran.succeeded();
    assert!(ran.stderr.contains("1 empty directory named in metadata/item.toml alone"));
    assert_eq!(fingerprint(&bag.join("data")), fingerprint(&world.path("odd")));
    let top = [
        "bag-info.txt",
        "bagit.txt",
        "data",
        "manifest-sha256.txt",
        "metadata",
        "tagmanifest-sha256.txt",
    ];
    assert_eq!(names_in(&bag), top);
    // The digests are those of the sidecar, and the names escaped as the RFC says.
    let manifest = world.run(&format!("-c archive show --as manifest {name}"));
    let digests = |text: &str| {
        let digest = |line: &str| line.trim_start_matches('\\')[..64].to_owned();
        let mut digests: Vec<_> = text.lines().map(digest).collect();
        digests.sort();
        digests
    };
    let text = std::fs::read_to_string(bag.join("manifest-sha256.txt")).unwrap();
    assert_eq!(digests(&text), digests(manifest.succeeded()));
    for odd in ["  data/new%0Aline\n", "  data/100%25\n", "  data/%250A\n"] {
        assert!(text.contains(odd), "{text}");
    }
    let info = lines(&bag, "bag-info.txt");
    assert!(info.contains(&"Payload-Oxum: 1068.8".to_owned()), "{info:?}");
    assert!(info.contains(&format!("External-Identifier: {name}")), "{info:?}");
    let mut tagged: Vec<_> = lines(&bag, "tagmanifest-sha256.txt")
        .iter()
        .map(|line| {
            let (digest, path) = line.split_once("  ").unwrap();
            let found = urepo::digest::Digest::of(&std::fs::read(bag.join(path)).unwrap());
            assert_eq!(found.to_string(), digest);
            path.to_owned()
        })
        .collect();
    tagged.sort();
    let tags = [
        "bag-info.txt",
        "bagit.txt",
        "manifest-sha256.txt",
        "metadata/dc.xml",
        "metadata/item.toml",
    ];
    assert_eq!(tagged, tags);
}

/// By the program of the Library of Congress, which knows no `%25` and strips spaces at the end.
#[test]
fn are_valid_for_others() {
    if !Command::new("bagit.py").arg("--version").output().is_ok_and(|o| o.status.success()) {
        eprintln!("SKIPPED: bagit.py is not installed");
        return;
    }
    let world = World::with_collection();
    for name in ["new\nline", "plain", "dir/ação", "cr\rlf\n", "100%", "50%25"] {
        world.write(&format!("source/{name}"), name);
    }
    symlink("plain", world.path("source/link")).unwrap();
    std::fs::create_dir(world.path("source/empty")).unwrap();
    let mut new = vec!["-c", "archive", "new", "source", "--title", "A\n: title\nB: c"];
    new.extend([
        "--meta",
        "publisher=Ação: \u{2028}x",
        "--meta",
        "creator=A",
        "--meta",
        "creator=B",
    ]);
    let name = world.run_args(new).line();
    let (bag, ran) = bag(&world, &name, "--links follow --as datacite");
    ran.succeeded();
    let output = Command::new("bagit.py").arg("--validate").arg(&bag).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    // And it does look: one byte is enough.
    std::fs::write(bag.join("data/plain"), "plaiN").unwrap();
    let output = Command::new("bagit.py").arg("--validate").arg(&bag).output().unwrap();
    assert!(!output.status.success());
}

#[test]
fn hold_what_links_lead_to_or_nothing() {
    let world = World::with_collection();
    world.write("source/dir/a.txt", "alpha");
    symlink("dir/a.txt", world.path("source/link")).unwrap();
    let name = world.run("-c archive new source").line();
    let (place, ran) = bag(&world, &name, "--links follow");
    assert!(ran.stderr.contains("1 link replaced by what it leads to"), "{}", ran.stderr);
    assert_eq!(tree(&place.join("data")), ["dir/", "dir/a.txt 5", "link 5"]);
    assert_eq!(lines(&place, "manifest-sha256.txt").len(), 2);
    std::fs::remove_dir_all(world.path("bags")).unwrap();
    let (place, ran) = bag(&world, &name, "--links skip");
    assert!(ran.stderr.contains("1 link left out"), "{}", ran.stderr);
    assert_eq!(tree(&place.join("data")), ["dir/", "dir/a.txt 5"]);
    let sidecar = std::fs::read_to_string(place.join("metadata/item.toml")).unwrap();
    assert!(sidecar.contains("kind = \"link\""), "it still says what there was");
}

#[test]
fn keep_their_item_closed() {
    let world = World::with_collection();
    world.write("s.txt", "s");
    let new =
        "-c archive new s.txt -m access=closed -m access.allow=192.0.2.0/24 -m transferable=false";
    let name = world.run(new).line();
    let (place, _) = bag(&world, &name, "");
    world.run("-q init other --host other.example.org").succeeded();
    let conditions = |collection: &str, name: &str| {
        let told = world.run(&format!("-c {collection} show {name}"));
        let lines =
            told.succeeded().lines().map(|line| line.split_whitespace().collect::<Vec<_>>());
        let lines = lines.filter(|words| ["transferable", "access"].contains(&words[0]));
        lines.map(|words| words.join(" ")).collect::<Vec<_>>().join(", ")
    };
    world.run(&format!("-c other import {}", place.display())).succeeded();
    let imported = world.run("-c other list").line();
    let closed = "transferable no, access closed; open to 192.0.2.0/24";
    assert_eq!(conditions("other", &imported), closed);
    // A manifest says otherwise, as far as it does.
    world.write("rows.csv", format!("path,access\n{},metadata\n", place.display()));
    world.run("-q init third --host third.example.org").succeeded();
    world.run("-c third import rows.csv").succeeded();
    let name = world.run("-c third list").line();
    let told = conditions("third", &name);
    assert_eq!(told, "transferable no, access metadata; open to 192.0.2.0/24");
    // Those of another item do not count.
    let sidecar = place.join("metadata/item.toml");
    let text = std::fs::read_to_string(&sidecar).unwrap();
    std::fs::write(&sidecar, text.replace("example.org/archive", "example.org/other")).unwrap();
    std::fs::remove_file(place.join("tagmanifest-sha256.txt")).unwrap();
    world.run("-q init fourth --host fourth.example.org").succeeded();
    world.run(&format!("-c fourth import {}", place.display())).succeeded();
    let name = world.run("-c fourth list").line();
    assert_eq!(conditions("fourth", &name), "");
}

/// A closed item does not become open because this urepo cannot read its sidecar.
#[test]
fn whose_sidecar_cannot_be_read_need_a_row_that_says_who_may_read_them() {
    for other in ["format = 2", "formless"] {
        let world = World::with_collection();
        world.write("s.txt", "s");
        let name = world.run("-c archive new s.txt -m access=closed").line();
        let (place, _) = bag(&world, &name, "");
        let sidecar = place.join("metadata/item.toml");
        let text = std::fs::read_to_string(&sidecar).unwrap();
        std::fs::write(&sidecar, text.replace("format = 1", other)).unwrap();
        std::fs::remove_file(place.join("tagmanifest-sha256.txt")).unwrap();
        world.run("-q init other --host other.example.org").succeeded();
        let ran = world.run(&format!("-c other import {}", place.display()));
        assert_eq!(ran.code, 3, "{}", ran.stderr);
        let reason = "`metadata/item.toml` does not say who may read the item; a table";
        assert!(ran.stderr.contains(reason), "{}", ran.stderr);
        let list = |columns: &str, values: &str| {
            let rows = format!("path,{columns}\n{},{values}\n", place.display());
            world.write("rows.csv", rows);
            world.run("-c other import rows.csv")
        };
        assert_eq!(list("access", "closed").code, 3);
        list("access,transferable", "closed,false").succeeded();
        let name = world.run("-c other list").line();
        let told = world.run(&format!("-c other show {name}"));
        let is_closed = |line: &str| line.split_whitespace().eq(["access", "closed"]);
        assert!(told.succeeded().lines().any(is_closed), "{}", told.stdout);
    }
}
