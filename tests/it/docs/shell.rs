//! The shell in which the tests type the commands of a page, and what counts as the same output.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, Command, Stdio};

use crate::support::{World, wide_terminal};

/// The home directory of the person in the examples; stands for the scratch directory.
const HOME: &str = "/home/ana";

/// The reader's shell, which keeps its directory and variables from one command to the next.
pub(super) struct Shell {
    process: Child,
    reader: BufReader<File>,
    scratch: String,
    /// The dates in the page, and those issued in their place this time.
    dates: BTreeMap<String, String>,
}

/// What ends the output of each command, before its exit code.
const END: &str = "\u{1}";

impl Shell {
    /// A shell on a terminal of that width; nothing where there are no terminals.
    pub(super) fn start(world: &World, columns: u16) -> Option<Shell> {
        Shell::on_terminal(world, columns, "NO_COLOR")
    }

    /// The same in colour.
    pub(super) fn in_colour(world: &World, columns: u16) -> Option<Shell> {
        Shell::on_terminal(world, columns, "CLICOLOR_FORCE")
    }

    fn on_terminal(world: &World, columns: u16, colour: &str) -> Option<Shell> {
        let (own, programs) = wide_terminal(columns)?;
        let mut command = Shell::command(world);
        // Without progress bars, which do not stay.
        command.env("TERM", "dumb").env(colour, "1").env("COLUMNS", columns.to_string());
        let process = command.stdout(programs).spawn().unwrap();
        Some(Shell::of(world, process, own))
    }

    fn command(world: &World) -> Command {
        let program = Path::new(env!("CARGO_BIN_EXE_urepo")).parent().unwrap().display();
        let path = format!("{program}:{}", std::env::var("PATH").unwrap());
        let mut command = Command::new("sh");
        command.current_dir(world.path("")).stdin(Stdio::piped());
        command.env("PATH", path).env("HOME", scratch(world)).env("LC_ALL", "C");
        command.env("XDG_CONFIG_HOME", world.path(".config")).env("TZ", "UTC");
        for (name, _) in std::env::vars_os() {
            if name.to_string_lossy().starts_with("UREPO_") {
                command.env_remove(name);
            }
        }
        // Nothing of the machine that tests: its last identifiers.
        command.env("UREPO_STATE", world.path(".local/state/urepo"));
        command
    }

    fn of(world: &World, mut process: Child, output: File) -> Shell {
        process.stdin.as_mut().unwrap().write_all(b"exec 2>&1\numask 022\n").unwrap();
        let reader = BufReader::new(output);
        Shell { process, reader, scratch: scratch(world), dates: BTreeMap::new() }
    }

    /// The exit code and the lines that a command prints.
    pub(super) fn types(&mut self, command: &str) -> (i32, Vec<String>) {
        let command = replace_dates(command, |date| self.dates.get(date).cloned());
        let command = command.replace(HOME, &self.scratch);
        // The commands' input is not the script.
        let script = format!("{{ {command}\n}} </dev/null\nprintf '\\n{END}%s\\n' $?\n");
        self.process.stdin.as_mut().unwrap().write_all(script.as_bytes()).unwrap();
        let mut lines = Vec::new();
        loop {
            let mut line = String::new();
            assert_ne!(self.reader.read_line(&mut line).unwrap(), 0, "the shell ended: {command}");
            let line = line.trim_end_matches(['\r', '\n']);
            if let Some(code) = line.strip_prefix(END) {
                // The line end before the mark is ours, unless the output had none.
                if lines.last().is_some_and(String::is_empty) {
                    lines.pop();
                }
                return (code.parse().unwrap(), lines);
            }
            lines.push(line.replace(&self.scratch, HOME).trim_end().to_owned());
        }
    }

    /// Whether `output` is what is `shown`; if so, learns which dates stand for which.
    pub(super) fn recognises(&mut self, shown: &[&str], output: &[String]) -> bool {
        if !all_match(shown, output) {
            return false;
        }
        for (shown, output) in shown.iter().zip(output).filter(|(shown, _)| !shown.contains("[..]"))
        {
            let given = dates_in(output);
            self.dates.extend(dates_in(shown).into_iter().zip(given).flat_map(|(shown, given)| {
                // A name may be called by its end alone.
                let ends = (end_of(&shown).to_owned(), end_of(&given).to_owned());
                [(shown, given), ends]
            }));
        }
        true
    }
}

impl Drop for Shell {
    fn drop(&mut self) {
        drop(self.process.stdin.take());
        let _ = self.process.wait();
    }
}

fn scratch(world: &World) -> String {
    world.path("").display().to_string().trim_end_matches('/').to_owned()
}

fn end_of(date: &str) -> &str {
    date.rsplit('/').next().unwrap_or(date)
}

