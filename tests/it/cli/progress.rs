//! What is drawn on a terminal, and what is written between.

use std::fs::File;
use std::io::{ErrorKind, PipeReader, PipeWriter, Read as _, Write as _};
use std::process::{Child, Stdio};

use rustix::fs::{OFlags, fcntl_getfl, fcntl_setfl};

use crate::support::{World, screen, wide_terminal};

/// Clears the line that the cursor is in.
const CLEARED: &str = "\r\u{1b}[2K";

/// More lines than any machine draws before the totals are known.
const MOST_FRAMES: usize = 500;

/// Reads what is shown until `enough`, or until nobody writes to the terminal any more.
pub(super) fn read_until(own: &mut File, shown: &mut String, enough: impl Fn(&str) -> bool) {
    let mut buffer = [0; 4096];
    while !enough(shown) {
        match own.read(&mut buffer) {
            // The last program has closed it.
            Ok(0) | Err(_) => return,
            Ok(length) => shown.push_str(&String::from_utf8_lossy(&buffer[..length])),
        }
    }
}

/// A stream, of which nobody knows how long it is: no bar, and the name in a line of its own.
#[test]
fn of_a_stream_leaves_only_the_name() {
    let world = World::with_collection();
    let Some((mut own, programs)) = wide_terminal(80) else { return };
    let mut command = world.command(["-c", "archive", "new", "-"]);
    command.env("TERM", "xterm").stdin(Stdio::piped());
    command.stdout(programs.try_clone().unwrap()).stderr(programs);
    let mut child = command.spawn().unwrap();
    drop(command);
    let mut input = child.stdin.take().unwrap();
    let mut shown = String::new();
    // More than a buffer, so that some of it is counted before the end comes.
    input.write_all(&vec![7; 400_000]).unwrap();
    read_until(&mut own, &mut shown, |shown| shown.contains("iB/s"));
    drop(input);
    read_until(&mut own, &mut shown, |_| false);
    assert!(child.wait().unwrap().success());

    let name = world.run("-c archive list").line();
    assert_eq!(screen(80, &shown), [name]);
    let drawn = shown.rsplit(CLEARED).find(|line| line.contains("iB/s")).unwrap();
    assert!(!drawn.contains(" of ") && !drawn.contains("left"), "{drawn:?}");
}

/// A pipe that takes nothing before it is read: whoever reports there waits.
fn full_pipe() -> (PipeReader, PipeWriter) {
    let (reader, mut writer) = std::io::pipe().unwrap();
    let flags = fcntl_getfl(&writer).unwrap();
    fcntl_setfl(&writer, flags | OFlags::NONBLOCK).unwrap();
    let full = loop {
        if let Err(error) = writer.write(&[b'\n'; 4096]) {
            break error;
        }
    };
    assert_eq!(full.kind(), ErrorKind::WouldBlock);
    fcntl_setfl(&writer, flags).unwrap();
    (reader, writer)
}

/// Runs `line` on a terminal: its process, the terminal, and its output, which waits to be read.
fn begin(world: &World, line: &str) -> Option<(Child, File, PipeReader)> {
    let (own, programs) = wide_terminal(80)?;
    let (reader, writer) = full_pipe();
    let mut command = world.command(line.split(' '));
    command.env("TERM", "xterm").stdout(writer).stderr(programs);
    Some((command.spawn().unwrap(), own, reader))
}

/// Three files of 10 KiB, items made of them, and a tree of two items that is to be adopted.
fn filled() -> World {
    let world = World::with_collection();
    world.run("init mirror --host mirror.example.org").succeeded();
    for (name, bytes) in [("first", 5000), ("second", 3000), ("third", 2240)] {
        world.write(&format!("album/{name}.txt"), vec![b'a'; bytes]);
    }
    world.run("-c archive new --each album/first.txt album/second.txt album/third.txt").succeeded();
    for date in ["2009/02.13.17.46", "2009/02.14.10.00"] {
        world.write(&format!("old/sid.inpe.br/mtc-m18/{date}/doc/first.txt"), vec![b'a'; 5120]);
    }
    world
}

#[test]
fn totals_are_true_from_the_first_and_the_file_in_work_is_named() {
    for (line, count) in [
        ("-c archive new album", "of 3 files"),
        ("-c archive new --each album/first.txt album/second.txt album/third.txt", "of 3 items"),
        ("-c archive import album --remove-source", "of 3 items"),
        ("-c archive import album", "of 3 items"),
        ("init old --adopt", "of 2 items"),
        ("-c archive copy --all --to mirror -v", "of 3 items"),
        ("-c archive migrate --all --to mirror -v", "of 3 items"),
        ("-c archive export --all --to out", "of 3 items"),
        ("-c archive export --all --format tar --to -", "of 3 items"),
        ("verify archive", "of 3 items"),
    ] {
        let world = filled();
        world.write("list", "album/first.txt\0album/second.txt\0album/third.txt");
        if line == "verify archive" {
            // It reports what is damaged.
            let name = world.run("-c archive list").stdout.lines().next().unwrap().to_owned();
            let doc = world.path("archive").join(name).join("doc");
            let damaged = std::fs::read_dir(doc).unwrap().next().unwrap().unwrap();
            let bytes = damaged.metadata().unwrap().len().try_into().unwrap();
            std::fs::write(damaged.path(), vec![b'b'; bytes]).unwrap();
        }
        let Some((mut child, mut own, mut reader)) = begin(&world, line) else { return };
        let mut shown = String::new();
        let is_whole = |frame: &str| frame.contains("of 10 KiB  ") && frame.contains(count);
        let is_named = |frame: &str| frame.contains(".txt");
        // Within one file system an item moves as a whole.
        let moves = line.contains("migrate");
        let is_complete = |shown: &str| {
            shown.split(CLEARED).any(|frame| is_whole(frame) && (moves || is_named(frame)))
        };
        read_until(&mut own, &mut shown, |shown| {
            is_complete(shown) || shown.matches(CLEARED).count() > MOST_FRAMES
        });
        assert!(is_complete(&shown), "{line}: {shown:?}");
        let answers = std::thread::spawn(move || reader.read_to_end(&mut Vec::new()).unwrap());
        read_until(&mut own, &mut shown, |_| false);
        answers.join().unwrap();
        child.wait().unwrap();

        let frames = shown.split(CLEARED).filter(|frame| frame.contains("/s  "));
        // The cursor may go up first.
        let frames = frames.map(|frame| frame.trim_start_matches("\u{1b}[1A"));
        let frames: Vec<_> = frames.map(|frame| frame.split('\u{1b}').next().unwrap()).collect();
        let lines = frames.iter().flat_map(|frame| frame.lines());
        assert!(lines.clone().all(|line| line.chars().count() < 80), "{line}: {frames:?}");
        let measured: Vec<_> = frames.iter().filter(|frame| frame.contains(" of ")).collect();
        assert!(!measured.is_empty(), "{line}: {shown:?}");
        assert!(measured.iter().all(|frame| is_whole(frame)), "{line}: {measured:?}");
        let left = screen(80, &shown);
        assert!(!left.iter().any(|row| row.contains("/s  ") || is_named(row)), "{line}: {left:?}");
    }
}
