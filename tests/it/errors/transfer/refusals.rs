//! Transfers that the states refuse.

use super::*;

#[test]
fn of_two_originals() {
    let world = with_copy(|sidecar| sidecar.state = State::Original);
    refuses(&world, "-c archive copy 11.21.02.13 --to mirror", 23).tells(str![[r#"
error: `example.org/archive/2026/11.21.02.13`: both collections say that they hold the Original
  source:      [WORLD]/archive/example.org/archive/2026/11.21.02.13
  destination: [WORLD]/mirror/example.org/archive/2026/11.21.02.13
hint: `urepo verify [WORLD]/archive [WORLD]/mirror` says whether they are the same

"#]]);
    refuses(&world, "-c archive migrate --all --to mirror", 3).tells(str![[r#"
error: `example.org/archive/2026/11.21.02.13`: both collections say that they hold the Original
hint: `urepo verify [WORLD]/archive [WORLD]/mirror` says whether they are the same
error: 1 of 1 item could not be migrated
hint: each is named above, with its reason

"#]]);
}

#[test]
fn of_copies_that_are_behind() {
    let world = with_copy(|_| ());
    change(&world, "archive", later);
    refuses(&world, "-c archive copy 11.21.02.13 --to mirror", 23).tells(str![[r#"
error: `example.org/archive/2026/11.21.02.13`: the Copy at the destination is older than its Original
  source:      [WORLD]/archive/example.org/archive/2026/11.21.02.13
  destination: [WORLD]/mirror/example.org/archive/2026/11.21.02.13
hint: repeat with `--refresh` to bring it up to date

"#]]);
    change(&world, "archive", |sidecar| sidecar.state = State::Copy);
    refuses(&world, "-c archive copy 11.21.02.13 --refresh --to mirror", 23).tells(str![[r#"
error: `example.org/archive/2026/11.21.02.13`: the Copy at the destination is older, but a Copy is refreshed from its Original only
  source:      [WORLD]/archive/example.org/archive/2026/11.21.02.13
  destination: [WORLD]/mirror/example.org/archive/2026/11.21.02.13
hint: `urepo -c [WORLD]/mirror refresh example.org/archive/2026/11.21.02.13 --from PATH`, where its Original is

"#]]);
}

#[test]
fn of_other_content() {
    let world = with_copy(|sidecar| sidecar.files.clear());
    refuses(&world, "-c archive copy 11.21.02.13 --refresh --to mirror", 23).tells(str![[r#"
error: `example.org/archive/2026/11.21.02.13`: the destination has other content, or another description, under this identifier
  source:      [WORLD]/archive/example.org/archive/2026/11.21.02.13
  destination: [WORLD]/mirror/example.org/archive/2026/11.21.02.13
hint: `urepo verify [WORLD]/archive [WORLD]/mirror` says which of them is not as it was

"#]]);
}

#[test]
fn of_a_copy_that_goes_to_its_original() {
    let world = with_copy(|sidecar| sidecar.state = State::Original);
    change(&world, "archive", |sidecar| sidecar.state = State::Copy);
    refuses(&world, "-c archive migrate 11.21.02.13 --to mirror", 23).tells(str![[r#"
error: `example.org/archive/2026/11.21.02.13`: the destination holds the Original
  source:      [WORLD]/archive/example.org/archive/2026/11.21.02.13
  destination: [WORLD]/mirror/example.org/archive/2026/11.21.02.13
hint: `urepo -c [WORLD]/archive delete example.org/archive/2026/11.21.02.13 --with [WORLD]/mirror` removes the Copy here

"#]]);
}

#[test]
fn of_what_does_not_migrate() {
    let world = with_mirror();
    change(&world, "archive", |sidecar| sidecar.transferable = false);
    refuses(&world, "-c archive migrate 11.21.02.13 --to mirror", 23).tells(str![[r#"
error: `example.org/archive/2026/11.21.02.13`: it is marked as not transferable
hint: `urepo -c archive copy` makes a Copy there; the Original stays

"#]]);
}

#[test]
fn of_what_is_deleted() {
    let world = with_copy(|sidecar| sidecar.state = State::Deleted);
    refuses(&world, "-c archive migrate 11.21.02.13 --to mirror", 23).tells(str![[r#"
error: `example.org/archive/2026/11.21.02.13`: it was deleted at the destination
  source:      [WORLD]/archive/example.org/archive/2026/11.21.02.13
  destination: [WORLD]/mirror/example.org/archive/2026/11.21.02.13
hint: repeat with `--revive` to bring it back there

"#]]);
    refuses(&world, "-c mirror copy 11.21.02.13 --to archive", 22).tells(str![[r#"
error: `example.org/archive/2026/11.21.02.13`: it is deleted
  source:      [WORLD]/mirror/example.org/archive/2026/11.21.02.13
  destination: [WORLD]/archive/example.org/archive/2026/11.21.02.13
hint: `urepo -c [WORLD]/mirror show example.org/archive/2026/11.21.02.13` says when and why

"#]]);
    change(&world, "archive", |sidecar| sidecar.state = State::Copy);
    refuses(&world, "-c archive refresh 11.21.02.13 --from mirror", 22).tells(str![[r#"
error: the Original of `example.org/archive/2026/11.21.02.13` was deleted
hint: `urepo -c [WORLD]/mirror show example.org/archive/2026/11.21.02.13` says when and why

"#]]);
}

/// The hint names the collection that gives the item away: only there it can be finished.
#[test]
fn of_what_is_in_hand() {
    let world = with_mirror();
    change(&world, "archive", |sidecar| {
        sidecar.state = State::Copy;
        marked(sidecar, Party::To);
    });
    refuses(&world, "-c archive copy 11.21.02.13 --to mirror", 23).tells(str![[r#"
error: `example.org/archive/2026/11.21.02.13`: a hand-over of it has begun and is not finished
hint: `urepo -c [WORLD]/archive recover` finishes it; if there is nothing to finish, `urepo -c [WORLD]/archive recover --inventory` ends it

"#]]);
    change(&world, "archive", |sidecar| marked(sidecar, Party::From));
    refuses(&world, "-c archive copy 11.21.02.13 --to mirror", 23).tells(str![[r#"
error: `example.org/archive/2026/11.21.02.13`: a hand-over of it has begun and is not finished
hint: `urepo -c PATH recover` finishes it, where PATH is the collection `0123456789abcdef`; if there is nothing to finish, `urepo -c [WORLD]/archive recover --inventory` ends it

"#]]);
    let mirror = std::fs::read_to_string(world.path("mirror/urepo.toml")).unwrap();
    let id = mirror.parse::<toml::Table>().unwrap()["id"].as_str().unwrap().to_owned();
    change(&world, "archive", |sidecar| marked(sidecar, |_| Party::From(id)));
    refuses(&world, "-c archive copy 11.21.02.13 --to mirror", 23).tells(str![[r#"
error: `example.org/archive/2026/11.21.02.13`: a hand-over of it has begun and is not finished
hint: `urepo -c [WORLD]/mirror recover` finishes it; if there is nothing to finish, `urepo -c [WORLD]/archive recover --inventory` ends it

"#]]);
}

/// A mirror that nobody refreshes has as many as the archive has items.
#[test]
fn of_one_kind_are_named_up_to_five_times() {
    let world = with_mirror();
    for number in 0..7 {
        world.write(&format!("in/{number}"), "content");
    }
    let told = world.run("-c archive import in").succeeded().to_owned();
    world.run("-c archive copy --all --to mirror").succeeded();
    for line in told.lines() {
        change_item(&world.path("archive"), line.split('\t').next().unwrap(), later);
    }
    let named = |line: &str| {
        let ran = world.run(line);
        assert_eq!(ran.code, 3, "{}", ran.stderr);
        let older = "the Copy at the destination is older than its Original";
        (ran.stderr.matches(older).count(), ran)
    };
    let more = "error: 2 more older at the destination; `-v` names each\n";
    let (count, ran) = named("-c archive copy --all --to mirror");
    assert!(count == 5 && ran.stderr.contains(more), "{}", ran.stderr);
    let (count, ran) = named("-c archive copy --all --to mirror -v");
    assert!(count == 7 && !ran.stderr.contains("more older"), "{}", ran.stderr);
    let (_, ran) = named("-c archive copy --all --to mirror --json");
    assert_eq!(ran.stdout.matches("\"outcome\":\"failed\"").count(), 7, "{}", ran.stdout);
}