fn all_match(shown: &[&str], output: &[String]) -> bool {
    match shown {
        [] => output.is_empty(),
        ["...", rest @ ..] => (0..=output.len()).any(|skip| all_match(rest, &output[skip..])),
        [line, rest @ ..] => output.split_first().is_some_and(|(found, others)| {
            line_matches(&plain(line), &plain(found)) && all_match(rest, others)
        }),
    }
}

fn line_matches(shown: &str, found: &str) -> bool {
    let Some((before, after)) = shown.split_once("[..]") else { return shown == found };
    found.strip_prefix(before).is_some_and(|rest| {
        (0..=rest.len()).any(|at| rest.is_char_boundary(at) && line_matches(after, &rest[at..]))
    })
}

/// A line without what is different each time.
fn plain(line: &str) -> String {
    let line = replace_dates(line, |_| Some("DATE".to_owned()));
    // Columns are as wide as the identifiers of this time.
    let words: Vec<_> = line.split("  ").map(str::trim).filter(|it| !it.is_empty()).collect();
    let indent = if line.starts_with("  ") { "  " } else { "" };
    let line = format!("{indent}{}", words.join("  "));
    let line = without_person(&line).or_else(|| without_deposit(&line)).unwrap_or(line);
    replace_tokens(&line, |token| {
        let is_hex = |text: &str| text.bytes().all(|byte| byte.is_ascii_hexdigit());
        let is_time = token.ends_with('Z') && token.as_bytes().get(10) == Some(&b'T');
        let is_day = token.starts_with("20") && token.split('-').count() == 3;
        match token.len() {
            5 if token.as_bytes()[2] == b':' => Some("MINUTE".to_owned()),
            4 if token.starts_with("20") => Some("YEAR".to_owned()),
            16 | 32 | 64 if is_hex(token) => Some("HEX".to_owned()),
            10 if is_day => Some("DAY".to_owned()),
            20.. if is_time => Some("TIME".to_owned()),
            _ => None,
        }
    })
}

/// A line of the log, which ends with the user and the machine.
fn without_person(line: &str) -> Option<String> {
    let (before, who) = line.rsplit_once(" by ")?;
    matches!(who.split(' ').collect::<Vec<_>>()[..], [_, "on", _])
        .then(|| format!("{before} by WHO"))
}

/// The line of `show` on a deposit: when, by whom, and from where.
fn without_deposit(line: &str) -> Option<String> {
    let (_, from) = line.strip_prefix("deposited  ")?.split_once(" UTC by ")?;
    Some(format!("deposited  {}", from.split_once(", ").map_or("", |(_, from)| from)))
}

fn dates_in(line: &str) -> Vec<String> {
    let dates = std::cell::RefCell::new(Vec::new());
    replace_dates(line, |date| {
        dates.borrow_mut().push(date.to_owned());
        None
    });
    dates.into_inner()
}

/// Replaces the dates of names: `2026/11.21.02.13.07.5`, or the end of one, `11.21.02.13.07.5`.
fn replace_dates(line: &str, replacement: impl Fn(&str) -> Option<String>) -> String {
    let numbers = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.');
    replace_tokens(line, |token| {
        let (token, mark) = token.strip_suffix(':').map_or((token, ""), |token| (token, ":"));
        // A key of a search goes before its item.
        let (key, token) = match token.split_once(':') {
            Some((key, item)) if key.chars().all(|it| it.is_ascii_lowercase() || it == '_') => {
                (format!("{key}:"), item)
            }
            _ => (String::new(), token),
        };
        let parts: Vec<_> = token.split('/').collect();
        let end = parts.iter().rposition(|part| numbers(part) && part.matches('.').count() >= 3)?;
        let year = end.checked_sub(1).filter(|at| parts[*at].len() == 4 && numbers(parts[*at]));
        let first = year.unwrap_or(end);
        let replaced = replacement(&parts[first..=end].join("/"))?;
        let around = [&parts[..first], &[replaced.as_str()], &parts[end + 1..]];
        Some(key + &around.concat().join("/") + mark)
    })
}

/// Replaces words made of what names, times and digests are made of.
fn replace_tokens(line: &str, replacement: impl Fn(&str) -> Option<String>) -> String {
    let belongs = |it: char| it.is_ascii_alphanumeric() || "./@:-_".contains(it);
    let mut text = String::new();
    let mut rest = line;
    while !rest.is_empty() {
        let length = rest.find(|it| !belongs(it)).unwrap_or(rest.len());
        let (token, others) = rest.split_at(length);
        text += &replacement(token).unwrap_or_else(|| token.to_owned());
        let other = others.chars().next();
        text.extend(other);
        rest = &others[other.map_or(0, char::len_utf8)..];
    }
    text
}
