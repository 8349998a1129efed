//! The rows of the table of remedies in printed form: commands that can be pasted, and arrays of arguments for programs.

use std::ffi::OsString;
use std::path::PathBuf;

use serde::{Serialize, Serializer};
use urepo::custody::Discard;
use urepo::custody::remedy::{Act, Condition, Row};
use urepo::identity::RepositoryName;

use super::shell;

/// A remedy of an item, as it is printed.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Advice {
    /// The condition of the item in the collection that has the row.
    pub(crate) standing: String,
    #[serde(serialize_with = "number")]
    pub(crate) row: Row,
    /// The command, unless a collection has to be mounted first.
    pub(crate) command: Option<CommandLine>,
    /// Those that a person may choose instead.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) or: Vec<CommandLine>,
    /// The collection that has to be mounted first.
    pub(crate) wait: Option<String>,
    #[serde(skip)]
    pub(crate) is_damage: bool,
    /// Collections of the settings that are not in sight: one of them may have what a command gives up.
    #[serde(skip)]
    pub(crate) unseen: Vec<String>,
}

/// A command of this program.
#[derive(Clone, Debug)]
pub(crate) struct CommandLine {
    /// The root of the collection where it runs.
    pub(crate) at: PathBuf,
    /// Whether that is the collection in use, which need not be named.
    pub(crate) is_in_use: bool,
    /// Whether its line of a fork is dated in the future, so that a wrong clock may have made that.
    pub(crate) is_of_future: bool,
    pub(crate) words: Vec<Word>,
}

/// A word of a command.
#[derive(Clone, Debug)]
pub(crate) enum Word {
    /// Of this program: a command or a flag.
    Own(&'static str),
    /// An item, or a path.
    Value(OsString),
}

impl CommandLine {
    /// The words of `act` on the item `name`. `root` leads to a collection by its id, and `others` are collections that the
    /// command would not look into by itself.
    pub(crate) fn words_of(
        act: Act<'_>,
        name: &RepositoryName,
        root: impl Fn(&str) -> OsString,
        (lost, others): (&[String], &[OsString]),
    ) -> Vec<Word> {
        use Word::{Own, Value};
        let item = || Value(name.as_str().into());
        let mut words = match act {
            Act::AcceptLedger => vec![Own("recover"), Own("--restored")],
            Act::Recover => vec![Own("recover")],
            Act::Withdraw => vec![Own("recover"), Own("--withdraw")],
            Act::AcceptLoss => vec![Own("recover"), Own("--accept-loss"), item()],
            Act::RecoverWith(other) => vec![Own("recover"), Own("--with"), Value(root(other))],
            Act::Repair => vec![Own("repair"), item()],
            Act::RepairFrom(other) => {
                vec![Own("repair"), item(), Own("--from"), Value(root(other))]
            }
            Act::Reseal => vec![Own("repair"), item(), Own("--reseal")],
            Act::CopyFrom(other) => vec![Own("copy"), item(), Own("--from"), Value(root(other))],
            Act::Delete => vec![Own("delete"), item()],
            Act::Promote(discard, away) => {
                let discard = (discard == Discard::Accept).then_some(Own("--discard"));
                let mut words: Vec<_> =
                    [Own("promote"), item()].into_iter().chain(discard).collect();
                let lost = away.into_iter().flat_map(|_| lost);
                words.extend(lost.flat_map(|lost| [Own("--lost"), Value(lost.into())]));
                words
            }
        };
        let flag = match act {
            Act::AcceptLedger
            | Act::RecoverWith(_)
            | Act::RepairFrom(_)
            | Act::CopyFrom(_)
            | Act::Reseal => None,
            Act::Repair => Some("--from"),
            Act::Recover | Act::Withdraw | Act::AcceptLoss | Act::Delete | Act::Promote(..) => {
                Some("--with")
            }
        };
        if let Some(flag) = flag {
            words.extend(others.iter().flat_map(|other| [Own(flag), Value(other.clone())]));
        }
        words
    }

    /// As a person types it.
    fn typed(&self) -> String {
        let mut words: Vec<_> = self.words.iter().map(Word::typed).collect();
        if !self.is_in_use {
            words.insert(0, format!("-c {}", shell::word(&self.at)));
        }
        let mark = if self.is_of_future { ", which is dated in the future" } else { "" };
        format!("`urepo {}`{mark}", words.join(" "))
    }

    /// Of a command that gives something up: the repair from a collection that is not in sight, and may have it.
    fn before_giving_up(&self) -> Option<String> {
        use Word::{Own, Value};
        let ([Own("recover"), Own("--accept-loss"), Value(item), ..]
        | [Own("repair"), Value(item), Own("--reseal"), ..]) = &self.words[..]
        else {
            return None;
        };
        let words = [Own("repair"), Value(item.clone()), Own("--from"), Own("COLLECTION")];
        Some(CommandLine { words: words.to_vec(), ..self.clone() }.typed())
    }

    /// The arguments of the program, which work in any directory.
    pub(crate) fn arguments(&self) -> Vec<OsString> {
        let collection = [OsString::from("-c"), self.at.clone().into()];
        let words = self.words.iter().map(|word| match word {
            Word::Own(word) => (*word).into(),
            Word::Value(value) => value.clone(),
        });
        collection.into_iter().chain(words).collect()
    }
}

impl Word {
    fn typed(&self) -> String {
        match self {
            Word::Own(word) => (*word).to_owned(),
            Word::Value(value) => shell::word(value),
        }
    }
}

impl Serialize for CommandLine {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.arguments().iter().map(|word| word.to_string_lossy()))
    }
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
fn number<S: Serializer>(row: &Row, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(row.number())
}

