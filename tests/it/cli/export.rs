//! `urepo export`: what comes out is what was deposited, to the byte, the mode and the nanosecond.

mod bags;
mod named;

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use super::records;
use crate::support::{Ran, World, tree};

/// A file of which every name stands in the way of somebody.
const ODD: [&[u8]; 6] =
    [b"new\nline", b"100%", b"%0A", b" lead and trail ", b"-rf", b"back\\slash"];

/// A source with all that a payload may have, its item, and the name that its export has.
fn world_with_odd_item(more: impl FnOnce(&World)) -> (World, String) {
    let world = World::with_collection();
    for name in ODD {
        let path = world.path("odd").join(OsStr::from_bytes(name));
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, name).unwrap();
    }
    world.write("odd/deep/er/file", "x".repeat(1024));
    std::fs::write(world.path("odd/empty.txt"), "").unwrap();
    let mode = |path: &str, mode| {
        let mode = PermissionsExt::from_mode(mode);
        std::fs::set_permissions(world.path(path), mode).unwrap();
    };
    std::fs::create_dir(world.path("odd/nothing")).unwrap();
    mode("odd/deep/er/file", 0o640);
    mode("odd/nothing", 0o700);
    more(&world);
    let touch = Command::new("touch")
        .args(["-h", "-d", "2001-02-03 04:05:06.123456789Z", "odd/deep/er/file", "odd/nothing"])
        .current_dir(world.path(""))
        .status();
    assert!(touch.unwrap().success());
    mode("odd/deep", 0o555);
    let name = world.run("-c archive new odd").line();
    (world, name)
}

fn links_and_long_names(world: &World) {
    let long = "n".repeat(200);
    world.write(&format!("odd/{long}/{long}"), "long");
    std::fs::write(world.path("odd").join(OsStr::from_bytes(b"latin\xe7")), "latin").unwrap();
    symlink(format!("{long}/{long}"), world.path("odd/to long")).unwrap();
    symlink("./er//file", world.path("odd/deep/link")).unwrap();
    symlink("nowhere", world.path("odd/dangling")).unwrap();
}

/// What an item is called outside.
fn file_name(name: &str) -> String {
    name.replace('/', "+")
}

/// All there is below a directory: kinds, modes, times, bytes, targets.
fn fingerprint(root: &Path) -> Vec<String> {
    let mut lines = Vec::new();
    for entry in walkdir::WalkDir::new(root).sort_by_file_name() {
        let entry = entry.unwrap();
        let found = entry.path().symlink_metadata().unwrap();
        let content = match found.file_type() {
            kind if kind.is_symlink() => {
                std::fs::read_link(entry.path()).unwrap().display().to_string()
            }
            kind if kind.is_file() => format!("{:?}", std::fs::read(entry.path()).unwrap()),
            _ => "directory".to_owned(),
        };
        let path = entry.path().strip_prefix(root).unwrap().as_os_str().as_bytes().escape_ascii();
        let (mode, time) = (found.mode() & 0o7777, (found.mtime(), found.mtime_nsec()));
        lines.push(format!("{path} {mode:o} {time:?} {content}"));
    }
    lines
}

#[test]
fn gives_directories_as_they_were() {
    let (world, name) = world_with_odd_item(links_and_long_names);
    let ran = world.run(&format!("-c archive export {name} --to out"));
    let place = format!("[WORLD]/out/{}\n", file_name(&name));
    assert_eq!(
        (ran.succeeded(), ran.stderr.as_str()),
        (&*place, "exported 1 item, 10 files, 1.0 KiB\n")
    );
    let place = world.path("out").join(file_name(&name));
    assert_eq!(fingerprint(&place), fingerprint(&world.path("odd")));
    assert_eq!(std::fs::read_dir(world.path("out")).unwrap().count(), 1, "no stage is left");
}

