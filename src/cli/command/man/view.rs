//! A page on a terminal: formatted by `man`, or as plain text in a pager.

use std::io::Write as _;
use std::process::{Command, Stdio};

use super::roff::unescaped;
use crate::cli::Done;
use crate::cli::context::ignore_ctrl_c;
use crate::cli::printer::Printer;

/// The exit code of a shell that cannot find a program.
const NOT_FOUND: i32 = 127;

/// The exit code of a `man` without `-l`, which has printed nothing.
const USAGE: i32 = 1;

/// Shows the page `roff`.
pub(super) fn show(roff: &str, printer: &Printer) -> Done {
    // Ctrl-C is meant for the program that shows the page.
    ignore_ctrl_c()?;
    if takes(Command::new("man").args(["-l", "-"]), roff, &[NOT_FOUND, USAGE]) {
        return Ok(());
    }
    let text = plain(roff);
    let named = ["MANPAGER", "PAGER"].map(|name| std::env::var(name).ok());
    let pagers = named.into_iter().flatten().filter(|it| !it.trim().is_empty());
    for pager in pagers.chain(["less".to_owned()]) {
        // The shell outlives a Ctrl-C that its pager catches.
        let script = format!("trap : INT; {pager}");
        if takes(Command::new("sh").args(["-c", &script]), &text, &[NOT_FOUND]) {
            return Ok(());
        }
    }
    printer.lines(&text)
}

/// Whether `command` took `text`: not if it could not be started, or ended with one of the codes `refusals`.
/// A pager may be closed before its end.
fn takes(command: &mut Command, text: &str, refusals: &[i32]) -> bool {
    let Ok(mut child) = command.stdin(Stdio::piped()).stderr(Stdio::null()).spawn() else {
        return false;
    };
    if let Some(mut input) = child.stdin.take() {
        let _ = input.write_all(text.as_bytes());
    }
    let code = child.wait().ok().and_then(|status| status.code());
    !code.is_some_and(|code| refusals.contains(&code))
}

/// The text of a page, without fonts; text below a tag or a heading is indented.
fn plain(roff: &str) -> String {
    // The indent of the next line, and of those after it.
    let (mut text, mut indent, mut below) = (String::new(), 4, 4);
    for line in roff.lines() {
        let (name, heading) = line.split_once(' ').unwrap_or((line, ""));
        match name {
            ".TH" | ".nh" | ".nf" | ".fi" => continue,
            ".SH" => text += &format!("\n{}\n", unescaped(heading.trim_matches('"'))),
            ".SS" => text += &format!("\n  {}\n", unescaped(heading.trim_matches('"'))),
            ".PP" | ".TP" | ".IP" => text.push('\n'),
            ".RS" | ".RE" => {}
            _ => text += &format!("{:indent$}{}\n", "", unescaped(line)),
        }
        (indent, below) = match name {
            ".TP" => (4, 8),
            ".IP" => (6, 6),
            ".RS" => (below + 4, below + 4),
            ".SH" | ".SS" | ".PP" | ".RE" => (4, 4),
            _ => (below, below),
        };
    }
    text.trim_start().to_owned()
}

#[cfg(test)]
mod tests {
    use super::super::page;
    use super::*;

    #[test]
    fn pages_are_readable_without_man() {
        let mut urepo = crate::cli::definitions();
        urepo.build();
        for (name, command) in page::pages(&urepo) {
            let text = plain(&page::of_command(&name, command));
            assert!(text.starts_with("NAME\n    urepo-"), "{name}: {text}");
            assert!(text.contains("\nOPTIONS\n"), "{name}");
            let is_roff =
                |line: &str| line.starts_with('.') || line.contains("\\f") || line.contains("\\-");
            assert!(!text.lines().any(is_roff), "{name}: {text}");
        }
        assert_eq!(unescaped(r"\fB\-\-each\fR \(aq\[u2026]\(aq a\eb"), "--each '…' a\\b");
        assert_eq!(plain(".SH \"X\"\n.TP\n\\fBtag\\fR\nword\n"), "X\n\n    tag\n        word\n");
    }
}
