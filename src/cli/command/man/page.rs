//! A page of the manual, in the usual order of sections.

use clap::builder::StyledStr;
use clap::{Arg, Command};
use urepo::verify::Code;

use super::formats::FilePage;
use super::roff::{Roff, bold, italic};
use crate::cli::config::VARIABLES;
use crate::cli::exit::{Exit, TABLE};

/// The date of this version in the change log.
const RELEASED: &str = "2026-11-21";

/// The line that `whatis` prints: shorter than the help.
const ABOUT: &str = "keep files in uniform repositories, under permanent identifiers";

/// The examples of the page of urepo itself; each command has its own.
const FIRST_DAY: [&str; 6] = [
    "urepo init archive --host archive.example.org",
    "urepo -c archive new report.pdf --title 'Annual report'",
    "urepo -c archive list --long",
    "urepo -c archive list -0 | xargs -0 urepo -c archive show",
    "urepo -c archive verify",
    "urepo -c archive manifest --all --root | (cd archive && sha256sum -c)",
];

/// The text of the page of urepo after the environment, in the form of [`sections`].
const FILES_AND_FORMS: &str = r#"# files
urepo.toml | Marks the root of a collection, and lists its subsystems. You may edit it.
.urepo/ | Beside it: locks, the memory of the last identifier, drafts of items, the log, and the index, which may be deleted. Do not edit it.
$XDG_CONFIG_HOME/urepo/config.toml | Settings of the user, and names of collections.
/etc/urepo/config.toml | The same for the machine.
urepo.toml(5) and item.toml(5) list the keys.
# columns
urepo-list(1), urepo-find(1), urepo-log(1) and urepo-whereis(1) print rows. --columns chooses the values of a row,
  --sort and --limit which rows come first.
A column is a key of the records of --json: `id`, `state`, `bytes`, `created`, `metadata.title`, `origin.source`. A
  term of Dublin Core and a key of your own may be named without `metadata.`: `title`, `x.shelf`. `identifier` is
  `id`. Several values are separated by `; `.
On a terminal the columns have headings and fit its width; a text that does not is cut and ends in `…`. Where texts
  would have fewer than 40 columns, and --columns is not given, identifiers begin with the year. In a pipe there are
  no headings, columns are separated by tabs, values are whole, and sizes are bytes.
Control characters and characters that change the reading order are escaped in values, so each record is one line.
  --json has the exact values.
# times
A TIME is a year, month, day, hour, minute or second: `2026`, `2026-11`, `2026-11-22`, `2026-11-22T12:00`. It may be
  `today` or `yesterday` (`hoje`, `ontem`), or an age: `90min`, `12h`, `7d`, `2w`.
--since begins with the first instant of it, and --until ends with the last one: `--since 2026-11 --until 2026-11`
  is all of November.
Times are in UTC, as in identifiers, also `today`. A time of day may have an offset: `2026-11-22T12:00-03:00`."#;

/// The promises of urepo, for readers of the manual.
const PROMISES: &str = r#"# promises
- An identifier is never issued twice: not after a kill, a power cut, a clock that steps, parallel processes, a
  restored backup or a cloned machine that is noticed. Identifiers may be skipped.
- An identifier is printed only after memory and item are durable.
- A reader never sees a part of an item.
- A source is removed only after the item was read back and matches.
- Success means durable. A failure says what was done and what was not.
- Any command may be repeated after any crash.
- No lock outlives its process: never remove a lock file by hand.
- Nothing outside the collection is read or written because of names or links inside it; an I/O error never counts as absence; verification repairs nothing."#;

/// The commands of `urepo`, or those of one of its commands.
fn commands(urepo: &Command) -> impl Iterator<Item = &Command> {
    urepo.get_subcommands().filter(|command| command.get_name() != "help" && !command.is_hide_set())
}

/// The commands that have a page, each with its name: `meta` is followed by `meta-get`.
pub(super) fn pages(urepo: &Command) -> Vec<(String, &Command)> {
    let mut pages = Vec::new();
    for command in commands(urepo) {
        let name = command.get_name();
        pages.push((name.to_owned(), command));
        pages.extend(commands(command).map(|part| (format!("{name}-{}", part.get_name()), part)));
    }
    pages
}

