//! File names as donors have them: kept to the byte, harmless where people read, exact where programs do.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;
use std::process::{Command, Stdio};

use super::records;
use crate::support::World;

/// Names, by their bytes, and how people see them.
const NAMES: &[(&[u8], &str)] = &[
    (b"back\\slash", r"back\\slash"),
    ("bidi\u{202e}gpj.exe".as_bytes(), r"bidi\u{202e}gpj.exe"),
    (b"clear\x1b[2Jscreen", r"clear\u{1b}[2Jscreen"),
    ("cr\rlf\n".as_bytes(), r"cr\rlf\n"),
    ("ação/\u{fffd}".as_bytes(), "ação/\u{fffd}"),
    (b"latin\xe7\xe3o", r"latin\xe7\xe3o"),
    (b" leading and trailing ", " leading and trailing "),
    (b"-rf", "-rf"),
    (b"CON", "CON"),
    (b"dot.", "dot."),
];

fn world_with_odd_names() -> (World, String) {
    let world = World::with_collection();
    for (name, _) in NAMES {
        let path = world.path("odd").join(OsStr::from_bytes(name));
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, name).unwrap();
    }
    let name = world.run("-c archive new odd").line();
    (world, name)
}

#[test]
fn are_kept_to_the_byte() {
    let (world, name) = world_with_odd_names();
    for (file, _) in NAMES {
        let path = world.path("archive").join(&name).join("doc").join(OsStr::from_bytes(file));
        assert_eq!(std::fs::read(path).unwrap(), *file);
    }
    assert_eq!(world.run("-c archive verify").code, 0);
}

#[test]
fn are_found_as_they_are() {
    let (world, name) = world_with_odd_names();
    for (file, _) in NAMES {
        // Of a file that is not UTF-8, see below.
        let Ok(text) = std::str::from_utf8(file) else { continue };
        let ran = world.run_args(["-c", "archive", "cat", &format!("{name}/{text}")]);
        assert_eq!(ran.succeeded(), text);
    }
}

/// One Unicode form of a name finds the file of another, unless there are two of those.
#[test]
fn are_found_in_any_unicode_form() {
    let (composed, decomposed) = ("a\u{e7}\u{e3}o", "ac\u{327}a\u{303}o");
    let world = World::with_collection();
    world.write(&format!("in/{decomposed}"), "text");
    let name = world.run("-c archive new in").line();
    for file in [composed, decomposed] {
        assert_eq!(
            world.run_args(["-c", "archive", "cat", &format!("{name}/{file}")]).succeeded(),
            "text"
        );
    }
    world.write(&format!("in/{composed}"), "other");
    let name = world.run("-c archive new in --force twins").line();
    let cat = |file: &str| world.run_args(["-c", "archive", "cat", &format!("{name}/{file}")]);
    assert_eq!((cat(composed).succeeded(), cat(decomposed).succeeded()), ("other", "text"));
    assert_eq!(cat("a\u{e7}a\u{303}o").code, 21);
}

/// By its bytes, or as `show` prints it.
#[test]
fn are_found_when_they_are_not_utf_8() {
    let (world, name) = world_with_odd_names();
    let bytes = b"latin\xe7\xe3o";
    for file in [OsStr::from_bytes(bytes), OsStr::new(r"latin\xe7\xe3o")] {
        let item = [name.as_bytes(), b"/", file.as_bytes()].concat();
        let arguments = ["-c", "archive", "cat"].map(OsStr::new).into_iter();
        let arguments = arguments.chain([OsStr::from_bytes(&item)]);
        let output = world.command(arguments).output().unwrap();
        assert_eq!(output.stdout, bytes, "{}", String::from_utf8_lossy(&output.stderr));
    }
}

