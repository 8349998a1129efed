//! README.md and the pages in `docs/` are true: the console blocks of each page are one session, which
//! begins in an empty directory and gives the output shown, except for dates, digests and ids.
//!
//! In expected output `[..]` matches any text within a line, and a line `...` any number of lines.
//! `SNAPSHOTS=overwrite cargo test docs` replaces output that differs.

mod guides;
mod picture;
mod remedies;
mod shell;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use self::shell::Shell;
use super::support::{World, terminal};

#[test]
fn the_console_blocks_are_true() {
    let overwrite = std::env::var("SNAPSHOTS").is_ok_and(|value| value == "overwrite");
    if terminal().is_none() {
        return;
    }
    let mut sessions = 0;
    let mut wrong = Vec::new();
    for path in pages() {
        let page = std::fs::read_to_string(&path).unwrap();
        let Some(session) = Session::type_again(&page) else { continue };
        sessions += 1;
        if overwrite && !session.differences.is_empty() {
            std::fs::write(&path, session.page).unwrap();
        } else {
            let page = path.display();
            wrong.extend(session.differences.iter().map(|text| format!("{page}:\n{text}")));
        }
    }
    assert!(sessions >= 3, "the pages show nothing");
    assert!(
        wrong.is_empty(),
        "{}\n`SNAPSHOTS=overwrite cargo test docs` accepts it",
        wrong.join("\n")
    );
}

/// The links between the pages lead to files, and to headings of them.
#[test]
fn the_links_lead_somewhere() {
    let mut links = 0;
    for path in pages() {
        let page = std::fs::read_to_string(&path).unwrap();
        for (_, after) in page.match_indices("](").map(|(at, mark)| page.split_at(at + mark.len()))
        {
            let link = after.split(')').next().unwrap();
            if link.contains("://") {
                continue;
            }
            links += 1;
            let (file, heading) = link.split_once('#').unwrap_or((link, ""));
            let target = if file.is_empty() { path.clone() } else { path.with_file_name(file) };
            let target = path.parent().unwrap().join(target);
            let text = std::fs::read_to_string(&target).unwrap_or_default();
            assert!(!text.is_empty(), "{}: {link} leads nowhere", path.display());
            let anchor = |line: &str| {
                let title = line.trim_start_matches('#').trim().to_lowercase().replace(' ', "-");
                title.chars().filter(|it| it.is_alphanumeric() || *it == '-').collect::<String>()
            };
            let is_there =
                text.lines().any(|line| line.starts_with('#') && anchor(line) == heading);
            assert!(heading.is_empty() || is_there, "{}: no heading {link}", path.display());
        }
    }
    assert!(links > 5, "the pages have links");
}

#[test]
fn the_command_for_a_fresh_machine_deposits_and_shows() {
    let readme = page("README.md");
    let blocks = Block::read_all(&readme, "sh");
    let mut commands = blocks.iter().flat_map(|block| block.lines.iter().copied());
    let mut main = commands.find(|line| line.starts_with("cargo run")).expect("one").to_owned();
    while main.ends_with('|') {
        main += commands.next().expect("a pipe leads somewhere");
    }
    assert_eq!(commands.next(), Some("cargo test"), "the other one runs the tests");
    let built = main.replace("cargo run --release -- ", "urepo ");
    let built = built.replace("cargo run --quiet --release -- ", "urepo ");
    assert!(!built.contains("cargo"), "{built}");
    let world = World::new();
    world.write("README.md", &readme);
    let Some(mut shell) = Shell::start(&world, COLUMNS) else { return };
    let (code, output) = shell.types(&built);
    assert_eq!(code, 0, "{built}\n{}", output.join("\n"));
    for expected in ["title      README.md", "opens      README.md"] {
        assert!(output.iter().any(|line| line == expected), "{built}\n{}", output.join("\n"));
    }
}

