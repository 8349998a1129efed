//! `urepo resolve`: what it prints, opens and refuses.

use serde_json::json;

use super::collections::{ROOTS, family, name, put};
use crate::support::{Ran, World};

/// Runs the program with a variable.
fn run_with(world: &World, variable: &str, value: &str, arguments: &[&str]) -> Ran {
    let mut command = world.command(arguments);
    command.env(variable, value);
    world.finish(command)
}

/// Runs `urepo resolve` over the collections of the family.
fn resolve(world: &World, arguments: &[&str]) -> Ran {
    let with = ["-c", "a", "resolve", "--with", "b", "--with", "c"];
    let ran = run_with(world, "LC_ALL", "C", &[&with[..], arguments].concat());
    assert!(!ran.stderr.contains("panicked"), "{}", ran.stderr);
    ran
}

fn path(number: usize, root: &str) -> String {
    format!("[WORLD]/{root}/{}", name(number))
}

#[test]
fn it_prints_one_path_a_line() {
    let world = family();
    let url = |rest: &str| format!("{}{rest}", name(0));
    let one = |arguments: &[&str]| resolve(&world, arguments).succeeded().to_owned();
    assert_eq!(one(&[&url("")]), format!("{}/doc/é 0.txt\n", path(0, "a")));
    let both = one(&[&url("!"), &url("+(pt)")]);
    assert_eq!(both, format!("{}/doc/é 1.txt\n{}/doc/é 2.txt\n", path(1, "b"), path(2, "b")));
    assert_eq!(one(&["-0", &url("!")]), format!("{}/doc/é 1.txt\0", path(1, "b")));
    assert_eq!(
        one(&[&url("?ibiurl.verblist=GetFileList")]),
        format!("{}/doc/é 0.txt\n", path(0, "a"))
    );
    let known = ROOTS.map(|root| format!("{root} = \"../../{root}\"\n")).concat();
    world.write(".config/urepo/config.toml", format!("[collections]\n{known}"));
    assert_eq!(world.run(&format!("-c a cat {} {}", url("!"), url("+(pt)"))).succeeded(), "xx");
    let rendered = one(&[&url("!+(pt):(oai_dc)")]);
    assert!(
        rendered.contains(&format!("<dc:identifier>{}</dc:identifier>", name(3))),
        "{rendered}"
    );
    let printed = world.run(&format!("-c a cat {}", url("!+(pt):(oai_dc)")));
    assert_eq!(printed.succeeded(), rendered);
}

/// What a person copies from a browser, a file manager or a sentence.
#[test]
fn pasted_forms_are_followed() {
    let world = family();
    let expected = format!("{}/doc/é 0.txt\n", path(0, "a"));
    for text in [
        format!("http://archive.example.org/col/{}/doc/%C3%A9%200.txt", name(0)),
        format!("/srv/archive/{}", name(0)),
        format!("goto-/{}", name(0)),
        format!("upn:archive:{}", name(0)),
        format!("See <http://urlib.net/{}>.", name(0)),
    ] {
        assert_eq!(resolve(&world, &[&text]).succeeded(), expected, "{text}");
    }
    // A fragment is for the browser.
    for rest in ["#page=2", "/%C3%A9%200.txt#a?b"] {
        let url = format!("http://urlib.net/{}{rest}", name(0));
        assert_eq!(resolve(&world, &[&url]).succeeded(), expected, "{rest}");
    }
    // What follows could be meant, and is not left out.
    for rest in ["/é 0.txt", "! :(oai_dc)", " :(oai_dc)", " and more", "/é\" 0.txt"] {
        let wrong = resolve(&world, &[&format!("http://urlib.net/{}{rest}", name(0))]);
        assert!(wrong.code == 1 && wrong.stdout.is_empty(), "{rest}: {}", wrong.stdout);
    }
    let wrong = resolve(&world, &[&format!("http://urlib.net/{}!!", name(0))]);
    assert!(wrong.code == 1 && wrong.stderr.contains("cannot follow"), "{}", wrong.stderr);
}

