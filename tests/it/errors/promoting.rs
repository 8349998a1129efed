//! Promotions that are refused because the lost collection is there. What the hints name works.

use super::*;
use crate::support::{copy_item, make_collection};

/// The archive, and a mirror with a Copy of its item.
fn mirrored() -> (World, &'static str) {
    let (world, name) = world_with_item();
    make_collection(&world.path("mirror"));
    copy_item(&world.path("archive"), &world.path("mirror"), name, |_| ());
    (world, name)
}

const PROMOTE: &str = "-c mirror promote 11.21.02.13 --reason fire -y --lost archive";

#[test]
fn while_the_original_is_there() {
    let (world, name) = mirrored();
    refuses(&world, PROMOTE, 23).tells(str![[r#"
error: the collection in [WORLD]/archive is not lost: it can be opened
hint: `urepo -c [WORLD]/archive migrate` hands its Originals over; what is lost there, `urepo -c [WORLD]/archive repair --from` brings back

"#]]);
    let all = "-c mirror promote --all --reason fire -y --lost archive";
    refuses(&world, all, 23).tells(str![[r#"
error: the collection in [WORLD]/archive is not lost: it can be opened
hint: `urepo -c [WORLD]/archive migrate` hands its Originals over; what is lost there, `urepo -c [WORLD]/archive repair --from` brings back

"#]]);
    world.run(&format!("-c archive migrate {name} --to mirror")).succeeded();
    // It has left the archive.
    refuses(&world, PROMOTE, 23).tells(str![[r#"
error: the collection in [WORLD]/archive is not lost: it can be opened
hint: `urepo -c [WORLD]/archive migrate` hands its Originals over; what is lost there, `urepo -c [WORLD]/archive repair --from` brings back

"#]]);
}

#[test]
fn while_it_may_come_back() {
    let (world, name) = mirrored();
    std::fs::remove_dir_all(world.path("archive").join(name)).unwrap();
    refuses(&world, PROMOTE, 23).tells(str![[r#"
error: the collection in [WORLD]/archive is not lost: it can be opened
hint: `urepo -c [WORLD]/archive migrate` hands its Originals over; what is lost there, `urepo -c [WORLD]/archive repair --from` brings back

"#]]);
    world.run(&format!("-c archive repair {name} --from mirror")).succeeded();
    world.run("verify archive mirror").succeeded();
}

#[test]
fn while_another_collection_is_meant() {
    let (world, _) = mirrored();
    refuses(&world, "-c mirror promote 11.21.02.13 --reason fire --lost mirror", 23).tells(str![[r#"
error: the collection in [WORLD]/mirror is not lost: it can be opened
hint: `urepo -c [WORLD]/mirror migrate` hands its Originals over; what is lost there, `urepo -c [WORLD]/mirror repair --from` brings back

"#]]);
    // Another collection is where the archive was.
    let settings = std::fs::read_to_string(world.path("archive/urepo.toml")).unwrap();
    let lost = settings.parse::<toml::Table>().unwrap()["id"].as_str().unwrap().to_owned();
    std::fs::rename(world.path("archive"), world.path("away")).unwrap();
    make_collection(&world.path("archive"));
    let told = refuses(&world, PROMOTE, 23).0;
    assert!(told.contains("is not lost: it can be opened"), "{told}");
    world.run(&PROMOTE.replace("archive", &lost)).succeeded();
}

#[test]
fn while_it_is_there_and_cannot_be_read() {
    let (world, _) = mirrored();
    world.write("archive/urepo.toml", "format = 2\n");
    refuses(&world, PROMOTE, 23).tells(str![[r#"
error: the collection in `[WORLD]/archive` is not lost: it is there and cannot be read
caused by: cannot use the settings `[WORLD]/archive/urepo.toml`
caused by: it has format 2; this urepo reads format 1
hint: correct `[WORLD]/archive/urepo.toml`; `urepo status --settings` shows the settings; if it can never be read again, unmount it or move it away, and repeat

"#]]);
    std::fs::remove_file(world.path("archive/urepo.toml")).unwrap();
    std::os::unix::fs::symlink("urepo.toml", world.path("archive/urepo.toml")).unwrap();
    refuses(&world, PROMOTE, 23).tells(str![[r#"
error: the collection in `[WORLD]/archive` is not lost: it is there and cannot be read
caused by: cannot open `[WORLD]/archive/urepo.toml`
caused by: it, or a directory on the way to it, is a symbolic link
hint: links are not followed; put a directory in its place, or remove it; if it can never be read again, unmount it or move it away, and repeat

"#]]);
}
