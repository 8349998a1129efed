//! The file of the index: gone, damaged, another's, hostile. It costs time, and nothing else.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use rusqlite::Connection;
use urepo::catalog::RefreshDepth;
use urepo::clock::SystemClock;
use urepo::index::Query;

use super::support::{agrees, agrees_after, copy_tree, open, settle, try_catalog, with_index};
use crate::support::{World, deposit, make_collection, options, request, tree};

/// A collection with an index that has been changed in place since, so that an older one is wrong.
fn world() -> (World, PathBuf) {
    let world = World::new();
    let root = world.path("archive");
    let collection = make_collection(&root);
    let requests = [("a.txt", "First"), ("c.txt", "Second")].map(|(file, title)| {
        let mut request = request(world.write(file, title));
        request.metadata.set("title", &[title]).unwrap();
        request
    });
    let (outcomes, _) =
        deposit(&collection, requests.into(), options(), &SystemClock, |_| ()).unwrap();
    with_index(&root);
    let first = &outcomes[0].result.as_ref().unwrap().label.name;
    world.run(&format!("-c archive delete --force last {first}")).succeeded();
    settle(&root);
    (world, root)
}

fn index(root: &Path, ending: &str) -> PathBuf {
    root.join(format!(".urepo/index.sqlite{ending}"))
}

/// Spoils the index: what is found is right all the same, and changes are made as ever.
fn spoil(how: impl Fn(&Path)) {
    // Who asks first after that, or changes something first.
    for asks_first in [true, false] {
        let (world, root) = world();
        how(&root);
        settle(&root);
        if asks_first {
            agrees(&root);
        }
        world.write("b.txt", "new");
        let name = world.run("-c archive new b.txt").line();
        world.run(&format!("-c archive delete --force last {name}")).succeeded();
        agrees(&root);
    }
}

#[test]
fn removed() {
    spoil(|root| fs::remove_file(index(root, "")).unwrap());
    spoil(|root| fs::remove_file(index(root, "-wal")).unwrap());
    spoil(|root| fs::remove_file(index(root, "-shm")).unwrap());
    spoil(|root| {
        for ending in ["-wal", "-shm", ""] {
            fs::remove_file(index(root, ending)).unwrap();
        }
    });
}

/// The last program to close a database removes its log. What changed meanwhile may have been in that log.
#[test]
fn closed_by_another_program() {
    let (world, root) = world();
    let close = || {
        let connection = Connection::open(index(&root, "")).unwrap();
        connection.query_row("SELECT count(*) FROM item", (), |_| Ok(())).unwrap();
        connection.close().unwrap();
        assert!(!index(&root, "-wal").exists(), "the log is removed");
    };
    close();
    assert!(!agrees_after(&root, RefreshDepth::Directories, "closed").built);
    let old = fs::read(index(&root, "")).unwrap();
    let hit = world.run("-c archive find second").line();
    let name = hit.split_whitespace().next().unwrap();
    world.run(&format!("-c archive delete --force last {name}")).succeeded();
    close();
    fs::write(index(&root, ""), old).unwrap();
    let report = agrees_after(&root, RefreshDepth::Directories, "the log was removed");
    assert_eq!((report.built, report.read), (false, 1));
}

#[test]
fn truncated_or_garbage() {
    for length in [0, 10, 100, 4096, 10_000] {
        spoil(|root| {
            let file = fs::OpenOptions::new().write(true).open(index(root, "")).unwrap();
            file.set_len(length).unwrap();
        });
    }
    spoil(|root| fs::write(index(root, ""), vec![0x5a; 20_000]).unwrap());
    for bytes in [vec![], vec![0x5a; 20_000]] {
        spoil(|root| fs::write(index(root, "-wal"), &bytes).unwrap());
        spoil(|root| fs::write(index(root, "-shm"), &bytes).unwrap());
    }
}

/// What is damaged in the middle can not always be told. Nothing breaks, and it can be made anew.
#[test]
fn damaged_in_the_middle() {
    let (world, root) = world();
    drop(Connection::open(index(&root, "")).unwrap().query_row(
        "PRAGMA wal_checkpoint(TRUNCATE)",
        (),
        |_| Ok(()),
    ));
    let whole = fs::read(index(&root, "")).unwrap();
    for at in (0..whole.len()).step_by(whole.len() / 60) {
        let mut bytes = whole.clone();
        bytes[at..].iter_mut().take(90).for_each(|byte| *byte = byte.wrapping_mul(31) ^ 0xa5);
        fs::write(index(&root, ""), bytes).unwrap();
        let _ = fs::remove_file(index(&root, "-wal"));
        let _ = fs::remove_file(index(&root, "-shm"));
        let _ = try_catalog(&open(&root), RefreshDepth::Directories, |catalog| {
            let query = Query::default().text("second").unwrap().file("*.txt");
            let _ = catalog.counts(None);
            let _ = catalog.find(&query, |_| Ok(std::ops::ControlFlow::Continue(())));
        });
        world.write("b.txt", at.to_string());
        world.run("-c archive new b.txt").line();
    }
    agrees_after(&root, RefreshDepth::Rebuild, "made anew");
    agrees(&root);
}