/// The setting goes before the locale, and `LANGUAGE` before the rest of the locale.
#[test]
fn the_language_is_that_of_the_setting_or_of_the_locale() {
    let world = family();
    let url = format!("{}+", name(0));
    let with = |variable: &str, value: &str, more: &[&str]| {
        let line = ["-c", "a", "resolve", "--with", "b", &url];
        let ran = run_with(&world, variable, value, &[&line[..], more].concat());
        ran.succeeded().contains(&name(2))
    };
    assert!(with("LC_ALL", "pt_BR.UTF-8", &[]));
    assert!(!with("LC_ALL", "de_DE.UTF-8", &[]));
    assert!(!with("LC_ALL", "C", &[]));
    assert!(!with("UREPO_LANGUAGES", "en", &[]));
    assert!(with("UREPO_LANGUAGES", "de,pt;q=0.1", &[]));
}

#[test]
fn a_description_is_the_sidecar_and_its_text() {
    let world = World::with_collection();
    world.write("a.txt", "alpha");
    let name = world.run("-c archive new a.txt --title Alpha --language en").line();
    let one = |arguments: &[&str]| {
        world.run_args([&["-c", "archive", "resolve"], arguments].concat()).succeeded().to_owned()
    };
    let url = format!("{name}:");
    assert_eq!(one(&[&url]), format!("[WORLD]/archive/{name}/item.toml\n"));
    let text = world.run(&format!("-c archive cat {url}"));
    assert_eq!(text.succeeded(), "language = \"en\"\ntitle = \"Alpha\"\n");
    assert!(one(&[&format!("{name}:(bibtex)")]).contains("title = {{Alpha}}"));
}

#[test]
fn a_record_says_what_was_found() {
    let world = family();
    let url = format!("http://urlib.net/{}!?ibiurl.verblist=GetMetadata(oai_dc)", name(0));
    let ran = resolve(&world, &["--json", &url]);
    let record: serde_json::Value = serde_json::from_str(ran.succeeded()).unwrap();
    for (key, value) in [
        ("type", "resolved".to_owned()),
        ("persistent", format!("http://urlib.net/{}!:(oai_dc)", name(0))),
        ("id", name(1)),
        ("content", "metadata".to_owned()),
        ("target", "rendered".to_owned()),
        ("format", "oai_dc".to_owned()),
        ("state", "Original".to_owned()),
        ("standing", "original".to_owned()),
        ("path", format!("{}/item.toml", path(1, "b"))),
    ] {
        assert_eq!(record[key], json!(value), "{key}");
    }
    assert!(record["rendered"].as_str().unwrap().contains("<oai_dc:dc"));
    let ran = resolve(&world, &["--json", &format!("{}?ibiurl.verblist=GetFileList", name(0))]);
    let record: serde_json::Value = serde_json::from_str(ran.succeeded()).unwrap();
    assert_eq!(
        (&record["target"], &record["files"]),
        (&json!("files"), &json!([{ "path": "é 0.txt" }]))
    );
}

#[test]
fn a_file_is_opened_by_the_desktop() {
    use std::os::unix::fs::PermissionsExt;
    let world = family();
    let open = |url: &str| {
        let bin = world.path("bin").display().to_string();
        run_with(&world, "PATH", &bin, &["-c", "a", "open", url])
    };
    let ran = open(&name(0));
    assert_eq!(ran.code, 1);
    assert!(ran.stderr.contains("cannot start `xdg-open`"), "{}", ran.stderr);
    let script = world.write("bin/xdg-open", "#!/bin/sh\nprintf %s \"$1\" > opened\n");
    std::fs::set_permissions(script, std::fs::Permissions::from_mode(0o755)).unwrap();
    assert_eq!(open(&name(0)).succeeded(), "");
    let opened = std::fs::read_to_string(world.path("opened")).unwrap();
    assert_eq!(opened, world.path("a").join(name(0)).join("doc/é 0.txt").display().to_string());
    let ran = open(&format!("{}:(oai_dc)", name(0)));
    assert_eq!((ran.code, ran.stdout.as_str()), (1, ""));
    assert!(ran.stderr.contains("is not a file"), "{}", ran.stderr);
}

