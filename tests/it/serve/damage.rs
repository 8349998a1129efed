//! Damaged bytes are never delivered whole, and lose their URL.

use std::fs::OpenOptions;
use std::io::{Read, Seek, SeekFrom, Write};

use super::site::{Answered, SERVICE, Site};
use crate::support::World;

fn world(bytes: usize) -> (World, String) {
    let world = World::with_collection();
    world.write("file.bin", vec![7; bytes]);
    let name = world.run("-c archive new file.bin").line();
    (world, name)
}

fn flip(world: &World, name: &str, at: u64) {
    let path = world.path("archive").join(name).join("doc/file.bin");
    let mut file = OpenOptions::new().write(true).open(path).unwrap();
    file.seek(SeekFrom::Start(at)).unwrap();
    file.write_all(&[8]).unwrap();
}

fn urls(site: &Site, name: &str) -> String {
    let query = "servicesubject=urlRequest&clientinformation.ipaddress=192.0.2.7";
    site.get(&format!("/{SERVICE}?{query}&parsedibiurl.ibi={name}")).text()
}

#[test]
fn a_small_damaged_file_has_no_byte_given() {
    let (world, name) = world(1000);
    flip(&world, &name, 500);
    let site = Site::of(&world.path("archive"));
    assert!(urls(&site, &name).contains("\r\nurl http://"));
    for fields in [[].as_slice(), &["Range: bytes=0-9"]] {
        let answer = site.ask("GET", "a.example.org", &format!("/col/{name}/doc/file.bin"), fields);
        assert_eq!((answer.status, answer.text().as_str()), (500, "alert {file damaged}"));
    }
    // The resolver takes a Copy then.
    let pairs = urls(&site, &name);
    assert!(!pairs.contains("url ") && pairs.contains("\r\nibi {rep "), "{pairs}");
    assert!(urls(&site, &name).contains("ibi {"));
}

#[test]
fn a_large_damaged_file_is_cut_before_its_end() {
    const BYTES: usize = 5 << 20;
    for at in [0, BYTES as u64 / 2, BYTES as u64 - 1] {
        let (world, name) = world(BYTES);
        flip(&world, &name, at);
        let site = Site::of(&world.path("archive"));
        let target = format!("/col/{name}/doc/file.bin");
        let answer = site.get(&target);
        assert_eq!((answer.status, answer.is_whole), (200, false), "{at}");
        // The last 64 KiB are held back.
        assert!(answer.body.len() <= BYTES - (64 << 10), "{}", answer.body.len());
        assert_eq!(site.get(&target).status, 500);
        // So they are where all bytes are asked for as a range.
        for range in ["bytes=0-", &format!("bytes=0-{}", BYTES - 1), &format!("bytes=-{BYTES}")] {
            let site = Site::of(&world.path("archive"));
            let field = format!("Range: {range}");
            let answer = site.ask("GET", "a.example.org", &target, &[&field]);
            assert_eq!((answer.status, answer.is_whole), (206, false), "{range} {at}");
            assert!(answer.body.len() <= BYTES - (64 << 10), "{}", answer.body.len());
            assert_eq!(site.ask("GET", "a.example.org", &target, &[&field]).status, 500);
        }
        assert!(!urls(&site, &name).contains("url "));
        // Mended, it is another version.
        let path = world.path("archive").join(&name).join("doc/file.bin");
        std::fs::write(&path, vec![7; BYTES]).unwrap();
        let answer = site.get(&target);
        assert_eq!((answer.status, answer.body.len()), (200, BYTES));
        assert!(urls(&site, &name).contains("\r\nurl http://"));
    }
}