/// Something else is where the index, its log or its locks should be. Nothing is written through a
/// link, nothing waits for a pipe.
#[test]
fn something_else_in_its_place() {
    let files = ["index.sqlite", "index.sqlite-wal", "index.sqlite-shm", "index.sqlite-journal"];
    for name in files.into_iter().chain(["index.stale", "index.making", "index.sqlite.new"]) {
        let put = |root: &Path, make: &dyn Fn(&Path)| {
            let path = root.join(".urepo").join(name);
            let _ = fs::remove_file(&path);
            make(&path);
        };
        spoil(|root| put(root, &|path| fs::create_dir(path).unwrap()));
        spoil(|root| {
            put(root, &|path| {
                fs::create_dir(path).unwrap();
                fs::write(path.join("full"), "").unwrap();
            });
        });
        spoil(|root| put(root, &|path| symlink("/nowhere/at/all", path).unwrap()));
        spoil(|root| {
            put(root, &|path| {
                let mode = rustix::fs::Mode::from_raw_mode(0o600);
                let kind = rustix::fs::FileType::Fifo;
                rustix::fs::mknodat(rustix::fs::CWD, path, kind, mode, 0).unwrap();
            });
        });
        spoil(|root| {
            let outside = root.with_file_name("outside");
            fs::create_dir_all(&outside).unwrap();
            let target = outside.join(name);
            let path = root.join(".urepo").join(name);
            if path.exists() {
                fs::copy(&path, &target).unwrap();
            } else {
                fs::write(&target, "precious").unwrap();
            }
            let before = fs::read(&target).unwrap();
            put(root, &|path| symlink(&target, path).unwrap());
            agrees(root);
            assert!(fs::read(&target).unwrap() == before, "{name} was written through");
            assert_eq!(tree(&outside).len(), 1, "{:?}", tree(&outside));
            fs::remove_dir_all(&outside).unwrap();
        });
    }
}

#[test]
fn a_lock_that_is_something_else() {
    let (world, root) = world();
    let lock = root.join(".urepo/index.lock");
    fs::remove_file(&lock).unwrap();
    symlink("/nowhere/at/all", &lock).unwrap();
    world.run("-c archive new a.txt").line();
    let news = agrees_after(&root, RefreshDepth::Directories, "a link");
    assert!(news.temporary);
    fs::remove_file(&lock).unwrap();
    agrees(&root);
}

#[test]
fn of_another_collection_or_version() {
    spoil(|root| {
        let other = root.with_file_name("other");
        let _ = fs::remove_dir_all(&other);
        make_collection(&other);
        with_index(&other);
        for ending in ["", "-wal", "-shm"] {
            copy_tree(&index(&other, ending), &index(root, ending));
        }
    });
    for change in [
        "PRAGMA user_version = 99",
        "PRAGMA application_id = 7",
        "DELETE FROM about",
        "INSERT INTO about (collection) VALUES ('another')",
        "DROP TABLE item",
        "DROP TABLE words",
        "ALTER TABLE file RENAME COLUMN path TO other",
    ] {
        spoil(|root| sql(root, change));
    }
}

fn sql(root: &Path, text: &str) {
    Connection::open(index(root, "")).unwrap().execute_batch(text).unwrap();
}

/// An index that was made to do harm: to hang, to run, to lie about what it can not know.
#[test]
fn hostile() {
    let endless = "WITH RECURSIVE t(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM t)
                   SELECT count(*) FROM t";
    for event in ["INSERT ON pending", "DELETE ON pending", "INSERT ON item", "UPDATE ON item"] {
        let trigger = format!("CREATE TRIGGER hang AFTER {event} BEGIN {endless}; END");
        spoil(|root| sql(root, &trigger));
    }
    spoil(|root| {
        sql(root, &format!("ALTER TABLE item RENAME TO other; CREATE VIEW item AS {endless}"));
    });
    spoil(|root| {
        sql(
            root,
            "INSERT INTO pending VALUES ('', ''), ('../../etc', '..'), ('a/b/c/d', '/'),
             ('example.org/archive/2026/01.01.00.00', 'x'), ('\\', 'y/../..')",
        );
    });
    spoil(|root| {
        sql(
            root,
            "INSERT INTO directory (path, folded, complete) VALUES ('..', '..', 1),
             ('../../../etc/x', '../../../etc/x', 1), ('/etc', '/etc', 1), ('a//b', 'a//b', 1),
             ('.urepo', '.urepo', 1), ('example.org/archive/1999', 'example.org/archive/1999', 1)",
        );
    });
    spoil(|root| {
        sql(
            root,
            "INSERT INTO item (directory, leaf, created, files, bytes, metadata, search_keys_hash)
             SELECT id, '../../../../x', -1, -1, 9223372036854775807, '{', 0 FROM directory;
             UPDATE directory SET version = NULL",
        );
    });
    spoil(|root| {
        sql(
            root,
            "DROP TABLE directory;
             CREATE TABLE directory (id INTEGER PRIMARY KEY, path, folded, version, complete);
             INSERT INTO directory VALUES (1, 7, x'00', 'version', 'complete'), (2, NULL, NULL, NULL, NULL)",
        );
    });
}
