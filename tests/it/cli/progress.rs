//! What is drawn on a terminal, and what is written between.

use std::fs::File;
use std::io::{Read as _, Write as _};
use std::process::Stdio;

use crate::support::{World, terminal};

/// Clears the line that the cursor is in.
const CLEARED: &str = "\r\u{1b}[2K";

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
    let Some((mut own, programs)) = terminal() else { return };
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
    let (before, after) = shown.split_once(&format!("{name}\r\n")).unwrap();
    assert!(before.ends_with(CLEARED), "{shown:?}");
    assert!(after.is_empty() || after.ends_with(CLEARED), "{shown:?}");
    let drawn = before.rsplit(CLEARED).find(|line| line.contains("iB/s")).unwrap();
    assert!(!drawn.contains(" of ") && !drawn.contains("left"), "{drawn:?}");
}
