//! What is told when nothing is found, or there is no index to answer from.

use super::*;

/// A world with an item that has an index, and its name.
fn with_index() -> World {
    let (world, _) = world_with_item();
    // The item was deposited on a machine of the tests.
    world.run("-c archive recover --restored").succeeded();
    world.run("-c archive status --counts").succeeded();
    world
}

#[test]
fn questions_that_mean_nothing() {
    let world = with_index();
    refuses(&world, "-c archive find", 2).tells(str![[r#"
error: no search terms were given
hint: `urepo -c archive find WORD…` searches descriptions; `urepo -c archive list` lists all items

"#]]);
    refuses(&world, "-c archive find !!!", 2).tells(str![[r#"
error: no search terms were given
hint: `urepo -c archive find WORD…` searches descriptions; `urepo -c archive list` lists all items

"#]]);
    refuses_args(&world, ["-c", "archive", "find", "\"deep sea"], 2).tells(str![[r#"
error: the quotation `deep sea` has no end
hint: close it, or leave its mark out

"#]]);
    refuses(&world, "-c archive find rain -- -publisher:INPE", 2).tells(str![[r#"
error: `-` goes with words, not with the term `publisher`
hint: name the wanted value: `TERM:word`

"#]]);
    refuses(&world, "-c archive find --term colour=red", 2).tells(str![[r#"
error: `colour` is neither a Dublin Core term nor one of your own, such as `x.box`
hint: the terms are abstract, alternative, audience, bibliographicCitation, contributor, coverage, creator, date, description, format, identifier, issued, language, license, provenance, publisher, relation, rights, source, subject, title, type

"#]]);
    refuses(&world, "-c archive find --term title", 2).tells(str![[r#"
error: invalid value 'title' for '--term <TERM=TEXT>': expected TERM=TEXT, such as publisher=INPE

"#]]);
    refuses(&world, "-c archive find --sha256 12ab", 2).tells(str![[r#"
error: invalid value '12ab' for '--sha256 <DIGEST>': expected 64 hexadecimal digits

"#]]);
    refuses(&world, "-c archive find --content nowhere.txt", 1).tells(str![[r#"
error: cannot open `[WORLD]/nowhere.txt`
caused by: No such file or directory (os error 2)

"#]]);
    refuses(&world, "-c archive find --content archive", 1).tells(str![[r#"
error: cannot read `[WORLD]/archive`
caused by: Is a directory (os error 21)

"#]]);
}

#[test]
fn nothing_like_that() {
    let world = with_index();
    refuses(&world, "-c archive find rain", 21).tells(str![[r#"
error: no matching items
hint: words are searched in descriptions; `--file`, `--source` and `--content` search elsewhere

"#]]);
    refuses(&world, "-c archive find author:costa", 21).tells(str![[r#"
error: no matching items
hint: `author` is neither a Dublin Core term nor one of your own, such as `x.box`; did you mean `creator`? the terms are abstract, alternative, audience, bibliographicCitation, contributor, coverage, creator, date, description, format, identifier, issued, language, license, provenance, publisher, relation, rights, source, subject, title, type

"#]]);
    refuses(&world, "-c archive find date:1911..1912", 21).tells(str![[r#"
error: no matching items
hint: `date:` takes words, not a range; a `*` at the end matches any ending, as in `date:191*`

"#]]);
    refuses(&world, "-c archive find http://a.b/c", 21).tells(str![[r#"
error: no matching items
hint: words are searched in descriptions; `--file`, `--source` and `--content` search elsewhere

"#]]);
    refuses(&world, "-c archive find --prefix example.org/other", 21).tells(str![[r#"
error: no matching items
hint: an item has to match all of it; `urepo -c archive list` lists all items

"#]]);
    refuses(&world, "-c archive find rain --file rain.txt", 21).tells(str![[r#"
error: no matching items
hint: `--file` takes a whole name or path; in `--file '*.csv'`, `*` stands for any characters

"#]]);
}

#[test]
fn an_index_in_the_making() {
    let world = with_index();
    let index = crate::index::index_file(&world.path("archive"));
    let other = rusqlite::Connection::open(index).unwrap();
    other.execute_batch("BEGIN EXCLUSIVE").unwrap();
    refuses(&world, "-c archive --lock-wait 0 find a", 11).tells(str![[r#"
error: cannot use the index
caused by: database is locked
caused by: Error code 5: database is locked
hint: another process builds or reads the index: repeat with `--lock-wait 5m`

"#]]);
    refuses(&world, "-c archive --lock-wait 0 recover --index", 11).tells(str![[r#"
error: cannot use the index
caused by: database is locked
caused by: Error code 5: database is locked
hint: another process builds or reads the index: repeat with `--lock-wait 5m`

"#]]);
}

#[test]
fn an_index_that_can_not_be_kept() {
    let (world, _) = world_with_item();
    world.write(".cache", "no directory");
    let found = world.run("-c archive find --file a.txt");
    assert_eq!(found.code, 0);
    same(
        &found.stderr,
        str![[r#"
building the index first
warning: the index cannot be kept here: it was made for this answer alone

"#]],
    );
    let made = world.run("-c archive recover --index");
    assert_eq!(made.code, 1);
    same(
        &made.stderr,
        str![[r#"
warning: the index cannot be kept here: it was made for this answer alone
error: the index cannot be kept
hint: `urepo -c archive find` answers all the same, and takes longer

"#]],
    );
}

/// On disks that may only be read, or are full: answers are the same, and what makes room is done.
#[test]
fn on_read_only_and_full_disks() {
    let script = "
        export XDG_CACHE_HOME=$PWD/mount/cache
        ask() {
            code=0; $UREPO -c mount/archive find $@ >told 2>&1 || code=$?
            sed 's|/[0-9]*/[0-9.]*\ta.txt$|/…|' told >short; mv short told; tell $code
        }
        mount -t tmpfs -o size=2m tmpfs mount
        $UREPO init mount/archive --host archive.example.org 2>told
        name=$($UREPO -c mount/archive new a.txt)
        mount -o remount,bind,ro mount; ask --file a.txt; mount -o remount,bind,rw mount
        $UREPO -c mount/archive recover --index 2>told
        mount -o remount,bind,ro mount; ask --file a.txt; mount -o remount,bind,rw mount
        head -c 4m /dev/zero >mount/filler 2>told || true
        ask --file a.txt
        rm mount/filler
        $UREPO -q -c mount/archive delete --force last $name
        head -c 4m /dev/zero >mount/filler 2>told || true
        code=0; $UREPO -q -c mount/archive purge -y 2>told || code=$?; tell $code
        ask --state Deleted
        rm mount/filler
        ask --state Deleted";
    let Some(told) = with_mounts(&World::new(), script) else { return };
    same(
        &told,
        str![[r#"
exit 0
building the index first
warning: the index cannot be kept here: it was made for this answer alone
example.org/archive/…
exit 0
example.org/archive/…
exit 0
example.org/archive/…
exit 0
exit 0
warning: the index cannot be kept here: it was made for this answer alone
example.org/archive/…
exit 0
example.org/archive/…

"#]],
    );
}
