//! What a hint says can be typed as it stands, whatever a directory is called.

use std::os::unix::ffi::OsStrExt;

use super::*;

#[test]
fn a_hint_is_one_thing_to_type() {
    let world = World::new();
    world.write("a.txt", "a");
    let names: [&[u8]; 7] =
        [b"sp ace", b"it's", b"new\nline", b"-dash", b"esc\x1b[2J", b"$(id)", b"latin\xe7"];
    for name in names {
        let directory = OsStr::from_bytes(name);
        let mut attached = std::ffi::OsString::from("./");
        attached.push(directory);
        let host = ["--host", "archive.example.org", "--force", "prefix"].map(OsStr::new);
        let init = || {
            let words = ["--json", "init"].map(OsStr::new).into_iter().chain([&*attached]);
            world.run_args(words.chain(host))
        };
        init();
        let ran = init();
        let told: serde_json::Value = serde_json::from_str(&ran.stderr).unwrap();
        let hint = told["error"]["hint"].as_str().unwrap();
        let hint = hint.replace("[WORLD]", world.path("").to_str().unwrap().trim_end_matches('/'));
        let (_, command) = hint.split_once("deposit into it with `urepo").unwrap();
        let command = command.strip_suffix(" new PATH`").unwrap();
        let mut bash = world.shell("exec bash -c \"$TYPED\" \"$0\"");
        bash.env("TYPED", format!("\"$0\" {command} new a.txt"));
        let made = bash.output().unwrap();
        assert!(made.status.success(), "{command}: {}", String::from_utf8_lossy(&made.stderr));
        assert!(world.path(Path::new(directory)).join("urepo.toml").is_file(), "{command}");
    }
}
