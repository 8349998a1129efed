//! `urepo links`: show and check the relative links of items.

use urepo::collection::StoredItem;
use urepo::links::{Audit, Link, LinkEnd};

use crate::cli::context::Context;
use crate::cli::exit::Exit;
use crate::cli::failure::Failure;
use crate::cli::records::FoundLink;
use crate::cli::report::{End, Report};
use crate::cli::select::Selection;
use crate::cli::{Done, human};

/// Show the relative links from item to item, and which lead nowhere
///
/// Items of one collection may link to each other by relative paths: five `../` lead from `doc/` to the root.
/// Such links work in every collection that holds both items. This command reads symbolic links, and the text
/// of HTML and Markdown files, and prints each link that leaves its item: file, line, link, and the state of
/// its destination: `present`, `no-file`, `deleted`, `no-item`, or `outside` of the collection. The exit code
/// is 3 if a link is broken, that is, not `present`.
#[derive(Debug, clap::Args)]
#[command(after_long_help = "\
Examples:
  urepo links --all
  urepo links 11.21.02.13 --broken")]
pub(crate) struct Links {
    #[command(flatten)]
    selection: Selection,
    /// Only broken links
    #[arg(long)]
    broken: bool,
}

impl Links {
    pub(crate) fn run(&self, context: &Context) -> Done {
        self.selection.check("links ITEM…")?;
        let collection = context.collection()?;
        let mut report = Report::reading(context, "read", self.selection.is_single());
        let audit = Audit::new(&collection);
        let (mut found, mut broken) = (0, 0);
        let selected = self.selection.of(context, &collection)?;
        context.read_selected(selected, &collection, &mut report, |item| {
            let links = audit.links(item)?;
            let is_broken = |link: &&Link| link.end != LinkEnd::Present;
            found += links.len() as u64;
            broken += links.iter().filter(is_broken).count() as u64;
            tell(context, item, links.iter().filter(|link| !self.broken || is_broken(link)))
        })?;
        report.count("links", found);
        report.count("broken", broken);
        let partial = (broken > 0).then(|| {
            let links = human::count(found, "link");
            let message = format!("{broken} of {links} {} broken", human::is_or_are(broken));
            Failure::new(Exit::Partial, message)
        });
        report.finish(End { partial, ..End::default() })
    }
}

fn tell<'l>(context: &Context, item: &StoredItem, links: impl Iterator<Item = &'l Link>) -> Done {
    let mut lines = String::new();
    for Link { file, line, target, item: linked, end } in links {
        if context.printer.json {
            context.printer.record(&FoundLink {
                id: item.name().to_string(),
                file: file.to_text().into_owned(),
                line: *line,
                target: target.clone(),
                linked: linked.as_ref().map(ToString::to_string),
                outcome: end.to_string(),
            })?;
            continue;
        }
        let line = line.map_or(String::new(), |line| format!(":{line}"));
        lines += &format!("{end:<10}  {}/{}{line}  {target}\n", item.name(), file.to_text());
    }
    context.printer.lines(&lines)
}
