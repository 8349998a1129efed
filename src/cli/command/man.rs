//! `urepo man`: the manual, from the same definitions as the help.

use std::path::PathBuf;

use crate::cli::Done;
use crate::cli::context::Context;
use crate::cli::failure::Failure;

mod formats;
mod page;
mod roff;
mod view;

/// Show a page of the manual
///
/// A command has a page, and so have the files urepo.toml and item.toml. On a terminal the page is formatted
/// by man(1). Without man(1) it is shown as plain text in MANPAGER, PAGER or less. In a pipe its source is
/// printed.
#[derive(Debug, clap::Args)]
#[command(after_long_help = "\
Examples:
  urepo man new
  urepo man item.toml
  urepo man meta-set > urepo-meta-set.1")]
pub(crate) struct Man {
    /// The command or the file; urepo itself unless given
    #[arg(value_name = "COMMAND|FILE")]
    page: Option<String>,
    /// Write all pages into this directory instead
    #[arg(long, value_name = "DIR", hide = true)]
    write: Option<PathBuf>,
}

impl Man {
    pub(crate) fn run(&self, context: &Context) -> Done {
        let printer = &context.printer;
        let mut urepo = crate::cli::definitions();
        // Gives every command the global flags and its full name.
        urepo.build();
        if let Some(dir) = &self.write {
            return write_all(dir, &urepo);
        }
        let text = match self.page.as_deref() {
            None => page::of_urepo(&urepo),
            Some(name) => match page_of(&urepo, name) {
                Some(page) => page,
                None => match formats::FORMATS.into_iter().find(|format| format.0 == name) {
                    Some(format) => page::of_format(format),
                    None => {
                        return Err(Failure::usage(format!("there is no command `{name}`"))
                            .hint("`urepo --help` lists the commands"));
                    }
                },
            },
        };
        if printer.stdout_is_terminal() {
            return context.without_ctrl_c(|| view::show(&text, printer))?;
        }
        printer.payload(text.as_bytes())
    }
}

/// The page of a command, by its name or an alias.
fn page_of(urepo: &clap::Command, name: &str) -> Option<String> {
    let page = |(name, command): &(String, &clap::Command)| page::of_command(name, command);
    let pages = page::pages(urepo);
    let exact = pages.iter().find(|(known, _)| known == name);
    let alias = || pages.iter().find(|(_, command)| command.get_all_aliases().any(|it| it == name));
    exact.or_else(alias).map(page)
}

fn write_all(dir: &std::path::Path, urepo: &clap::Command) -> Done {
    urepo::collection::discover::check_outside(dir)?;
    let dir = urepo::disk::Dir::open(dir, urepo::disk::Watcher::default())?;
    dir.replace_file("urepo.1", page::of_urepo(urepo).as_bytes())?;
    for (name, command) in page::pages(urepo) {
        let file = format!("urepo-{name}.1");
        dir.replace_file(&file, page::of_command(&name, command).as_bytes())?;
    }
    for format in formats::FORMATS {
        dir.replace_file(&format!("{}.5", format.0), page::of_format(format).as_bytes())?;
    }
    Ok(())
}
