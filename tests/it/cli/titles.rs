//! Titles of items that are given none, and where items come from.

use super::records;
use crate::support::World;

fn titles(world: &World) -> Vec<String> {
    let ran = world.run("--json -c archive list --long");
    let mut titles: Vec<_> = records(&ran)
        .iter()
        .filter(|record| record["type"] == "item")
        .map(|record| record["metadata"]["title"].as_str().unwrap_or("-").to_owned())
        .collect();
    titles.sort();
    titles
}

#[test]
fn are_the_names_of_their_sources() {
    let world = World::with_collection();
    for path in ["2024 - Natal/1.jpg", "in/ata.pdf", "in/fotos/2.jpg", "b.txt", "c.txt"] {
        world.write(path, path);
    }
    let new = |paths: &[&str]| {
        let args = ["-c", "archive", "new"].iter().chain(paths);
        let ran = world.finish(world.command(args.copied()));
        assert_eq!(ran.code, 0, "{}", ran.stderr);
    };
    new(&["2024 - Natal/"]);
    new(&["--title=", "b.txt"]);
    new(&["--title", "Carta", "b.txt"]);
    new(&["b.txt", "c.txt"]);
    let mut inside = world.command(["-c", "../archive", "new", "."]);
    inside.current_dir(world.path("in"));
    assert_eq!(world.finish(inside).code, 0);
    assert_eq!(titles(&world), ["-", "-", "2024 - Natal", "Carta", "in"]);
    world.write("list.csv", "path,title\nb.txt,Row\nc.txt,\n");
    assert_eq!(world.run("-c archive import list.csv").code, 0);
    assert_eq!(world.run("-c archive import in").code, 0);
    assert_eq!(world.run("-c archive new --title= in/fotos").code, 0);
    let all = ["-", "-", "-", "2024 - Natal", "Carta", "Row", "ata.pdf", "c.txt", "fotos", "in"];
    assert_eq!(titles(&world), all);
}

#[test]
fn have_escapes_for_what_no_text_has() {
    let world = World::with_collection();
    for name in ["a\u{1b}[2J.txt", "b\u{9b}\u{1}", "c\nd"] {
        world.write(name, name);
        assert_eq!(world.run_args(["-c", "archive", "new", name]).code, 0);
    }
    assert_eq!(titles(&world), [r"a\x1b[2J.txt", r"b\xc2\x9b\x01", "c\nd"]);
}

#[test]
fn of_standard_input_are_names_that_were_given() {
    let world = World::with_collection();
    let ran = super::run_with_input(&world, "-c archive new -", b"1");
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    super::run_with_input(&world, "-c archive new - --stdin-name b.sql", b"2");
    assert_eq!(titles(&world), ["-", "b.sql"]);
}

#[test]
fn sources_are_absolute_and_searched() {
    let world = World::with_collection();
    world.write("Álbuns/2024 - Natal/1.jpg", "1");
    let mut relative = world.command(["-c", "../archive", "new", "../Álbuns/2024 - Natal"]);
    relative.current_dir(world.path("Álbuns"));
    let name = world.finish(relative).line();
    let record = &records(&world.run(&format!("--json -c archive show {name}")))[0];
    let source = record["origin"]["source"].as_str().unwrap();
    assert_eq!(source, "[WORLD]/Álbuns/2024 - Natal");
    let find = |text: &str| {
        let ran = world.run_args(["-q", "-c", "archive", "list", &format!("origin:{text}")]);
        (ran.code, ran.stdout.starts_with(&name))
    };
    assert_eq!(find("natal"), (0, true));
    assert_eq!(find("álbuns/2024"), (0, true));
    assert_eq!(find("2025"), (21, false));
    // A sidecar that is edited by hand is no wrong hit, and found once the index is rebuilt.
    crate::support::change_item(&world.path("archive"), &name, |sidecar| {
        sidecar.origin.insert("source".to_owned(), "/elsewhere/2025".into());
    });
    assert_eq!((find("2025"), find("natal")), ((21, false), (21, false)));
    world.run("-c archive recover --index").succeeded();
    assert_eq!((find("2025"), find("natal")), ((0, true), (21, false)));
}