/// A stub answers nothing: the item is not here, and is not deleted either.
#[test]
fn an_item_that_migrated_is_not_here() {
    let world = World::with_collection();
    world.run("init mirror --host mirror.example.org").succeeded();
    world.write("a.txt", "alpha");
    let name = world.run("-c archive new a.txt").line();
    world.run(&format!("-c archive migrate {name} --to mirror")).succeeded();
    let ran = world.run(&format!("-c archive resolve {name}"));
    assert_eq!(ran.code, 21, "{}", ran.stderr);
    assert!(!ran.stderr.contains("deleted"), "{}", ran.stderr);
    let found = world.run(&format!("-c archive resolve --with mirror {name}"));
    assert_eq!(found.line(), format!("[WORLD]/mirror/{name}/doc/a.txt"));
}

#[test]
fn two_originals_are_a_warning_unless_the_original_is_wanted() {
    let world = family();
    put(&world.path("b"), &name(0), &"title = 'other'".parse().unwrap());
    let ran = resolve(&world, &[&name(0)]);
    assert!(ran.succeeded().contains(&name(0)), "{}", ran.stdout);
    assert!(ran.stderr.contains("has two Originals"), "{}", ran.stderr);
    for arguments in [
        vec!["--original".to_owned(), name(0)],
        vec![format!("{}?ibiurl.requireditemstatus=original", name(0))],
    ] {
        let arguments: Vec<_> = arguments.iter().map(String::as_str).collect();
        let ran = resolve(&world, &arguments);
        assert_eq!((ran.code, ran.stdout.as_str()), (23, ""), "{}", ran.stderr);
        assert_eq!(ran.stderr.matches("has two Originals").count(), 1, "{}", ran.stderr);
    }
}

/// Examples 9.3, 10.1 and 10.2 letter by letter, from collections on the disk.
#[test]
fn the_pairs_are_those_of_the_standard() {
    let fixture = concat!(env!("CARGO_MANIFEST_DIR"), "/fixtures/vectors/archive.toml");
    let archives = crate::identity::tables(&crate::identity::read(fixture), "archive");
    let world = family();
    for (archive, root) in archives.iter().zip(ROOTS) {
        for row in archive["item"].as_array().unwrap() {
            let row = row.as_table().unwrap();
            put(&world.path(root), row["name"].as_str().unwrap(), row);
        }
    }
    for row in crate::identity::resolution("answer") {
        let text = |key: &str| crate::identity::text(&row, key);
        let at = usize::try_from(row["archive"].as_integer().unwrap()).unwrap();
        let archive = |key: &str| crate::identity::text(&archives[at], key).to_owned();
        let verbs = text("verbs").replace(' ', "+");
        let url = format!("{}?ibiurl.verblist={verbs}", text("ibi"));
        let settings = format!("{}/urepo.toml", ROOTS[at]);
        let before = std::fs::read_to_string(world.path(&settings)).unwrap();
        let (address, service) = (archive("address"), archive("service"));
        world.write(
            &settings,
            format!("{before}\n[archive]\naddress = \"{address}\"\nservice = \"{service}\"\n"),
        );
        let url = format!("{url}&urlkey={}", text("urlkey"));
        let ran = world.run_args(["-c", ROOTS[at], "resolve", "--pairs", &url]);
        world.write(&settings, before);
        // A collection does not say by which software it was served.
        let software = |line: &str| match line.split_once(' ') {
            Some(("ibi.platformsoftware", _)) => "ibi.platformsoftware {}".to_owned(),
            _ => line.to_owned(),
        };
        let lines: Vec<_> = text("lines").lines().map(software).collect();
        assert_eq!(ran.succeeded(), format!("{}\n", lines.join("\n")), "{row:?}");
    }
}

