//! What others than urepo have done is noticed.

use std::fs;
use std::path::{Path, PathBuf};

use urepo::catalog::RefreshDepth;
use urepo::index::Query;
use urepo::item::State;

use super::support::{agrees, agrees_after, catalog, copy_tree, found, names, settle, with_index};
use crate::support::{World, change_item};

/// A collection with an index, its root, and the names of its three items.
fn world() -> (World, PathBuf, Vec<String>) {
    let world = World::with_collection();
    let root = world.path("archive");
    let mut names = Vec::new();
    for title in ["First report", "Second report", "A table"] {
        let source = world.write("source/data.txt", title);
        let source = source.to_str().unwrap();
        names.push(world.run_args(["-c", "archive", "new", source, "--title", title]).line());
    }
    with_index(&root);
    agrees(&root);
    (world, root, names)
}

/// The item `name` as if it were of another date: its sidecar says so too.
fn copy_as(root: &Path, name: &str, other: &str) {
    copy_tree(&root.join(name), &root.join(other));
    let sidecar = root.join(other).join("item.toml");
    let text = fs::read_to_string(&sidecar).unwrap();
    let other = other.to_lowercase();
    fs::write(sidecar, text.replace(name, &other)).unwrap();
}

#[test]
fn items_that_come_and_go() {
    let (_world, root, items) = world();
    copy_as(&root, &items[0], "example.org/archive/2020/01.02.03.04");
    agrees(&root);
    copy_as(&root, &items[0], "example.org/archive/2020/01.02.03.05");
    agrees(&root);
    fs::remove_dir_all(root.join(&items[1])).unwrap();
    agrees(&root);
    fs::remove_dir_all(root.join("example.org/archive/2020")).unwrap();
    let news = agrees_after(&root, RefreshDepth::Directories, "a year that is gone");
    assert_eq!(news.read, 0);
    // An empty directory is an item that cannot be read.
    fs::create_dir_all(root.join("example.org/archive/2020/01.02.03.04")).unwrap();
    fs::create_dir_all(root.join("example.org/archive/2020/no-name")).unwrap();
    agrees(&root);
}

#[test]
fn directories_that_are_moved() {
    let (_world, root, items) = world();
    copy_as(&root, &items[0], "example.org/archive/2020/01.02.03.04");
    agrees(&root);
    let mv = |from: &str, to: &str| {
        fs::create_dir_all(root.join(to).parent().unwrap()).unwrap();
        fs::rename(root.join(from), root.join(to)).unwrap();
        agrees(&root);
    };
    // Items whose sidecars say another name.
    mv("example.org/archive/2020/01.02.03.04", "example.org/archive/2020/01.02.03.05");
    mv("example.org/archive/2020", "example.org/archive/2021");
    mv("example.org/archive/2021", "example.org/archive/2020");
    mv("example.org/archive/2020/01.02.03.05", "example.org/archive/2020/01.02.03.04");
    mv("example.org/archive", "example.org/other");
    mv("example.org/other", "elsewhere.org/archive");
    mv("elsewhere.org/archive", "example.org/archive");
}

#[test]
fn prefixes_in_another_case() {
    let (world, root, items) = world();
    for spelling in ["Example.ORG", "example.org", "Example.ORG.", "example.org."] {
        let before = fs::read_dir(&root).unwrap().map(|entry| entry.unwrap().file_name());
        let before = before.into_iter().find(|it| it.to_string_lossy().starts_with(['e', 'E']));
        fs::rename(root.join(before.unwrap()), root.join(spelling)).unwrap();
        agrees(&root);
        let prefix = Some("EXAMPLE.org/Archive".parse().unwrap());
        let found = catalog(&root, RefreshDepth::Directories, |it| {
            names(it, &Query::default().prefix(prefix))
        });
        assert_eq!(found.len(), items.len(), "{spelling}");
        let last = items[2].replace("example.org", spelling);
        change_in_place(&root, &last, "table", "chart");
        let query = Query::default().text("a -report").unwrap();
        let told = catalog(&root, RefreshDepth::Directories, |catalog| {
            super::support::found(catalog, &query)
        });
        assert_eq!(told.len(), 1, "{spelling}: {told:?}");
        change_in_place(&root, &last, "chart", "table");
        catalog(&root, RefreshDepth::Sidecars, |_| ());
    }
    world.write("b.txt", "b");
    world.run("-c archive new b.txt").line();
    agrees(&root);
}

