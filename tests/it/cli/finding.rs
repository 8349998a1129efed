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
        let ran = world.run_args(["-c", "archive", "show", "--path", &text]);
        // A path to a file of an item, or to its files, is printed as that.
        let below =
            text.split_once("/doc").map_or(String::new(), |(_, file)| format!("/doc{file}"));
        let expected = format!("{expected}{below}");
        assert_eq!((ran.code, ran.stdout.trim()), (0, expected.as_str()), "{text}: {}", ran.stderr);
        let ran = world.run_args(["-c", "archive", "resolve", "--explain", &text]);
        let said = ran.succeeded().to_lowercase();
        let says = |it: &str| it.starts_with("repository ") && it.ends_with(&format!(" {name}"));
        assert!(said.lines().any(says), "{text}: {said}");
    }
    let ran = world.run(&format!("-c archive resolve --explain {ibip}"));
    assert!(ran.succeeded().contains(name), "{}", ran.stdout);
    let ran = world.run(&format!("-c archive resolve --explain {name}"));
    assert!(ran.succeeded().contains(ibip), "{}", ran.stdout);
    let verbs = "?ibiurl.verblist=GetLastEdition+GetMetadata(oai_dc)";
    let ran =
        world.run_args(["resolve", "--explain", &format!("see http://urlib.net/{ibip}{verbs}.")]);
    for (key, value) in [
        ("verbs ", " GetLastEdition GetMetadata(oai_dc)".to_owned()),
        ("persistent ", format!(" http://urlib.net/{ibip}!:(oai_dc)")),
    ] {
        let says = |it: &str| it.starts_with(key) && it.ends_with(&value);
        assert!(ran.succeeded().lines().any(says), "{}", ran.stdout);
    }
    let told =
        records(&world.run(&format!("resolve --explain --json {name} {ibip} archive/{name}")));
    let exact: Vec<_> = told.iter().map(|it| it["exact"].as_bool()).collect();
    assert_eq!(exact, [Some(true), Some(true), Some(false), None]);
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
    assert_eq!(world.run(&format!("-c archive show --path {name}")).succeeded(), expected);
    assert_eq!(world.run(&format!("-c archive show {name}")).code, 0);
}

/// The date in a label is not always that in the name: the index knows every label that was stored.
#[test]
fn by_a_label_of_another_date_as_the_index_knows_it() {
    let world = World::with_collection();
    world.write("a.txt", "alpha");
    let name = world.run("-c archive new a.txt").line();
    let label = "8JMKD3MGP8W/34CP87H";
    crate::support::change_item(&world.path("archive"), &name, |sidecar| {
        sidecar.ibip = Some(label.parse().unwrap());
        sidecar.metadata.add("identifier", "6RPa7umaZ/UaJFT").unwrap();
    });
    let ran = world.run(&format!("-c archive show --path {label}"));
    assert_eq!(ran.code, 21, "{}", ran.stderr);
    let hint = format!("`urepo -c archive list {label}` asks the index");
    assert!(ran.stderr.contains(&hint), "{}", ran.stderr);
    assert_eq!(world.run(&format!("-c archive -q list {label}")).line(), name);
    for text in [label, "8jmkd3mgp8w/34cp87h", "6RPa7umaZ/UaJFT"] {
        let ran = world.run(&format!("-c archive show --path {text}"));
        assert!(ran.succeeded().trim().ends_with(&name), "{}", ran.stdout);
    }
    let told = records(&world.run(&format!("-c archive resolve --explain --json {name}")));
    assert_eq!(told[0]["parts"]["ibip"], label);
    assert_eq!(told[0]["parts"]["aliases"], "6RPa7umaZ/UaJFT");
    assert!(told[0]["parts"]["ibip_suffix"].as_str().unwrap() != "34CP87H");
    // What the index says is compared with the sidecar.
    crate::support::change_item(&world.path("archive"), &name, |sidecar| sidecar.ibip = None);
    assert_eq!(world.run(&format!("-c archive show --path {label}")).code, 21);
}

#[test]
fn many_texts_are_explained_from_standard_input() {
    let world = World::new();
    let texts = "sid.inpe.br/mtc-m19/2013/09.04.12.27.57\n\nnothing here\n8JMKD3MGP7W/3EPGUE5\n\
                 mariana_c/x_y/2009/02.16.17.46\n";
    world.write("texts", texts);
    let ran = world.finish(world.shell("exec \"$0\" resolve --explain --json - < texts"));
    assert_eq!(ran.code, 3, "{}", ran.stderr);
    let told = records(&ran);
    let texts: Vec<_> = told.iter().filter(|it| it["type"] == "resolved").collect();
    assert_eq!(texts.len(), 3, "{told:?}");
    assert_eq!(texts[0]["parts"]["ibip_suffix"], "3EPGUE5");
    let long = "example.org/a/2020/01.01.00.00.00.1234567890123";
    let ran = world.run(&format!("resolve --explain --json {long}"));
    assert_eq!(records(&ran)[0]["parts"]["date"], "2020-01-01T00:00:00.1234567890123Z");
    assert!(texts[2]["parts"]["odd"].as_str().unwrap().contains("underscore"), "{told:?}");
    let both = "rep sid.inpe.br/mtc-m19/2013/09.04.12.27.57 ibip 8JMKD3MGP7W/3EPGUE5";
    let told = records(&world.run_args(["resolve", "--explain", "--json", both]));
    assert_eq!(told[0]["parts"]["repository"], "sid.inpe.br/mtc-m19/2013/09.04.12.27.57");
    assert_eq!(told[0]["parts"]["ibip"], "8JMKD3MGP7W/3EPGUE5");
}