pub(super) fn of_urepo(urepo: &Command) -> String {
    let mut page = begin("urepo", ABOUT, urepo);
    page.section("description");
    paragraphs(&mut page, urepo);
    list(&mut page, "urepo", urepo);
    options(&mut page, urepo);
    page.section("environment");
    for (name, meaning) in VARIABLES {
        page.tagged(&bold(name), &sentence(&with_first(meaning, char::to_uppercase)));
    }
    let editors = format!("{}, {}", bold("VISUAL"), bold("EDITOR"));
    page.tagged(&editors, "The editor of urepo-meta-edit(1).");
    let colour = format!("{}, {}", bold("NO_COLOR"), bold("CLICOLOR_FORCE"));
    page.tagged(&colour, "No colour, or colour always.");
    sections(&mut page, FILES_AND_FORMS);
    page.section("exit status");
    for (exit, meaning) in TABLE {
        let meaning = sentence(&with_first(meaning, char::to_uppercase));
        page.tagged(&bold(&Exit::code(*exit).to_string()), &meaning);
    }
    page.section("findings");
    page.paragraph(
        "Each finding of urepo-verify(1) has a code, which never changes its meaning. Only damage makes it exit with 20. Where you may not read something, U208 is not damage but `unread`.",
    );
    for code in Code::all() {
        let meaning = with_first(code.meaning(), char::to_uppercase);
        page.tagged(
            &bold(&code.to_string()),
            &sentence(&format!("{meaning} ({})", code.severity())),
        );
    }
    sections(&mut page, PROMISES);
    page.section("examples");
    page.verbatim(FIRST_DAY);
    page.finish()
}

/// Lists the commands of `command`, whose page is called `name`.
fn list(page: &mut Roff, name: &str, command: &Command) {
    if commands(command).next().is_some() {
        page.section("commands");
    }
    for command in commands(command) {
        let tag = format!("{}(1)", bold(&format!("{name}-{}", command.get_name())));
        page.tagged(&tag, &sentence(&about(command)));
    }
}

/// The page of the command that is called `name`.
pub(super) fn of_command(name: &str, command: &Command) -> String {
    let name = format!("urepo-{name}");
    let mut page = begin(&name, &with_first(&about(command), char::to_lowercase), command);
    page.section("description");
    paragraphs(&mut page, command);
    let aliases: Vec<_> = command.get_visible_aliases().map(|name| format!("`{name}`")).collect();
    if !aliases.is_empty() {
        page.paragraph(&format!("The command may also be called {}.", aliases.join(" or ")));
    }
    list(&mut page, &name, command);
    options(&mut page, command);
    if let Some(help) = command.get_after_long_help() {
        let help = help.to_string();
        page.section("examples");
        page.verbatim(help.lines().filter_map(|line| line.strip_prefix("  ")));
    }
    page.section("exit status");
    page.paragraph("0 if everything was done; the other codes are listed in urepo(1).");
    page.section("see also");
    page.paragraph("urepo(1)");
    page.finish()
}

/// The page of a file.
pub(super) fn of_format((name, about, text): FilePage) -> String {
    let mut page = Roff::default();
    page.title(name, 5, RELEASED, env!("CARGO_PKG_VERSION"));
    page.section("name");
    page.paragraph(&format!("{name} - {about}"));
    sections(&mut page, text);
    page.section("see also");
    page.paragraph("urepo(1)");
    page.finish()
}

/// Adds the sections of `text`: headings after `# `, points after `- `, paragraphs, and entries as `KEY | MEANING` or
/// `KEY | TYPE | MEANING`. An indented line continues the one before.
pub(super) fn sections(page: &mut Roff, text: &str) {
    for line in text.replace("\n  ", " ").lines() {
        let meant = |meaning| sentence(&with_first(meaning, char::to_uppercase));
        match line.split(" | ").collect::<Vec<_>>()[..] {
            [key, kind, meaning] => {
                page.tagged(&format!("{} ({})", bold(key), italic(kind)), &meant(meaning));
            }
            [key, meaning] => page.tagged(&bold(key), &meant(meaning)),
            _ => match line.split_once(' ') {
                Some(("#", heading)) => page.section(heading),
                Some(("-", point)) => page.bullet(point),
                _ => page.paragraph(line),
            },
        }
    }
}

/// Title, name and synopsis.
fn begin(name: &str, about: &str, command: &Command) -> Roff {
    let mut page = Roff::default();
    page.title(name, 1, RELEASED, env!("CARGO_PKG_VERSION"));
    page.section("name");
    page.paragraph(&format!("{name} - {about}"));
    page.section("synopsis");
    // Rendering the usage changes the command; the page only needs the text.
    let usage = command.clone().render_usage().to_string();
    page.fill(&synopsis(usage.trim_start_matches("Usage: ")));
    page
}