/// The remedies of one item in lines: each row once, with its commands, then what a person may choose instead.
pub(crate) fn lines(remedies: &[Advice]) -> Vec<String> {
    let (mut lines, mut last) = (Vec::<String>::new(), None);
    let mut choices = Vec::new();
    for Advice { row, command, or, wait, unseen, .. } in remedies {
        let way = match (command, wait) {
            (Some(command), _) => command.typed(),
            (None, Some(wait)) => format!("mount `{wait}`"),
            (None, None) => continue,
        };
        if let Some(line) = lines.last_mut().filter(|_| last == Some(*row)) {
            *line += &format!(", {way}");
        } else {
            lines.append(&mut choices);
            let first = command.as_ref().and_then(CommandLine::before_giving_up);
            let unseen = match &unseen[..] {
                [] => String::new(),
                [only] => format!(" (`{only}` is not mounted)"),
                several => format!(" (`{}` are not mounted)", several.join("`, `")),
            };
            let first = first
                .map_or(String::new(), |it| format!("{it} from one that has it{unseen}; else "));
            lines.push(format!("{}: {first}{way}", row.sentence()));
        }
        last = Some(*row);
        let condition = wait.as_ref().map_or("or".to_owned(), |it| format!("if `{it}` is lost:"));
        for choice in or {
            let line = format!("{condition} {}", choice.typed());
            if !choices.contains(&line) {
                choices.push(line);
            }
        }
    }
    lines.append(&mut choices);
    lines.iter().map(|line| shell::pasted(line)).collect()
}

/// Whether `condition` with `row` is damage. A Copy that is only behind is not, nor is what a run left unfinished.
pub(crate) fn is_damage(condition: Condition, row: Row) -> bool {
    match condition {
        Condition::LedgerPutBack
        | Condition::Damaged(_)
        | Condition::Missing
        | Condition::HolderWithout
        | Condition::Fork => true,
        Condition::Behind => !matches!(row, Row::CopyBehind | Row::CopyOfDeleted),
        Condition::Ceded
        | Condition::Nothing
        | Condition::AboveLine
        | Condition::GivenUp
        | Condition::Current => false,
    }
}

#[cfg(test)]
mod tests {
    use clap::Parser as _;

    use super::*;
    use crate::cli::args::Args;

    const ID: &str = "0123456789abcdef0123456789abcdef";

    fn command(act: Act<'_>) -> CommandLine {
        let name = "example.org/archive/2026/11.21.02.13".parse().unwrap();
        let (lost, others) = (["it's".to_owned(), ID.to_owned()], [OsString::from("/c d")]);
        let root = |id: &str| format!("/of {id}").into();
        let words = CommandLine::words_of(act, &name, root, (&lost, &others));
        CommandLine { at: "/a b".into(), is_in_use: false, is_of_future: false, words }
    }

    /// Every act, in every form.
    fn acts() -> Vec<Act<'static>> {
        let promote = |discard| [None, Some(ID)].map(|lost| Act::Promote(discard, lost));
        let mut acts = vec![
            Act::AcceptLedger,
            Act::Recover,
            Act::Withdraw,
            Act::AcceptLoss,
            Act::RecoverWith(ID),
            Act::Repair,
            Act::RepairFrom(ID),
            Act::Reseal,
            Act::CopyFrom(ID),
            Act::Delete,
        ];
        acts.extend(promote(Discard::Accept));
        acts.extend(promote(Discard::Refuse));
        acts
    }

    #[test]
    fn every_act_is_a_command_that_can_be_typed() {
        for act in acts() {
            let command = command(act);
            let program = [OsString::from("urepo")];
            let parsed: Result<Args, _> =
                Args::try_parse_from(program.into_iter().chain(command.arguments()));
            assert!(parsed.is_ok(), "{act:?}: {}", parsed.unwrap_err());
            let typed = command.typed();
            let script =
                format!("urepo() {{ printf '%s\\n' \"$@\"; }}; {}", typed.trim_matches('`'));
            let read = std::process::Command::new("bash").args(["-c", &script]).output().unwrap();
            let words: Vec<_> = command.arguments();
            let words = words.iter().map(|word| format!("{}\n", word.to_string_lossy()));
            assert_eq!(String::from_utf8(read.stdout).unwrap(), words.collect::<String>());
        }
    }

    #[test]
    fn a_row_is_printed_once_with_its_commands_and_then_its_choices() {
        let advice = |act, or: Vec<_>, wait: Option<&str>| Advice {
            standing: "fork".to_owned(),
            row: Row::Fork,
            command: wait.is_none().then(|| command(act)),
            or,
            wait: wait.map(str::to_owned),
            is_damage: true,
            unseen: Vec::new(),
        };
        let choice = command(Act::Recover);
        let two = [
            advice(Act::Delete, vec![choice.clone()], None),
            advice(Act::Repair, vec![choice.clone()], None),
        ];
        let item = "example.org/archive/2026/11.21.02.13";
        let expected = [
            format!(
                "{}: `urepo -c '/a b' delete {item} --with '/c d'`, `urepo -c '/a b' repair {item} --from '/c d'`",
                Row::Fork.sentence()
            ),
            "or `urepo -c '/a b' recover --with '/c d'`".to_owned(),
        ];
        assert_eq!(lines(&two), expected);
        let waits = lines(&[advice(Act::Delete, vec![choice], Some("mirror"))]);
        assert_eq!(waits[0], format!("{}: mount `mirror`", Row::Fork.sentence()));
        assert_eq!(waits[1], "if `mirror` is lost: `urepo -c '/a b' recover --with '/c d'`");
    }
}