#[test]
fn the_exit_codes_are_those_of_the_manual() {
    let row = |line: &str| {
        let mut cells = line.trim_matches('|').split('|').map(str::trim);
        let code: u8 = cells.next()?.parse().ok()?;
        Some((code, cells.next()?.to_owned()))
    };
    let table: BTreeMap<_, _> = page("docs/cron.md").lines().filter_map(row).collect();
    let page = page("man/urepo.7");
    let section = page.split("\n.SH ").find(|text| text.starts_with("\"EXIT STATUS\""));
    let mut manual = BTreeMap::new();
    for entry in section.expect("the codes").split("\n.TP\n").skip(1) {
        let (code, meaning) = entry.split_once('\n').unwrap();
        let code = code.trim_start_matches(".B ").parse().unwrap();
        let meaning = meaning.replace("\\fB", "").replace("\\fR", "").replace("\\-", "-");
        manual.insert(code, meaning.replace('\n', " ").trim().trim_end_matches('.').to_owned());
    }
    // The table has no code marks and capitals at the beginning of a meaning.
    let plain = |text: &String| text.replace('`', "").to_lowercase();
    let table: BTreeMap<_, _> = table.iter().map(|(code, text)| (*code, plain(text))).collect();
    let manual: BTreeMap<_, _> = manual.iter().map(|(code, text)| (*code, plain(text))).collect();
    assert_eq!(table, manual);
}

const ROOT: &str = env!("CARGO_MANIFEST_DIR");

fn page(path: &str) -> String {
    std::fs::read_to_string(Path::new(ROOT).join(path)).unwrap()
}

/// README.md and the pages in `docs/`.
fn pages() -> Vec<PathBuf> {
    let docs = walkdir::WalkDir::new(Path::new(ROOT).join("docs")).sort_by_file_name();
    let mut pages: Vec<_> = docs.into_iter().map(|entry| entry.unwrap().into_path()).collect();
    pages.retain(|path| path.extension().is_some_and(|extension| extension == "md"));
    pages.push(Path::new(ROOT).join("README.md"));
    pages
}

/// How wide the terminal of the examples is.
const COLUMNS: u16 = 110;

/// The console blocks of a page, typed again.
struct Session {
    /// The page with the output of this time.
    page: String,
    /// The commands whose output differs from the page, with that output.
    differences: Vec<String>,
}

impl Session {
    /// `None` for a page without console blocks, or where there are no terminals.
    fn type_again(page: &str) -> Option<Session> {
        let blocks = Block::read_all(page, "console");
        if blocks.is_empty() {
            return None;
        }
        let world = World::new();
        let mut shell = Shell::start(&world, COLUMNS)?;
        let mut lines: Vec<String> = Vec::new();
        let mut differences = Vec::new();
        let mut at = 0;
        for step in blocks.iter().flat_map(Block::steps) {
            let (code, output) = shell.types(step.command);
            let before = differences.join("\n");
            assert_eq!(code, 0, "{before}\n`{}`:\n{}", step.command, output.join("\n"));
            lines.extend(page.lines().take(step.output_at).skip(at).map(str::to_owned));
            at = step.output_at + step.output.len();
            if shell.recognises(&step.output, &output) {
                lines.extend(step.output.iter().map(ToString::to_string));
            } else {
                differences.push(format!("$ {}\n{}", step.command, output.join("\n")));
                lines.extend(output);
            }
        }
        lines.extend(page.lines().skip(at).map(str::to_owned));
        Some(Session { page: lines.join("\n") + "\n", differences })
    }
}

/// A block of code.
struct Block<'a> {
    /// The number of its first line, from zero.
    at: usize,
    lines: Vec<&'a str>,
}

/// A command of a block, and the output that is shown.
struct Step<'a> {
    command: &'a str,
    output_at: usize,
    output: Vec<&'a str>,
}

impl<'a> Block<'a> {
    fn read_all(text: &'a str, language: &str) -> Vec<Block<'a>> {
        let opening = format!("```{language}");
        let mut blocks = Vec::new();
        let mut lines = text.lines().enumerate();
        while let Some((at, _)) = lines.find(|(_, line)| *line == opening) {
            let lines = lines.by_ref().map(|(_, line)| line).take_while(|line| *line != "```");
            blocks.push(Block { at: at + 1, lines: lines.collect() });
        }
        blocks
    }

    fn steps(&self) -> Vec<Step<'a>> {
        let mut steps: Vec<Step<'a>> = Vec::new();
        for (number, line) in self.lines.iter().enumerate() {
            if let Some(command) = line.strip_prefix("$ ") {
                let output_at = self.at + number + 1;
                steps.push(Step { command, output_at, output: Vec::new() });
            } else {
                steps.last_mut().expect("a block begins with a command").output.push(line);
            }
        }
        steps
    }
}
