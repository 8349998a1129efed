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
        let host = ["--host", "archive.example.org"].map(OsStr::new);
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

/// Nobody stands in a collection that is named with `-c`: a hint without it would lead nowhere.
#[test]
fn a_hint_names_the_collection_that_was_typed() {
    let world = World::with_collection();
    world.write("a.txt", "a");
    let new = || world.run("-c archive new a.txt --each").line();
    let [whole, gone, edited, damaged] = [new(), new(), new(), new()];
    world.run(&format!("-c archive delete {gone} --force last --yes")).succeeded();
    let sidecar = world.path(format!("archive/{edited}/item.toml"));
    let text = std::fs::read_to_string(&sidecar).unwrap();
    std::fs::write(&sidecar, text.replace("title", "subtitle")).unwrap();
    std::fs::write(world.path(format!("archive/{damaged}/doc/a.txt")), "b").unwrap();
    let mut wrong = Vec::new();
    let accept = format!("-c archive repair {edited} --accept");
    let command = |text: &'_ str| text.split_once("urepo ").map(|(_, words)| words.to_owned());
    for (line, hinted) in [
        ("-c archive show 9".to_owned(), "-c archive list"),
        (format!("-c archive cat {gone}"), "-c archive restore"),
        (format!("-c archive export {gone} --to x"), "-c archive restore"),
        (format!("-c archive delete {gone}"), "-c archive show"),
        (format!("-c archive meta set {gone} title=T"), "-c archive show"),
        (format!("meta set {edited} title=T --collection archive"), &accept),
        (format!("-c archive meta set {whole} title+="), "-c archive meta set"),
        (format!("-c archive meta set {whole}"), "-c archive meta set"),
        (format!("-c archive cat {whole}/no.txt"), "-c archive show -v"),
        (format!("-c archive verify {damaged}"), "-c archive recover --accept-loss"),
        (format!("verify archive/. {damaged}"), "-c [WORLD]/archive recover --accept-loss"),
        (format!("-c archive repair {edited}"), &accept),
        ("-c archive restore".to_owned(), "-c archive restore"),
        ("-c archive list !".to_owned(), "-c archive list"),
        (format!("-c archive resolve {gone}"), "-c archive status"),
        ("init archive --host example.org --ip 10.0.0.1".to_owned(), "-c ./archive new"),
        ("-c archive new".to_owned(), "help new"),
        ("-c archive status example.org/none/2026/01.01.00.00".to_owned(), "status --settings"),
    ] {
        let ran = world.run(&line);
        let hint = ran.stderr.split_once("hint").map_or("", |(_, hint)| hint);
        let commands: Vec<_> = hint.split(['`', '\n']).filter_map(command).collect();
        if !commands.iter().any(|it| it.starts_with(hinted)) {
            wrong.push(format!("{line}: {}{}", ran.stdout, ran.stderr));
        }
        let is_whole = |it: &&String| !it.contains(['…', '[']) && !it.contains("COLLECTION");
        for typed in commands.iter().filter(is_whole) {
            if world.run(&format!("--dry-run {typed}")).code == 10 {
                wrong.push(format!("{line}: `urepo {typed}` finds no collection"));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
