//! Items that stay in their collection, and items that not everybody reads.

use super::*;
use crate::support::World;

fn sidecar(world: &World, root: &str, name: &str) -> Sidecar {
    let text = fs::read(world.path(root).join(name).join("item.toml")).unwrap();
    let (sidecar, seal) = Sidecar::read(&text).unwrap();
    assert_eq!(seal, Seal::Intact);
    sidecar
}

#[test]
fn conditions_are_given_at_the_deposit_and_travel() {
    let world = World::with_collection();
    world.run("init mirror --host mirror.example.org").succeeded();
    world.write("a.txt", "alpha");
    let line = "-c archive new a.txt -m transferable=false -m access=closed -m access.allow=192.0.2.0/24 -m access.allow=2001:db8::1";
    let name = world.run(line).line();
    let original = sidecar(&world, "archive", &name);
    let allowed: Vec<_> = original.access.allow.iter().map(ToString::to_string).collect();
    assert_eq!(allowed, ["192.0.2.0/24", "2001:db8::1/128"]);
    assert_eq!(
        (original.transferable, original.access.level.to_string().as_str()),
        (false, "closed")
    );
    world.run("-c archive copy --all --to mirror").succeeded();
    let copy = sidecar(&world, "mirror", &name);
    assert_eq!((copy.transferable, &copy.access), (false, &original.access));
    world.run("verify archive mirror").succeeded();
    let shown = world.run(&format!("-c mirror show {name}"));
    assert!(
        shown.succeeded().contains("closed; open to 192.0.2.0/24, 2001:db8::1/128"),
        "{}",
        shown.stdout
    );
    assert_eq!(world.run(&format!("-c archive migrate {name} --to mirror")).code, 23);
    // The Copy is behind when they change.
    world.run(&format!("-c archive meta set {name} transferable=true access=metadata")).succeeded();
    world.run(&format!("-c archive meta set {name} access.allow-=192.0.2.0/24")).succeeded();
    world.run("-c mirror copy --all --from archive").succeeded();
    let copy = sidecar(&world, "mirror", &name);
    let level = copy.access.level_at("192.0.2.7".parse().ok());
    assert_eq!((copy.transferable, level.to_string().as_str()), (true, "metadata"));
    world.run(&format!("-c archive migrate {name} --to mirror")).succeeded();
}

#[test]
fn a_manifest_gives_them() {
    let world = World::with_collection();
    world.write("a.txt", "alpha");
    world.write("b.txt", "beta");
    world.write(
        "list.csv",
        "path,transferable,access,access.allow\na.txt,false,closed,192.0.2.0/24\nb.txt,,,\n",
    );
    world.run("-c archive import list.csv").succeeded();
    let archive = Collection::open(&world.path("archive"), &Watcher::default()).unwrap();
    let [a, b] = &whole_items(&archive)[..] else { panic!("two items") };
    let [a, b] = [a, b].map(|name| sidecar(&world, "archive", name));
    let (a, b) = if a.transferable { (b, a) } else { (a, b) };
    assert_eq!((a.access.level.to_string().as_str(), a.access.allow.len()), ("closed", 1));
    assert_eq!((b.transferable, b.access), (true, urepo::sidecar::Access::default()));
    for row in ["a.txt,perhaps,,", "a.txt,,secret,", "a.txt,,,192.0.2.1/24"] {
        world.write("list.csv", format!("path,transferable,access,access.allow\n{row}\n"));
        assert_ne!(world.run("-c archive import list.csv").code, 0, "{row}");
    }
}

#[test]
fn what_stays_in_its_collection_is_not_deleted_unawares() {
    let world = World::with_collection();
    world.write("a.txt", "alpha");
    let name = world.run("-c archive new a.txt --meta transferable=false").line();
    for more in ["", "--dry-run"] {
        let refused = world.run(&format!("-c archive delete {name} --force last {more}"));
        assert_eq!(refused.code, 23, "{}", refused.stderr);
        assert!(refused.stderr.contains("`--force permanent`"), "{}", refused.stderr);
    }
    assert_eq!(sidecar(&world, "archive", &name).state, State::Original);
    world.run(&format!("-c archive delete {name} --force last --force permanent")).succeeded();
    assert_eq!(sidecar(&world, "archive", &name).state, State::Deleted);
}

/// What is said of all items of an import holds, unless a row or nothing else says more.
#[test]
fn conditions_and_relations_of_all_items_of_an_import() {
    let world = World::with_collection();
    world.write("journal.txt", "journal");
    for file in ["in/a.txt", "in/b.txt", "c.txt", "d.txt"] {
        world.write(file, file);
    }
    world.write("list.csv", "path,access\nc.txt,\nd.txt,open\n");
    let journal = world.run("-c archive new journal.txt").line();
    let flags = format!(
        "-m access=closed -m access.allow=192.0.2.0/24 -m access.allow=2001:db8::1 -m transferable=false -m part_of={journal}"
    );
    for source in ["in", "list.csv"] {
        let ran = world.run(&format!("-c archive import {source} {flags}"));
        assert_eq!(ran.succeeded().lines().count(), 2, "{}", ran.stderr);
        for line in ran.stdout.lines() {
            let (name, path) = line.split_once('\t').unwrap();
            let found = sidecar(&world, "archive", name);
            let level = if path.ends_with("d.txt") { "open" } else { "closed" };
            assert_eq!(found.access.level.to_string(), level, "{path}");
            assert_eq!((found.access.allow.len(), found.transferable), (2, false), "{path}");
            let to: Vec<_> = found.relations.iter().map(|it| it.to.to_string()).collect();
            assert_eq!(to, [journal.as_str()], "{path}");
        }
    }
    for (flags, told) in [
        (format!("-m edition_of={journal}"), "a column `relation.edition_of`"),
        ("-m access=secret".to_owned(), "secret"),
        ("-m access=open -m access=closed".to_owned(), "given twice"),
        ("-m target=a.txt".to_owned(), "`--target FILE`"),
        ("-m access.until=2030".to_owned(), "is no condition"),
        ("-m translation.klingon=a".to_owned(), "is no relation"),
    ] {
        let ran = world.run(&format!("-c archive import in {flags}"));
        assert_eq!(ran.code, 2, "{flags}: {}", ran.stderr);
        assert!(ran.stderr.contains(told), "{flags}: {}", ran.stderr);
    }
    // A description that was printed describes another item.
    let line = format!("-c archive new c.txt -m Access=closed -m x.box=7 -m part_of={journal}");
    let first = world.run(&line).line();
    let printed = world.run(&format!("-c archive show {first} --as toml"));
    world.write("printed.toml", printed.succeeded());
    let second = world.run("-c archive new d.txt -m @printed.toml -m access=metadata").line();
    let [first, second] = [first, second].map(|name| sidecar(&world, "archive", &name));
    assert_eq!(first.access.level.to_string(), "closed");
    assert_eq!(second.access.level.to_string(), "metadata");
    assert_eq!(second.relations, first.relations);
    assert_eq!(second.metadata.values("x.box").unwrap(), ["7"]);
    assert_eq!(second.metadata.title(), Some("c.txt"));
    let ran = world.run(&format!("-c archive new --each c.txt d.txt --edition-of {journal}"));
    assert!(ran.code == 2 && ran.stderr.contains("`--each`"), "{}", ran.stderr);
}
