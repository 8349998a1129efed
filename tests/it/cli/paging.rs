//! `urepo man` on a terminal: who shows the page.

use std::fs::File;
use std::os::unix::process::CommandExt;

use super::progress::read_until;
use crate::support::{World, wide_terminal};

/// What is on the terminal after `urepo man mint`, where `man` and the pagers are these scripts.
fn shown(man: &str, manpager: &str, pager: &str) -> Option<String> {
    use std::os::unix::fs::PermissionsExt;
    let world = World::new();
    for (name, script) in [("man", man), ("manpager", manpager), ("pager", pager)] {
        let path = world.write(&format!("bin/{name}"), format!("#!/bin/sh\n{script}\n"));
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o755)).unwrap();
    }
    let (mut own, programs) = wide_terminal(80)?;
    let path = format!("{}:/usr/bin:/bin", world.path("bin").display());
    let mut command = world.command(["man", "mint"]);
    command.env("PATH", path).env("TERM", "dumb").env("MANPAGER", "manpager").env("PAGER", "pager");
    command.stdout(File::try_clone(&programs).unwrap()).stderr(programs).process_group(0);
    let mut child = command.spawn().unwrap();
    drop(command);
    let mut shown = String::new();
    read_until(&mut own, &mut shown, |_| false);
    assert!(child.wait().unwrap().success(), "{shown}");
    Some(shown)
}

#[test]
fn the_first_program_that_begins_is_the_only_one() {
    let took = |shown: Option<String>, expected: &str| {
        assert!(shown.as_deref().is_none_or(|it| it == expected), "{shown:?}");
    };
    // Left before the end of the page, whatever its exit code is.
    took(shown("echo man; exit 3", "echo manpager", "echo pager"), "man\n");
    took(shown("exit 127", "echo manpager; exit 2", "echo pager"), "manpager\n");
    took(shown("exit 1", "exit 127", "echo pager"), "pager\n");
    let Some(page) = shown("exit 127", "exit 127", "cat") else { return };
    assert!(page.starts_with("NAME\n    urepo-mint"), "{page}");
}

/// A terminal sends Ctrl-C to all that runs in front; a pager goes on, and so does urepo.
#[test]
fn ctrl_c_in_the_pager_does_not_end_urepo() {
    let press = "trap '' INT; kill -INT 0; kill -INT 0; kill -INT 0; echo shown";
    for (man, manpager) in [(press, "exit 127"), ("exit 127", press)] {
        let Some(shown) = shown(man, manpager, "exit 127") else { return };
        assert_eq!(shown, "shown\n");
    }
}