/// An escape stands for what cannot be typed. One of a letter is a name of its own.
#[test]
fn are_not_found_by_escapes_of_what_needs_none() {
    let world = World::with_collection();
    world.write("in/A", "letter");
    let name = world.run("-c archive new in").line();
    let cat = |file: &str| world.run_args(["-c", "archive", "cat", &format!("{name}/{file}")]);
    assert_eq!(cat(r"\x41").code, 21);
    world.write(r"in/\x41", "escape");
    let name = world.run("-c archive new in").line();
    let cat = |file: &str| {
        let ran = world.run_args(["-c", "archive", "cat", &format!("{name}/{file}")]);
        ran.succeeded().to_owned()
    };
    for file in [r"\x41", r"\x41"] {
        assert_eq!(cat(file), "escape", "{file}");
    }
    assert_eq!(cat("A"), "letter");
}

/// As bytes, or as `show` prints them.
#[test]
fn are_taken_by_every_command() {
    let (world, name) = world_with_odd_names();
    let run = |words: &[&[u8]]| {
        let words = words.iter().map(|word| OsStr::from_bytes(word));
        let mut command =
            world.command([OsStr::new("-c"), OsStr::new("archive")].into_iter().chain(words));
        command.env("UREPO_OPENER", "echo");
        let output = command.output().unwrap();
        (
            output.status.code().unwrap(),
            output.stdout,
            String::from_utf8_lossy(&output.stderr).into_owned(),
        )
    };
    let in_item = |file: &[u8]| [name.as_bytes(), b"/", file].concat();
    for (file, seen) in NAMES {
        for file_typed in [*file, seen.as_bytes()] {
            let words: [&[&[u8]]; 3] = [
                &[b"cat", &in_item(file_typed)],
                &[b"open", &in_item(file_typed)],
                &[b"show", b"--path", b"-0", &in_item(file_typed)],
            ];
            for words in words {
                let (code, stdout, stderr) = run(words);
                assert_eq!(code, 0, "{seen}: {stderr}");
                let end =
                    stdout.strip_suffix(b"\0").or(stdout.strip_suffix(b"\n")).unwrap_or(&stdout);
                assert!(
                    stdout == *file || end.ends_with(file),
                    "{seen}: {}",
                    stdout.escape_ascii()
                );
            }
        }
    }
    let bytes = b"latin\xe7\xe3o";
    for file in [&bytes[..], br"latin\xe7\xe3o"] {
        let target = [b"target=", file].concat();
        let found: [&[&[u8]]; 4] = [
            &[b"list", &[&b"file:"[..], file].concat()],
            &[b"meta", b"set", name.as_bytes(), &target],
            &[b"show", &in_item(file)],
            &[b"list", br"file:cr\rlf\n"],
        ];
        for words in found {
            let (code, _, stderr) = run(words);
            assert_eq!(code, 0, "{stderr}");
        }
    }
    let source = OsStr::from_bytes(bytes);
    std::fs::write(world.path(source), "x").unwrap();
    assert_eq!(run(&[b"new", b"odd", bytes, b"--target", bytes]).0, 0);
    assert_eq!(run(&[b"new", bytes]).0, 0);
    assert_eq!(run(&[b"list", &[&b"origin:"[..], bytes].concat()]).0, 0);
    let url = [name.as_bytes(), b"/", bytes].concat();
    let refused: [(&[&[u8]], &str); 3] = [
        (&[b"new", b"odd", b"--exclude", bytes], "`latin??o`"),
        (&[b"resolve", &url], "latin%E7%E3o`"),
        (&[b"meta", b"set", name.as_bytes(), b"title=\xe7"], "it is not UTF-8"),
    ];
    for (words, spelling) in refused {
        let (code, _, stderr) = run(words);
        assert_eq!(code, 2, "{stderr}");
        assert!(stderr.contains(spelling), "{stderr}");
    }
    let excluded = run(&[b"new", b"odd", b"--exclude", b"latin??o", b"--dry-run", b"-v"]).2;
    assert!(excluded.contains(r"latin\xe7\xe3o"), "{excluded}");
    let resolved = run(&[b"resolve", format!("{name}/latin%E7%E3o").as_bytes()]);
    assert_eq!(resolved.0, 0, "{}", resolved.2);
    let missing = run(&[b"cat", &in_item(br"latin\xe8")]).2;
    assert!(missing.contains(r"no file `latin\xe8`"), "{missing}");
}

