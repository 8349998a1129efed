//! `urepo man`: the manual, from the same definitions as the help.

use std::io::Write as _;
use std::path::PathBuf;

use clap_mangen::Man as Page;

use crate::cli::Done;
use crate::cli::config::VARIABLES;
use crate::cli::exit::{Exit, TABLE};
use crate::cli::failure::Failure;
use crate::cli::printer::Printer;

/// Print a page of the manual
#[derive(Debug, clap::Args)]
#[command(after_long_help = "\
Examples:
  urepo man new | man -l -")]
pub(crate) struct Man {
    /// The command; urepo itself unless given
    command: Option<String>,
    /// Write all pages into this directory instead
    #[arg(long, value_name = "DIR", hide = true)]
    write: Option<PathBuf>,
}

impl Man {
    pub(crate) fn run(&self, printer: &Printer) -> Done {
        let mut urepo = crate::cli::definitions();
        urepo.build();
        if let Some(dir) = &self.write {
            return write_all(dir, &urepo);
        }
        let command = match &self.command {
            None => &urepo,
            Some(name) => urepo.find_subcommand(name).ok_or_else(|| {
                Failure::usage(format!("there is no command `{name}`"))
                    .hint("`urepo --help` lists the commands")
            })?,
        };
        let page = page(command).map_err(|error| Failure::of_stdout(&error))?;
        printer.bytes(&page).map_err(|error| Failure::of_stdout(&error))
    }
}

fn write_all(dir: &std::path::Path, urepo: &clap::Command) -> Done {
    let dir = urepo::disk::Dir::open(dir, urepo::disk::Watcher::default())?;
    let commands = urepo.get_subcommands().filter(|command| command.get_name() != "help");
    for command in std::iter::once(urepo).chain(commands) {
        let page = page(command).map_err(|error| Failure::of_stdout(&error))?;
        dir.replace_file(&format!("{}.1", file_name(command)), &page)?;
    }
    Ok(())
}

/// `urepo` or `urepo-new`.
fn file_name(command: &clap::Command) -> String {
    command.get_display_name().unwrap_or(command.get_name()).to_owned()
}

fn page(command: &clap::Command) -> std::io::Result<Vec<u8>> {
    let name = file_name(command);
    let version = env!("CARGO_PKG_VERSION");
    let examples = command.get_after_long_help().map(ToString::to_string);
    let is_urepo = name == "urepo";
    let page = Page::new(command.clone().after_long_help("").after_help(""))
        .title(name.to_uppercase())
        .section("1")
        .date(RELEASED)
        .source(format!("urepo {version}"))
        .manual("Uniform repositories");
    let mut text = Vec::new();
    page.render_title(&mut text)?;
    page.render_name_section(&mut text)?;
    page.render_synopsis_section(&mut text)?;
    page.render_description_section(&mut text)?;
    page.render_options_section(&mut text)?;
    if is_urepo {
        page.render_subcommands_section(&mut text)?;
        environment(&mut text)?;
        exit_codes(&mut text)?;
        promises(&mut text)?;
    }
    if let Some(examples) = examples.as_deref().and_then(|text| text.strip_prefix("Examples:\n")) {
        writeln!(text, ".SH EXAMPLES\n.nf")?;
        for line in examples.lines() {
            let line = line.trim_start().replace('\\', "\\e").replace('\'', "\\(aq").replace('-', "\\-");
            writeln!(text, "\\&{line}")?;
        }
        writeln!(text, ".fi")?;
    }
    if !is_urepo {
        writeln!(text, ".SH \"EXIT STATUS\"\nThe codes are listed in\n.BR urepo (1).")?;
        writeln!(text, ".SH \"SEE ALSO\"\n.BR urepo (1)")?;
    }
    Ok(tidied(&text))
}

/// When this version was released, as the change log says.
const RELEASED: &str = "2026-11-21";

fn environment(text: &mut Vec<u8>) -> std::io::Result<()> {
    writeln!(text, ".SH ENVIRONMENT")?;
    for (name, meaning) in VARIABLES {
        writeln!(text, ".TP\n\\fB{name}\\fR\n{meaning}")?;
    }
    writeln!(text, ".TP\n\\fBNO_COLOR\\fR, \\fBCLICOLOR_FORCE\\fR\nno colour, or colour always")
}

fn exit_codes(text: &mut Vec<u8>) -> std::io::Result<()> {
    writeln!(text, ".SH \"EXIT STATUS\"")?;
    for (exit, meaning) in TABLE {
        let code = Exit::code(*exit);
        writeln!(text, ".TP\n\\fB{code}\\fR\n{}", meaning.replace('-', "\\-"))?;
    }
    Ok(())
}

/// What urepo promises; the manual is where people look for it.
fn promises(text: &mut Vec<u8>) -> std::io::Result<()> {
    const PROMISES: [&str; 8] = [
        "A name is never given twice: not by a kill, a power cut, a clock that steps, parallel \
         processes, a restored backup or a cloned machine that is noticed. Names may be skipped.",
        "A name is printed only after memory and item are durable.",
        "A reader never sees a part of an item.",
        "A source is not removed before the item was read back and matches.",
        "Success means durable. A failure says what was done and what was not.",
        "Any command may be repeated after any crash.",
        "No lock outlives its process; no lock file is ever to be removed by hand.",
        "Nothing outside the collection is read or written because of names or links inside it; \
         an I/O error is never taken for absence; verify repairs nothing.",
    ];
    writeln!(text, ".SH PROMISES")?;
    for promise in PROMISES {
        writeln!(text, ".IP \\(bu 2\n{}", promise.replace('-', "\\-"))?;
    }
    Ok(())
}

/// What clap_mangen writes, without what `mandoc -Tlint` warns of.
fn tidied(text: &[u8]) -> Vec<u8> {
    let text = String::from_utf8_lossy(text);
    let mut lines: Vec<&str> = Vec::new();
    for line in text.lines() {
        let line = line.trim_end();
        // A paragraph break before a section, or two in a row, break nothing.
        if line.starts_with(".SH") && matches!(lines.last(), Some(&".PP" | &".br")) {
            lines.pop();
        }
        if !line.is_empty() {
            lines.push(line);
        }
    }
    let mut text = lines.join("\n");
    text.push('\n');
    text.into_bytes()
}
