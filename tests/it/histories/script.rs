//! Histories as text: one step a line, which a failing test prints and a regression is written in.

use std::fmt::{self, Display, Formatter};

/// One of the three collections.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Site(pub(super) usize);

/// The n-th item that was printed: `x`, `y` or `z`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Item(pub(super) usize);

pub(super) const SITES: [Site; 3] = [Site(0), Site(1), Site(2)];
pub(super) const ITEMS: [Item; 3] = [Item(0), Item(1), Item(2)];

/// What happens, by a command, a person's hand or a machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Deed {
    New(Site),
    Mint(Site),
    Meta(Site, Item),
    Copy(Site, Site, Item),
    /// All items, and the deletions with them.
    Mirror(Site, Site),
    Migrate(Site, Site, Item, Leaves),
    Delete(Site, Item),
    Restore(Site, Item),
    Purge(Site),
    /// A Copy becomes the Original, as another collection is lost.
    Promote(Site, Item, Site),
    Recover(Site),
    /// The same after a person has put something back.
    RecoverRestored(Site),
    Repair(Site, Item, Site),
    Backup(Site),
    /// A part becomes what it was in one of the backups.
    PutBack(Site, Part, usize),
    Lose(Site, Part),
    /// A byte of a payload changes.
    Rot(Site, Item),
    Unmount(Site),
    Mount(Site),
    /// No settings name the collection: only commands that name it see it.
    Hide(Site),
    Show(Site),
    /// The clock of the collection's machine jumps by milliseconds.
    Clock(Site, i64),
    /// What `verify` of one collection, or of all in sight, has to say.
    Verify(Option<Site>, Verdict),
}

/// What stays with the giver of an Original.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Leaves {
    Nothing,
    Copy,
}

/// A part of a collection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Part {
    Root,
    /// Everything but `.urepo`.
    Tree,
    Urepo,
    Memory,
    Ledger,
    Item(Item),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Verdict {
    Clean,
    Damage,
}

/// The operation before which the process is killed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kill {
    Never,
    At(usize),
    /// The history is tried with each operation of the step.
    Anywhere,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Step {
    pub(super) deed: Deed,
    pub(super) kill: Kill,
    /// How it has to end, in a history that a person wrote.
    pub(super) end: Option<End>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum End {
    Done,
    Refused,
}

impl Step {
    pub(super) fn of(deed: Deed) -> Step {
        Step { deed, kill: Kill::Never, end: None }
    }
}

impl Display for Site {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str(["A", "B", "C"][self.0])
    }
}

impl Display for Item {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str(["x", "y", "z"][self.0])
    }
}

impl Display for Part {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Part::Root => f.write_str("root"),
            Part::Tree => f.write_str("tree"),
            Part::Urepo => f.write_str("urepo"),
            Part::Memory => f.write_str("memory"),
            Part::Ledger => f.write_str("ledger"),
            Part::Item(item) => write!(f, "{item}"),
        }
    }
}

impl Display for Deed {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match *self {
            Deed::New(at) => write!(f, "new {at}"),
            Deed::Mint(at) => write!(f, "mint {at}"),
            Deed::Meta(at, item) => write!(f, "meta {at} {item}"),
            Deed::Copy(from, to, item) => write!(f, "copy {from} {to} {item}"),
            Deed::Mirror(from, to) => write!(f, "copy {from} {to} all"),
            Deed::Migrate(from, to, item, Leaves::Nothing) => {
                write!(f, "migrate {from} {to} {item}")
            }
            Deed::Migrate(from, to, item, Leaves::Copy) => {
                write!(f, "migrate {from} {to} {item} leave-copy")
            }
            Deed::Delete(at, item) => write!(f, "delete {at} {item}"),
            Deed::Restore(at, item) => write!(f, "restore {at} {item}"),
            Deed::Purge(at) => write!(f, "purge {at}"),
            Deed::Promote(at, item, lost) => write!(f, "promote {at} {item} lost {lost}"),
            Deed::Recover(at) => write!(f, "recover {at}"),
            Deed::RecoverRestored(at) => write!(f, "recover {at} restored"),
            Deed::Repair(at, item, from) => write!(f, "repair {at} {item} from {from}"),
            Deed::Backup(at) => write!(f, "backup {at}"),
            Deed::PutBack(at, part, number) => write!(f, "put-back {at} {part} {number}"),
            Deed::Lose(at, part) => write!(f, "lose {at} {part}"),
            Deed::Rot(at, item) => write!(f, "rot {at} {item}"),
            Deed::Unmount(at) => write!(f, "unmount {at}"),
            Deed::Mount(at) => write!(f, "mount {at}"),
            Deed::Hide(at) => write!(f, "hide {at}"),
            Deed::Show(at) => write!(f, "show {at}"),
            Deed::Clock(at, by) => write!(f, "clock {at} {by}"),
            Deed::Verify(at, verdict) => {
                let at = at.map_or("all".to_owned(), |at| at.to_string());
                let verdict = if verdict == Verdict::Clean { "clean" } else { "damage" };
                write!(f, "verify {at} {verdict}")
            }
        }
    }
}