#[test]
fn a_file_that_becomes_shorter_during_a_download_is_cut() {
    const BYTES: usize = 64 << 20;
    let (world, name) = world(BYTES);
    let site = Site::of(&world.path("archive"));
    for is_proved in [false, true] {
        if is_proved {
            assert!(site.get(&format!("/col/{name}/doc/file.bin")).is_whole);
        }
        let mut stream = site.connect();
        let request =
            format!("GET /col/{name}/doc/file.bin HTTP/1.1\r\nHost: a.example.org\r\n\r\n");
        stream.write_all(request.as_bytes()).unwrap();
        let mut first = [0; 1000];
        stream.read_exact(&mut first).unwrap();
        // Far more than the buffers between here and there hold is still to be read.
        let path = world.path("archive").join(&name).join("doc/file.bin");
        OpenOptions::new().write(true).open(&path).unwrap().set_len(BYTES as u64 - 1).unwrap();
        let mut rest = Vec::new();
        let _ = stream.read_to_end(&mut rest);
        assert!(rest.len() < BYTES - 1000, "{}", rest.len());
        std::fs::write(&path, vec![7; BYTES]).unwrap();
    }
}

#[test]
fn what_is_not_the_file_of_the_sidecar_is_damage() {
    for change in
        ["rm", "truncate -s 10", "ln -sf /etc/passwd", "rm -f FILE; mkfifo", "rm -f FILE; mkdir"]
    {
        let (world, name) = world(1000);
        let path = world.path("archive").join(&name).join("doc/file.bin");
        let path = path.to_str().unwrap();
        let script = format!("{} {path}", change.replace("FILE", path));
        assert!(std::process::Command::new("sh").args(["-c", &script]).status().unwrap().success());
        let site = Site::of(&world.path("archive"));
        let answer: Answered = site.get(&format!("/col/{name}/doc/file.bin"));
        assert_eq!(
            (answer.status, answer.text().as_str()),
            (500, "alert {file damaged}"),
            "{change}"
        );
    }
}

/// Nothing in a sidecar that was edited can be believed, its digests included.
#[test]
fn an_item_without_its_seal_is_not_given() {
    let (world, name) = world(1000);
    let site = Site::of(&world.path("archive"));
    let targets = [
        format!("/{name}"),
        format!("/{name}:"),
        format!("/col/{name}/doc/file.bin"),
        format!("/col/{name}/"),
    ];
    // Twice: what was given out already is not given out any more.
    for target in targets.iter().chain(&targets) {
        assert!([200, 302].contains(&site.get(target).status), "{target}");
    }
    let path = world.path("archive").join(&name).join("item.toml");
    let text = std::fs::read_to_string(&path).unwrap();
    std::fs::write(&path, format!("# edited\n{text}")).unwrap();
    for target in &targets {
        assert_eq!(site.get(target).status, 500, "{target}");
    }
    assert_eq!(urls(&site, &name), "");
    std::fs::write(&path, "{{bad").unwrap();
    for target in &targets {
        assert_eq!(site.get(target).status, 500, "{target}");
    }
    assert_eq!(urls(&site, &name), "");
    std::fs::write(&path, text).unwrap();
    for target in &targets {
        assert!([200, 302].contains(&site.get(target).status), "{target}");
    }
}

/// A file that is asked for often stays open, and every change of it is seen all the same.
#[test]
fn changes_are_seen_at_once() {
    let (world, name) = world(1000);
    let site = Site::of(&world.path("archive"));
    let target = format!("/col/{name}/doc/file.bin");
    let path = world.path("archive").join(&name).join("doc/file.bin");
    let three = || [site.get(&target).status, site.get(&target).status, site.get(&target).status];
    assert_eq!(three(), [200; 3]);
    flip(&world, &name, 5);
    assert_eq!(three(), [500; 3]);
    std::fs::remove_file(&path).unwrap();
    std::fs::write(&path, vec![7; 1000]).unwrap();
    assert_eq!(three(), [200; 3]);
    std::fs::rename(&path, path.with_extension("away")).unwrap();
    assert_eq!(three(), [500; 3]);
    std::fs::rename(path.with_extension("away"), &path).unwrap();
    assert_eq!(three(), [200; 3]);
    world.run(&format!("-c archive meta set {name} access=closed")).succeeded();
    assert_eq!(three(), [403; 3]);
    world.run(&format!("-c archive meta set {name} access=open")).succeeded();
    assert_eq!(three(), [200; 3]);
    world.run(&format!("-c archive delete -y {name} --force last")).succeeded();
    assert_eq!(three(), [410; 3]);
    world.run(&format!("-c archive restore {name}")).succeeded();
    assert_eq!(three(), [200; 3]);
}