/// The usage line of the help: literal words in bold, placeholders in italics.
fn synopsis(usage: &str) -> String {
    let word = |word: &str| match word {
        "[OPTIONS]" => format!("[{}]...", italic("OPTION")),
        _ if word.contains(['<', '[']) => {
            let is_name = |it: char| it.is_alphanumeric() || it == '|';
            let characters: Vec<_> = word.chars().filter(|it| !['<', '>'].contains(it)).collect();
            let parts = characters.chunk_by(|a, b| is_name(*a) == is_name(*b));
            let part = |part: &[char]| match part.iter().collect::<String>() {
                text if is_name(part[0]) => italic(&text),
                text => text,
            };
            parts.map(part).collect()
        }
        _ => bold(word),
    };
    usage.split_whitespace().map(word).collect::<Vec<_>>().join(" ")
}

/// The one-line description for lists.
fn about(command: &Command) -> String {
    command.get_about().map(StyledStr::to_string).unwrap_or_default()
}

/// `text` with its first letter in another case.
fn with_first<I: Iterator<Item = char>>(text: &str, in_case: fn(char) -> I) -> String {
    let mut characters = text.chars();
    characters.next().map_or_else(String::new, |it| in_case(it).chain(characters).collect())
}

/// The long description, without its first line if the name section has the same.
fn paragraphs(page: &mut Roff, command: &Command) {
    let text = command.get_long_about().or_else(|| command.get_about());
    let text = text.map(StyledStr::to_string).unwrap_or_default();
    let all: Vec<_> = text.split("\n\n").collect();
    let said = usize::from(all.len() > 1);
    for text in &all[said..] {
        page.paragraph(&sentence(text));
    }
}

/// Arguments, then the options under the headings of the help.
fn options(page: &mut Roff, command: &Command) {
    if command.get_positionals().next().is_some() {
        page.section("arguments");
        for argument in command.get_positionals() {
            entry(page, argument, &italic(&value_names(argument)));
        }
    }
    page.section("options");
    let named: Vec<_> =
        command.get_arguments().filter(|it| !it.is_positional() && !it.is_hide_set()).collect();
    let mut headings = vec![None];
    for heading in named.iter().map(|option| option.get_help_heading()) {
        if !headings.contains(&heading) {
            headings.push(heading);
        }
    }
    // Global options last, as in the help.
    headings.sort_by_key(|heading| *heading == Some("Global options"));
    for heading in headings {
        if let Some(heading) = heading {
            page.subsection(heading);
        }
        for option in named.iter().filter(|option| option.get_help_heading() == heading) {
            entry(page, option, &tag(option));
        }
    }
}

/// The description of one argument or option, and of each of its values.
fn entry(page: &mut Roff, argument: &Arg, tag: &str) {
    let help = argument.get_long_help().or_else(|| argument.get_help());
    let mut text = match argument.get_id().as_str() {
        // The help explains the difference between `-h` and `--help`, which does not concern pages.
        "help" => "Print help.".to_owned(),
        _ => sentence(&help.map(StyledStr::to_string).unwrap_or_default()),
    };
    let default: Vec<_> =
        argument.get_default_values().iter().map(|value| value.to_string_lossy()).collect();
    if argument.get_action().takes_values() && !default.is_empty() {
        text += &format!(" The default is `{}`.", default.join(","));
    }
    page.tagged(tag, &text);
    let values = argument.get_possible_values();
    let explained: Vec<_> = values.iter().filter(|value| value.get_help().is_some()).collect();
    if !argument.get_action().takes_values() || explained.is_empty() {
        return;
    }
    page.indent();
    for value in explained {
        let help = value.get_help().map(StyledStr::to_string).unwrap_or_default();
        page.tagged(&bold(value.get_name()), &sentence(&help));
    }
    page.outdent();
}

/// `-c, --collection PATH`.
fn tag(option: &Arg) -> String {
    let short = option.get_short().map(|short| bold(&format!("-{short}")));
    let long = option.get_long().map(|long| bold(&format!("--{long}")));
    let mut tag = short.into_iter().chain(long).collect::<Vec<_>>().join(", ");
    if option.get_action().takes_values() {
        tag += &format!(" {}", italic(&value_names(option)));
    }
    tag
}

fn value_names(argument: &Arg) -> String {
    match argument.get_value_names() {
        Some(names) => names.iter().map(ToString::to_string).collect::<Vec<_>>().join(" "),
        None => argument.get_id().as_str().to_uppercase(),
    }
}

/// Help texts have no final period, and notes in brackets; prose consists of sentences.
fn sentence(text: &str) -> String {
    let text = text.trim_end();
    if let Some((before, note)) = text.strip_suffix(']').and_then(|text| text.rsplit_once(" [")) {
        return match note.split_once(": ") {
            Some(("default", value)) => format!("{before}. The default is `{value}`."),
            Some(("env", variable)) => format!("{before}. The variable is `{variable}`."),
            _ => format!("{text}."),
        };
    }
    if text.ends_with(['.', ':', '!', '?']) { text.to_owned() } else { format!("{text}.") }
}
