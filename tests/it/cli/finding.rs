//! An item is found by any spelling of its identifier, and by the end of its name.

use super::records;
use crate::support::World;

#[test]
fn by_every_spelling() {
    let world = World::new();
    world.run("init archive --host archive.example.org --ip 192.0.2.7").succeeded();
    world.write("a.txt", "alpha");
    let made = records(&world.run("-c archive new a.txt --json"));
    let (name, ibip) = (made[0]["id"].as_str().unwrap(), made[0]["ibip"].as_str().unwrap());
    let expected = format!("[WORLD]/archive/{name}");
    let suffix = name.strip_prefix("example.org/archive/").unwrap();
    let leaf = name.rsplit('/').next().unwrap();
    for text in [
        name.to_owned(),
        name.to_uppercase(),
        ibip.to_owned(),
        ibip.to_lowercase(),
        suffix.to_owned(),
        leaf.to_owned(),
        format!("archive/{suffix}"),
        format!("/{leaf}/"),
        format!("http://urlib.net/{name}"),
        format!("http://urlib.net/{ibip}"),
        format!("https://example.com/x?ibiurl={name}&more=1"),
        format!("archive/{name}/doc/a.txt"),
        world.path(format!("archive/{name}/doc")).display().to_string(),
    ] {
        let ran = world.run_args(["-c", "archive", "path", &text]);
        assert_eq!((ran.code, ran.stdout.trim()), (0, expected.as_str()), "{text}: {}", ran.stderr);
        // The same spellings are understood where there is no collection at hand.
    }
    let ran = world.run(&format!("-c archive id {ibip}"));
    assert!(ran.succeeded().contains(name), "{}", ran.stdout);
    let ran = world.run(&format!("-c archive id {name}"));
    assert!(ran.succeeded().contains(ibip), "{}", ran.stdout);
    let verbs = "?ibiurl.verblist=GetLastEdition+GetMetadata(oai_dc)";
    let ran = world.run_args(["id", &format!("see http://urlib.net/{ibip}{verbs}.")]);
    assert!(ran.succeeded().contains("\nverbs        GetLastEdition GetMetadata(oai_dc)\n"));
    let persistent = format!("\npersistent   http://urlib.net/{ibip}!:(oai_dc)\n");
    assert!(ran.succeeded().contains(&persistent), "{}", ran.stdout);
    assert_eq!(world.run(&format!("id --check {name} {ibip}")).code, 0);
    assert_eq!(world.run(&format!("id --check {name} {leaf}")).code, 1);
}

#[test]
fn never_by_half_a_level() {
    let world = World::with_collection();
    world.write("a.txt", "alpha");
    let name = world.run("-c archive new a.txt").line();
    let half = &name[name.len() - 3..];
    assert_ne!(world.run(&format!("-c archive show {half}")).code, 0);
    for hostile in ["..", "../archive", ".", "/", "*", ".urepo", "urepo.toml", "staging"] {
        let ran = world.run(&format!("-c archive show {hostile}"));
        assert_ne!(ran.code, 0, "{hostile}: {}", ran.stdout);
    }
}

#[test]
fn where_the_directories_are_in_another_case() {
    let world = World::with_collection();
    world.write("a.txt", "alpha");
    let name = world.run("-c archive new a.txt").line();
    let found = world.path("archive/Example.ORG");
    std::fs::rename(world.path("archive/example.org"), found).unwrap();
    let expected = format!("[WORLD]/archive/{}\n", name.replace("example.org", "Example.ORG"));
    assert_eq!(world.run(&format!("-c archive path {name}")).succeeded(), expected);
    assert_eq!(world.run(&format!("-c archive show {name}")).code, 0);
}