#[test]
fn each_collection_answers_with_paths_where_it_has_no_address() {
    let world = family();
    std::fs::create_dir_all(world.path("b").join(name(0)).join("doc")).unwrap();
    put(&world.path("b"), &name(0), &"state = 'Copy'".parse().unwrap());
    let ran = resolve(&world, &["--pairs", &name(0)]);
    let answers: Vec<_> = ran.succeeded().split("\n\n").collect();
    assert_eq!(answers.len(), 2, "{}", ran.stdout);
    assert!(answers[0].starts_with("archiveaddress file:[WORLD]/a\ncontenttype Data\n"));
    assert!(
        answers[0].contains("\nibi.archiveservice {}\nibi.platformsoftware {}\nstate Original\n")
    );
    assert!(answers[0].ends_with(&format!("url {}/doc/%C3%A9%200.txt", path(0, "a"))));
    assert!(answers[1].contains("\nstate Copy\n"), "{}", answers[1]);
    // Metadata of an item without a metadata item is its sidecar, without an identifier.
    let ran = resolve(&world, &["--pairs", &format!("{}:(oai_dc)", name(24))]);
    assert!(ran.succeeded().contains("contenttype.metadata(oai_dc) Metadata\n"), "{}", ran.stdout);
    assert!(!ran.stdout.contains("ibi.metadata"), "{}", ran.stdout);
    // By default every language that there is, and the metadata of each.
    let all = resolve(&world, &["--pairs", "-v", &name(0)]);
    let pairs = ["contenttype", "contenttype.translation(en)", "ibi.translation(en).metadata"];
    for pair in pairs {
        assert!(all.succeeded().contains(&format!("\n{pair} ")), "{pair}: {}", all.stdout);
    }
    // A metadata item that is elsewhere is a pointer. The sidecar here stands in its place, and has no state.
    let answers: Vec<_> = all.stdout.split("\n\n").collect();
    assert!(answers[0].contains("\nibi.metadata {"), "{}", answers[0]);
    let url = format!("\nurl.metadata {}/item.toml", path(0, "a"));
    assert!(answers[0].contains(&url), "{}", answers[0]);
    assert!(!answers[0].contains("\nstate.metadata "), "{}", answers[0]);
    assert!(!all.stdout.contains("urlkey"));
    let json = resolve(&world, &["--pairs", "--json", &name(0)]);
    let record: serde_json::Value =
        serde_json::from_str(json.succeeded().lines().next().unwrap()).unwrap();
    assert_eq!(
        (&record["type"], &record["pairs"]["state"]),
        (&json!("resolved"), &json!("Original"))
    );
    assert_eq!(resolve(&world, &["--pairs", "example.org/x/2027/01.01.00.00"]).code, 21);
}

/// A repository name needs no index, and none is built.
#[test]
fn no_index_is_opened_or_built() {
    let world = family();
    resolve(&world, &[&format!("{}!+(pt):", name(0))]).succeeded();
    assert!(!world.path(".cache/urepo").exists());
}

/// Another archive may have a Copy of it, which a resolver finds by its identifier.
#[test]
fn a_metadata_item_that_was_deleted_is_a_pointer() {
    let world = World::with_collection();
    world.write("item", "1");
    world.write("about", "2");
    let [item, about] =
        ["item", "about"].map(|file| world.run(&format!("-c archive new {file}")).line());
    world.run(&format!("-c archive meta set {item} metadata={about}")).succeeded();
    let pairs = || world.run(&format!("-c archive resolve --pairs {item}:")).succeeded().to_owned();
    assert!(pairs().contains("\nurl.metadata "), "{}", pairs());
    world.run(&format!("-c archive delete --force last {about}")).succeeded();
    let pairs = pairs();
    assert!(pairs.contains(&format!("ibi.metadata {{rep {about}}}")), "{pairs}");
    assert!(pairs.contains(&format!("\nurl.metadata [WORLD]/archive/{item}/item.toml")), "{pairs}");
    for property in ["state", "timestamp"] {
        assert!(!pairs.contains(&format!("{property}.metadata")), "{property}: {pairs}");
    }
}