impl Display for Step {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.deed)?;
        match self.kill {
            Kill::Never => {}
            Kill::At(at) => write!(f, " killed {at}")?,
            Kill::Anywhere => f.write_str(" killed anywhere")?,
        }
        match self.end {
            None => Ok(()),
            Some(End::Done) => f.write_str(" is done"),
            Some(End::Refused) => f.write_str(" is refused"),
        }
    }
}

/// A history as text.
pub(super) fn print(steps: &[Step]) -> String {
    steps.iter().fold(String::new(), |text, step| text + &format!("    {step}\n"))
}

/// The history that a text tells.
pub(super) fn parse(text: &str) -> Vec<Step> {
    let lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
    lines.map(|line| step(line).unwrap_or_else(|| panic!("no step: `{line}`"))).collect()
}

fn step(line: &str) -> Option<Step> {
    let (line, end) = match line.split_once(" is ") {
        None => (line, None),
        Some((line, "done")) => (line, Some(End::Done)),
        Some((line, "refused")) => (line, Some(End::Refused)),
        Some(_) => return None,
    };
    let (deed, kill) = match line.split_once(" killed ") {
        None => (line, Kill::Never),
        Some((deed, "anywhere")) => (deed, Kill::Anywhere),
        Some((deed, at)) => (deed, Kill::At(at.parse().ok()?)),
    };
    let words: Vec<&str> = deed.split_whitespace().collect();
    let deed = match words[..] {
        ["new", at] => Deed::New(site(at)?),
        ["mint", at] => Deed::Mint(site(at)?),
        ["meta", at, it] => Deed::Meta(site(at)?, item(it)?),
        ["copy", from, to, "all"] => Deed::Mirror(site(from)?, site(to)?),
        ["copy", from, to, it] => Deed::Copy(site(from)?, site(to)?, item(it)?),
        ["migrate", from, to, it] => {
            Deed::Migrate(site(from)?, site(to)?, item(it)?, Leaves::Nothing)
        }
        ["migrate", from, to, it, "leave-copy"] => {
            Deed::Migrate(site(from)?, site(to)?, item(it)?, Leaves::Copy)
        }
        ["delete", at, it] => Deed::Delete(site(at)?, item(it)?),
        ["restore", at, it] => Deed::Restore(site(at)?, item(it)?),
        ["purge", at] => Deed::Purge(site(at)?),
        ["promote", at, it, "lost", lost] => Deed::Promote(site(at)?, item(it)?, site(lost)?),
        ["recover", at] => Deed::Recover(site(at)?),
        ["recover", at, "restored"] => Deed::RecoverRestored(site(at)?),
        ["repair", at, it, "from", from] => Deed::Repair(site(at)?, item(it)?, site(from)?),
        ["backup", at] => Deed::Backup(site(at)?),
        ["put-back", at, what, number] => {
            Deed::PutBack(site(at)?, part(what)?, number.parse().ok()?)
        }
        ["lose", at, what] => Deed::Lose(site(at)?, part(what)?),
        ["rot", at, it] => Deed::Rot(site(at)?, item(it)?),
        ["unmount", at] => Deed::Unmount(site(at)?),
        ["mount", at] => Deed::Mount(site(at)?),
        ["hide", at] => Deed::Hide(site(at)?),
        ["show", at] => Deed::Show(site(at)?),
        ["clock", at, by] => Deed::Clock(site(at)?, by.parse().ok()?),
        ["verify", at, "clean"] => Deed::Verify(site(at), Verdict::Clean),
        ["verify", at, "damage"] => Deed::Verify(site(at), Verdict::Damage),
        _ => return None,
    };
    Some(Step { deed, kill, end })
}

fn site(word: &str) -> Option<Site> {
    SITES.into_iter().find(|site| site.to_string() == word)
}

fn item(word: &str) -> Option<Item> {
    ITEMS.into_iter().find(|item| item.to_string() == word)
}

fn part(word: &str) -> Option<Part> {
    let parts = [Part::Root, Part::Tree, Part::Urepo, Part::Memory, Part::Ledger];
    let items = ITEMS.into_iter().map(Part::Item);
    parts.into_iter().chain(items).find(|part| part.to_string() == word)
}