#[test]
fn gives_tar_files_and_streams_of_the_same() {
    let (world, name) = world_with_odd_item(links_and_long_names);
    let tar = format!("[WORLD]/tars/{}.tar\n", file_name(&name));
    let ran = world.run(&format!("-c archive export {name} --format tar --to tars"));
    assert_eq!(ran.succeeded(), tar);
    let file = std::fs::read(world.path("tars").join(format!("{}.tar", file_name(&name)))).unwrap();
    let stream = stream(&world, &[&name], 0);
    assert!(file == stream, "the same item gives the same bytes");
    untar(&world, &stream, 0);
    let place = world.path("untar").join(file_name(&name));
    assert_eq!(fingerprint(&place), fingerprint(&world.path("odd")));
}

/// What a stream of some items has; the run ends with `code`.
#[track_caller]
fn stream(world: &World, items: &[&str], code: i32) -> Vec<u8> {
    let mut arguments = vec!["-c", "archive", "export", "--format", "tar", "--to", "-"];
    arguments.extend(items);
    let output = world.command(arguments).output().unwrap();
    let told = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(code), "{told}");
    output.stdout
}

/// Unpacks a stream with the tar of the system, which ends with `code`.
#[track_caller]
fn untar(world: &World, stream: &[u8], code: i32) {
    use std::io::Write as _;
    std::fs::create_dir(world.path("untar")).unwrap();
    let mut command = Command::new("tar");
    command.args(["-xpf", "-"]).current_dir(world.path("untar"));
    let mut child = command.stdin(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
    let _ = child.stdin.take().unwrap().write_all(stream);
    assert_eq!(child.wait().unwrap().code(), Some(code));
}

#[test]
fn puts_descriptions_beside_the_payload() {
    let (world, name) = world_with_odd_item(|_| ());
    let more = "--as toml --as oai_dc --as oai_dc --as bibtex";
    world.run(&format!("-c archive export {name} {more} --to out")).succeeded();
    let place = world.path("out").join(file_name(&name));
    assert_eq!(fingerprint(&place.join("doc")), fingerprint(&world.path("odd")));
    assert_eq!(names_in(&place), ["dc.xml", "doc", "item.bib", "item.toml"]);
    let sidecar = world.path("archive").join(&name).join("item.toml");
    assert_eq!(std::fs::read(place.join("item.toml")).unwrap(), std::fs::read(sidecar).unwrap());
    // The same in a stream.
    let mut arguments = vec!["-c", "archive", "export", &name, "--format", "tar", "--to", "-"];
    arguments.extend(more.split(' '));
    untar(&world, &world.command(arguments).output().unwrap().stdout, 0);
    assert_eq!(fingerprint(&world.path("untar").join(file_name(&name))), fingerprint(&place));
}

fn names_in(path: &Path) -> Vec<String> {
    let mut names: Vec<_> = std::fs::read_dir(path)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}

mod several {
    use super::*;

    /// Three items, the second of which is damaged at its last byte.
    fn world_with_damage() -> (World, Vec<String>) {
        let world = World::with_collection();
        for file in ["a", "b", "c"] {
            world.write(file, file.repeat(512));
        }
        let ran = world.run("-c archive new --each a b c");
        let names: Vec<_> = ran.succeeded().lines().map(str::to_owned).collect();
        let file = world.path("archive").join(&names[1]).join("doc/b");
        std::fs::write(file, "b".repeat(511) + "B").unwrap();
        (world, names)
    }

    #[test]
    fn go_on_after_a_bad_one() {
        let (world, names) = world_with_damage();
        for format in ["dir", "tar", "bag"] {
            let line = format!("-c archive export --all --format {format} --to {format}");
            let ran = world.run(&line);
            assert_eq!((ran.code, ran.stdout.lines().count()), (3, 2), "{}", ran.stderr);
            let end = if format == "tar" { ".tar" } else { "" };
            let mut whole = [0, 2].map(|at| format!("{}{end}", file_name(&names[at])));
            whole.sort();
            assert_eq!(names_in(&world.path(format)), whole);
        }
    }

    /// A reader of the stream can not miss it, even if the file fills its last block.
    #[test]
    fn in_a_stream_stop_there() {
        let (world, names) = world_with_damage();
        let names: Vec<_> = names.iter().map(String::as_str).collect();
        let cut = stream(&world, &names, 20);
        untar(&world, &cut, 2);
        assert!(world.path("untar").join(file_name(names[0])).join("a").is_file());
        assert!(!world.path("untar").join(file_name(names[2])).exists());
    }

    #[test]
    fn in_a_stream_leave_out_what_is_wrong_beforehand() {
        let (world, names) = world_with_damage();
        let file = world.path("archive").join(&names[1]).join("doc/b");
        std::fs::remove_file(file).unwrap();
        let names: Vec<_> = names.iter().map(String::as_str).collect();
        untar(&world, &stream(&world, &names, 3), 0);
        assert_eq!(names_in(&world.path("untar")), [0, 2].map(|at| file_name(names[at])));
    }

    #[test]
    fn pass_over_tombstones_unless_they_are_named() {
        let (world, names) = world_with_damage();
        world
            .run(&format!("-c archive delete --force last --force damaged {}", names[1]))
            .succeeded();
        let ran = world.run("-c archive export --all --to out");
        assert_eq!((ran.code, ran.stdout.lines().count()), (0, 2), "{}", ran.stderr);
        let ran = world.run(&format!("-c archive export {} {} --to named", names[0], names[1]));
        assert_eq!((ran.code, ran.stdout.lines().count()), (3, 1), "{}", ran.stderr);
    }

    #[test]
    fn are_told_in_json() {
        let (world, names) = world_with_damage();
        let told = records(&world.run("-c archive export --all --json --to out"));
        assert_eq!(told.len(), 4);
        assert_eq!(
            (&told[0]["id"], &told[0]["did"]),
            (&names[0].as_str().into(), &"exported".into())
        );
        assert_eq!(told[1]["error"]["code"], 20);
        assert_eq!((&told[3]["type"], &told[3]["exit_code"]), (&"summary".into(), &3.into()));
        assert_eq!(
            (&told[3]["counts"]["items"], &told[3]["counts"]["failed"]),
            (&2.into(), &1.into())
        );
    }

    #[test]
    fn are_planned() {
        let (world, names) = world_with_damage();
        let ran = world.run("-c archive export --all -n --to out");
        let plan = names.iter().map(|name| {
            format!("would export {name} as [WORLD]/out/{} (1 file, 512 B)\n", file_name(name))
        });
        let plan = plan.collect::<Vec<_>>().concat();
        assert_eq!(ran.succeeded(), plan);
        assert!(!world.path("out").exists());
    }
}

/// A stage that nobody holds any more is removed by the next export.
#[test]
fn clears_what_killed_runs_left() {
    let (world, name) = world_with_odd_item(|_| ());
    world.write("out/.urepo-export-7-0123456789abcdef/0/half", "ha");
    let others = [".urepo-export-2026-notes", ".urepo-export-notes", ".urepo-export.txt"];
    for other in others {
        world.write(&format!("out/{other}/notes"), "not ours");
    }
    world.run(&format!("-c archive export {name} --to out")).succeeded();
    let kept = others.iter().map(|it| (*it).to_owned()).chain([file_name(&name)]);
    assert_eq!(names_in(&world.path("out")), kept.collect::<Vec<_>>());
}

/// So it is by one that has nothing to put there: the killed run had put everything in place.
#[test]
fn clears_what_a_run_left_that_was_killed_at_its_end() {
    let (world, name) = world_with_odd_item(|_| ());
    world.run(&format!("-c archive export {name} --to out")).succeeded();
    world.write("out/.urepo-export-7-0123456789abcdef/0/half", "ha");
    world.run(&format!("-c archive export {name} --to out --dry-run"));
    assert_eq!(names_in(&world.path("out")).len(), 2);
    world.run(&format!("-c archive export {name} --to out")).succeeded();
    assert_eq!(names_in(&world.path("out")), [file_name(&name)]);
}

#[test]
fn says_once_that_it_cannot_begin() {
    let world = World::with_collection();
    for name in ["a", "b", "c"] {
        world.write(name, name);
        world.run(&format!("-c archive new {name}")).line();
    }
    for to in ["a", "missing/out"] {
        for flags in ["", " -n"] {
            let ran = world.run(&format!("-c archive export --all --to {to}{flags}"));
            assert_eq!((ran.code, ran.stderr.matches("error:").count()), (1, 1), "{}", ran.stderr);
        }
    }
}
