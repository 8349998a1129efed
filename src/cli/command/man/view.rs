//! A page on a terminal: formatted by `man`, or as plain text in a pager.

use std::io::Write as _;
use std::process::{Command, Stdio};

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
    let (mut text, mut indent, mut is_tag) = (String::new(), 4, false);
    for line in roff.lines() {
        let (name, rest) = line.split_once(' ').unwrap_or((line, ""));
        match name {
            ".TH" | ".nh" | ".nf" | ".fi" => {}
            ".SH" => {
                text += &format!("\n{}\n", unescaped(rest.trim_matches('"')));
                indent = 4;
            }
            ".SS" => {
                text += &format!("\n  {}\n", unescaped(rest.trim_matches('"')));
                indent = 4;
            }
            ".PP" => {
                text.push('\n');
                indent = 4;
            }
            ".TP" => {
                text.push('\n');
                is_tag = true;
            }
            ".IP" => {
                text.push('\n');
                indent = 6;
            }
            ".RS" => indent += 4,
            ".RE" => indent = 4,
            _ => {
                let indent = if is_tag { 4 } else { indent };
                text += &format!("{}{}\n", " ".repeat(indent), unescaped(line));
                is_tag = false;
            }
        }
        if name == ".TP" {
            indent = 8;
        }
    }
    text.trim_start().to_owned()
}

/// The text of a line of roff.
fn unescaped(line: &str) -> String {
    let mut text = String::new();
    let mut rest = line;
    while let Some((before, after)) = rest.split_once('\\') {
        text += before;
        let (character, length) = match after.as_bytes() {
            [b'f', _, ..] => ("", 2),
            [b'&', ..] => ("", 1),
            [b'-', ..] => ("-", 1),
            [b'e', ..] => ("\\", 1),
            [b'(', b'a', b'q', ..] => ("'", 3),
            [b'(', b'd', b'q', ..] => ("\"", 3),
            [b'(', b'g', b'a', ..] => ("`", 3),
            [b'(', b'h', b'a', ..] => ("^", 3),
            [b'(', b't', b'i', ..] => ("~", 3),
            [b'[', b'u', ..] => {
                let end = after.find(']').unwrap_or(after.len());
                let code = after.get(2..end).and_then(|hex| u32::from_str_radix(hex, 16).ok());
                text.extend(code.and_then(char::from_u32));
                ("", (end + 1).min(after.len()))
            }
            _ => ("", 0),
        };
        text += character;
        rest = &after[length..];
    }
    text + rest
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
