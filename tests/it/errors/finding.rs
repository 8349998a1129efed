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

/// Nothing found says what the key has, and how the question is typed.
#[test]
fn what_there_is_instead() {
    let world = World::with_collection();
    let mut rows = "path,title,date,x.box\n".to_owned();
    for (number, date) in ["1911~", "190X", "1905/1915", "1926"].iter().enumerate() {
        world.write(&format!("in/{number}"), "text");
        rows += &format!("in/{number},Letter {number},{date},Box {number}\n");
    }
    world.write("rows.csv", rows);
    world.run("-q -c archive import rows.csv").succeeded();
    for (word, hint) in [
        ("x.box:=2", "x.box has \"Box 0\", \"Box 1\", \"Box 2\", and others"),
        ("x.box:Box 33", "x.box has \"Box 3\", and others"),
        ("title:lettre", "title has \"Letter 0\", \"Letter 1\", \"Letter 2\", and others"),
        ("date:1950..", "date has \"1905/1915\", \"190X\", \"1911~\", and others"),
        ("x.shelf:1", "an item has to match all of it; `urepo -c archive list` lists all items"),
        ("date>=1905", "`urepo -c archive list date:1905..`"),
        ("issued<1905-12", "`urepo -c archive list issued:..1905-12`"),
        ("date=1904", "`urepo -c archive list date:1904`"),
        ("colour=red", "words are whole: `silv*` is the beginning of one"),
    ] {
        let ran = world.run_args(["-c", "archive", "list", word]);
        assert_eq!(ran.code, 21, "{word}");
        assert!(ran.stderr.contains(&format!("hint: {hint}\n")), "{word}: {}", ran.stderr);
    }
    let ran = world.run("-c archive list --since 1905 --until 1915");
    assert_eq!(ran.code, 0);
    assert!(ran.stderr.contains("list date:1905..1915` searches the dates"), "{}", ran.stderr);
}