/// The item is edited by hand: the seal is broken, and the file stays the same one.
fn change_in_place(root: &Path, name: &str, from: &str, to: &str) {
    let year = name.rsplit_once('/').unwrap().0;
    let year = fs::read_dir(root.join(year)).unwrap().map(|entry| entry.unwrap().path());
    let leaf = name.rsplit_once('/').unwrap().1;
    let item = year.into_iter().find(|path| path.ends_with(leaf)).unwrap().join("item.toml");
    let text = fs::read_to_string(&item).unwrap();
    assert!(text.contains(from), "{text}");
    fs::write(item, text.replace(from, to)).unwrap();
    settle(root);
}

#[test]
fn a_sidecar_that_is_edited_in_place() {
    let (_world, root, items) = world();
    change_in_place(&root, &items[0], "First report", "First essay");
    let ask = |look, text: &str| {
        let query = Query::default().text(text).unwrap();
        catalog(&root, look, |catalog| found(catalog, &query))
    };
    // Nobody has told the index, and no directory has changed.
    assert_eq!(ask(RefreshDepth::Directories, "essay"), []);
    assert_eq!(ask(RefreshDepth::Directories, "table").len(), 1);
    // But what would be wrong is not said.
    let told: Vec<_> = ask(RefreshDepth::Directories, "report")
        .into_iter()
        .map(|it| it.name.to_string())
        .collect();
    assert_eq!(told, items[1..2]);
    assert_eq!(ask(RefreshDepth::Directories, "essay")[0].title.as_deref(), Some("First essay"));
    agrees(&root);
    change_in_place(&root, &items[1], "Second report", "Second essay");
    let query = Query::default().state(Some(State::Original));
    let told = catalog(&root, RefreshDepth::Directories, |catalog| found(catalog, &query));
    let mut titles: Vec<_> = told.iter().filter_map(|it| it.title.as_deref()).collect();
    titles.sort_unstable();
    assert_eq!(titles, ["A table", "First essay", "Second essay"]);
    change_item(&root, &items[2], |sidecar| sidecar.state = State::Copy);
    settle(&root);
    let news = agrees_after(&root, RefreshDepth::Sidecars, "a full look");
    assert_eq!((news.built, news.read), (false, 1));
    agrees(&root);
}

/// Files and links are not in what the description says, nor all of them in the digest of the payload.
#[test]
fn the_files_of_a_sidecar_that_is_edited_in_place() {
    let (_world, root, items) = world();
    change_in_place(&root, &items[0], "path = \"data.txt\"", "path = \"gone.txt\"");
    agrees_after(&root, RefreshDepth::Sidecars, "a file of another name");
    change_item(&root, &items[1], |sidecar| {
        sidecar.created = "1999-12-31T00:00:00Z".parse().unwrap();
    });
    agrees_after(&root, RefreshDepth::Sidecars, "a date that is not that of the name");
    let since = "2000-01-01T00:00:00Z".parse().unwrap();
    let query = Query::default().named(Some(since), None);
    assert_eq!(catalog(&root, RefreshDepth::Directories, |it| names(it, &query)).len(), 3);
}

/// It has its name and its place, and is another one.
#[test]
fn an_item_that_is_replaced() {
    let (world, root, items) = world();
    let aside = world.path("aside");
    copy_tree(&root.join(&items[0]), &aside);
    world.run(&format!("-c archive delete --force last {}", items[0])).succeeded();
    agrees(&root);
    fs::remove_dir_all(root.join(&items[0])).unwrap();
    copy_tree(&aside, &root.join(&items[0]));
    agrees(&root);
}

#[test]
fn a_collection_that_is_copied_with_its_index() {
    let (world, root, items) = world();
    // The index of before, and what has been changed since.
    copy_tree(&root.join(".urepo"), &world.path("copied/.urepo"));
    world.run(&format!("-c archive delete --force last {}", items[0])).succeeded();
    for name in ["example.org", "urepo.toml"] {
        copy_tree(&root.join(name), &world.path("copied").join(name));
    }
    agrees(&world.path("copied"));
    agrees(&root);
}

/// As from a backup: items have been changed in place since.
#[test]
fn an_old_index_that_is_put_back() {
    let (world, root, items) = world();
    let index = root.join(".urepo/index.sqlite");
    let old = world.path("old.sqlite");
    fs::copy(&index, &old).unwrap();
    // The log belongs to the index.
    let log = root.join(".urepo/index.sqlite-wal");
    let old_log = world.path("old.sqlite-wal");
    fs::copy(&log, &old_log).unwrap();
    world.run(&format!("-c archive delete --force last {}", items[0])).succeeded();
    agrees(&root);
    for path in [&index, &log] {
        fs::remove_file(path).unwrap();
    }
    fs::copy(old, index).unwrap();
    fs::copy(old_log, log).unwrap();
    agrees(&root);
}