#[test]
fn are_harmless_where_people_read_them() {
    let (world, name) = world_with_odd_names();
    let ran = world.run(&format!("-c archive show -v {name}"));
    let shown = ran.succeeded();
    for (file, seen) in NAMES {
        let line = shown.lines().find(|line| line.ends_with(&format!("  {seen}")));
        assert!(line.is_some(), "{file:?} as {seen}: {shown}");
    }
    let control = |c: char| (c.is_control() && c != '\n') || c == '\u{202e}';
    assert!(!shown.contains(control), "{shown}");
}

#[test]
fn are_exact_in_json() {
    let (world, name) = world_with_odd_names();
    let told = records(&world.run(&format!("-c archive show --json {name}")));
    let entries = told[0]["entries"].as_array().unwrap();
    assert_eq!(entries.len(), NAMES.len());
    for (file, _) in NAMES {
        let lossy = String::from_utf8_lossy(file);
        let entry = entries.iter().find(|entry| entry["path"] == *lossy).unwrap();
        match std::str::from_utf8(file) {
            Ok(_) => assert!(entry.get("path_b64").is_none(), "{entry}"),
            Err(_) => assert_eq!(entry["path_b64"], "bGF0aW7n428=", "{entry}"),
        }
    }
}

#[test]
fn are_what_sha256sum_checks() {
    let (world, name) = world_with_odd_names();
    let manifest =
        world.command(["-c", "archive", "show", "--as", "manifest", &name]).output().unwrap();
    assert!(check(&world, &format!("archive/{name}/doc"), &manifest.stdout));
    let manifest =
        world.command(["-c", "archive", "show", "--as", "manifest", "--all"]).output().unwrap();
    assert!(check(&world, "archive", &manifest.stdout));
    // And it does check: one byte is enough.
    std::fs::write(world.path("archive").join(&name).join("doc/-rf"), "-rF").unwrap();
    assert!(!check(&world, "archive", &manifest.stdout));
}

/// Whether `sha256sum` finds all that the manifest says, below a directory.
fn check(world: &World, directory: &str, manifest: &[u8]) -> bool {
    use std::io::Write as _;
    let mut command = Command::new("sha256sum");
    command.args(["--check", "--strict", "--quiet"]).current_dir(world.path(directory));
    command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null());
    let mut child = command.spawn().unwrap();
    child.stdin.take().unwrap().write_all(manifest).unwrap();
    assert_eq!(manifest.iter().filter(|byte| **byte == b'\n').count(), NAMES.len());
    child.wait().unwrap().success()
}

/// A name that is not UTF-8 may also be the item's source, or its only file.
#[test]
fn on_the_command_line() {
    let world = World::with_collection();
    let source = OsStr::from_bytes(b"latin\xe7\xe3o.txt");
    std::fs::write(world.path(source), "x").unwrap();
    let arguments = ["-c", "archive", "new", "--json"].map(OsStr::new);
    let ran = world.run_args(arguments.into_iter().chain([source]));
    let told = records(&ran);
    assert!(told[0]["source_b64"].is_string(), "{}", told[0]);
    let name = told[0]["id"].as_str().unwrap().to_owned();
    let mut path = world.command(["-c", "archive", "resolve", "-0", &name]);
    let output = path.output().unwrap().stdout;
    assert!(output.ends_with(b"/doc/latin\xe7\xe3o.txt\0"));
    let told = records(&world.run(&format!("-c archive resolve --json {name}")));
    assert!(told[0]["path_b64"].is_string(), "{}", told[0]);
}