#[test]
fn questions_that_mean_nothing() {
    let world = with_index();
    let refuses = |word: &str, code| refuses_args(&world, ["-c", "archive", "list", word], code);
    refuses("!!!", 2).tells(str![[r#"
error: no word has a letter or a digit
hint: `urepo -c archive list WORD…` searches; `urepo -c archive list` lists all items

"#]]);
    refuses("\"deep sea", 2).tells(str![[r#"
error: the quotation `deep sea` has no end
hint: close it, or leave its mark out

"#]]);
    refuses("sha256:12ab", 2).tells(str![[r#"
error: `sha256:` takes 8 to 64 hexadecimal digits, the beginning of a digest
hint: `urepo help list` has the keys of a search

"#]]);
    refuses("date:1905..soon", 2).tells(str![[r#"
error: `date:` takes a date, or a range such as `1905..1915`, `..1915` or `1911-03..`
hint: `urepo help list` has the keys of a search

"#]]);
    refuses("bytes:large", 2).tells(str![[r#"
error: `bytes:` takes a range of sizes, such as `1M..`, `..500k` or `1M..2M`
hint: `urepo help list` has the keys of a search

"#]]);
    refuses("file:", 2).tells(str![[r#"
error: `file:` takes a value
hint: `urepo help list` has the keys of a search

"#]]);
    refuses("-silva", 2).tells(str![[r#"
error: unexpected argument '-s' found
hint: a word that must not occur is `not:WORD`

"#]]);
    refuses("part_of:nothing", 21).tells(str![[r#"
error: no item `nothing` in `[WORLD]/archive`
hint: `urepo -c archive list` lists the identifiers

"#]]);
    refuses("content:nowhere.txt", 1).tells(str![[r#"
error: cannot open `[WORLD]/nowhere.txt`
caused by: No such file or directory (os error 2)

"#]]);
    refuses("content:archive", 1).tells(str![[r#"
error: cannot read `[WORLD]/archive`
caused by: Is a directory (os error 21)

"#]]);
}

#[test]
fn nothing_like_that() {
    let world = with_index();
    let refuses = |words: &[&str]| {
        refuses_args(&world, ["-c", "archive", "list"].iter().chain(words).copied(), 21)
    };
    refuses(&["rain"]).tells(str![[r#"
error: no item has "rain"
hint: words are whole: `silv*` is the beginning of one

"#]]);
    refuses(&["author:costa"]).tells(str![[r#"
error: no item has "author:costa"
hint: did you mean `creator`? a key of your own is `x.author:`

"#]]);
    refuses(&["caixa:9"]).tells(str![[r#"
error: no item has "caixa:9"
hint: a key of your own is `x.caixa:`

"#]]);
    refuses(&["x.caixa:9", "rai*"]).tells(str![[r#"
error: no item has "9" in x.caixa and "rai*"
hint: an item has to match all of it; `urepo -c archive list` lists all items

"#]]);
    refuses(&["x.caixa:"]).tells(str![[r#"
error: no item has the key x.caixa
hint: an item has to match all of it; `urepo -c archive list` lists all items

"#]]);
    refuses(&["date:1911..1912"]).tells(str![[r#"
error: no item has "1911..1912" in date
hint: an item has to match all of it; `urepo -c archive list` lists all items

"#]]);
    refuses(&["http://a.b/c"]).tells(str![[r#"
error: no item has "http://a.b/c"
hint: words are whole: `silv*` is the beginning of one

"#]]);
    refuses(&["txt", "--prefix", "example.org/other"]).tells(str![[r#"
error: no item has "txt"
hint: words are whole: `silv*` is the beginning of one

"#]]);
    refuses(&["file:rain.txt"]).tells(str![[r#"
error: no item has "rain.txt" in file
hint: `file:` takes a whole name or path; in `file:'*.csv'`, `*` stands for any characters

"#]]);
}

#[test]
fn an_index_in_the_making() {
    let world = with_index();
    let index = crate::index::index_file(&world.path("archive"));
    let other = rusqlite::Connection::open(index).unwrap();
    other.execute_batch("BEGIN EXCLUSIVE").unwrap();
    refuses(&world, "UREPO_LOCK_WAIT=0 -c archive list a", 11).tells(str![[r#"
error: cannot use the index
caused by: database is locked
caused by: Error code 5: database is locked
hint: another process builds or reads the index: repeat with `UREPO_LOCK_WAIT=5m`

"#]]);
    refuses(&world, "UREPO_LOCK_WAIT=0 -c archive recover --index", 11).tells(str![[r#"
error: cannot use the index
caused by: database is locked
caused by: Error code 5: database is locked
hint: another process builds or reads the index: repeat with `UREPO_LOCK_WAIT=5m`

"#]]);
}

#[test]
fn an_index_that_can_not_be_kept() {
    let (world, _) = world_with_item();
    world.write(".cache", "no directory");
    let found = world.run("-c archive list file:a.txt");
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
hint: `urepo -c archive list WORD` answers all the same, and takes longer

"#]],
    );
}

/// On disks that may only be read, or are full: answers are the same, and what makes room is done.
#[test]
fn on_read_only_and_full_disks() {
    let script = "
        export XDG_CACHE_HOME=$PWD/mount/cache
        ask() {
            code=0; $UREPO -c mount/archive list $@ >told 2>&1 || code=$?
            sed 's|/[0-9]*/[0-9.]*$|/…|' told >short; mv short told; tell $code
        }
        mount -t tmpfs -o size=2m tmpfs mount
        $UREPO init mount/archive --host archive.example.org 2>told
        name=$($UREPO -c mount/archive new a.txt)
        mount -o remount,bind,ro mount; ask file:a.txt; mount -o remount,bind,rw mount
        $UREPO -c mount/archive recover --index 2>told
        mount -o remount,bind,ro mount; ask file:a.txt; mount -o remount,bind,rw mount
        head -c 4m /dev/zero >mount/filler 2>told || true
        ask file:a.txt
        rm mount/filler
        $UREPO -q -c mount/archive delete --force last $name
        head -c 4m /dev/zero >mount/filler 2>told || true
        code=0; $UREPO -q -c mount/archive purge -y 2>told || code=$?; tell $code
        ask file:a.txt --state Deleted
        rm mount/filler
        ask file:a.txt --state Deleted";
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
