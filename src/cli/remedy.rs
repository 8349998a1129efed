//! The rows of the table of remedies in printed form: commands that can be pasted, and arrays of arguments for programs.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

use serde::{Serialize, Serializer};
use urepo::collection::of_id;
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

/// Of a line of a fork, whose date may come from a wrong clock.
const FUTURE: &str = ", which is dated in the future";

/// A command of this program.
#[derive(Clone, Debug)]
pub(crate) struct CommandLine {
    /// The collection where it runs.
    pub(crate) at: Root,
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
    /// An item, or a collection that is not in sight.
    Value(OsString),
    /// A collection.
    Root(Root),
}

/// A collection in a command: its root, and what a person types for that.
#[derive(Clone, Debug)]
pub(crate) struct Root {
    pub(crate) path: PathBuf,
    pub(crate) typed: String,
}

impl CommandLine {
    /// The words of `act` on the item `name`. `root` leads to a collection by its id, and `others` are collections that the
    /// command would not look into by itself.
    pub(crate) fn words_of(
        act: Act<'_>,
        name: &RepositoryName,
        root: impl Fn(&str) -> Word,
        (lost, others): (&[String], &[Root]),
    ) -> Vec<Word> {
        use Word::{Own, Value};
        let item = || Value(name.as_str().into());
        let mut words = match act {
            Act::AcceptLedger => vec![Own("recover"), Own("--restored")],
            Act::Recover => vec![Own("recover")],
            Act::Withdraw => vec![Own("recover"), Own("--withdraw")],
            Act::AcceptLoss => vec![Own("recover"), Own("--accept-loss"), item()],
            Act::RecoverWith(other) => vec![Own("recover"), Own("--with"), root(other)],
            Act::Repair => vec![Own("repair"), item()],
            Act::RepairFrom(other) => {
                vec![Own("repair"), item(), Own("--from"), root(other)]
            }
            Act::Reseal => vec![Own("repair"), item(), Own("--reseal")],
            Act::CopyFrom(other) => vec![Own("copy"), item(), Own("--from"), root(other)],
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
            words.extend(others.iter().flat_map(|other| [Own(flag), Word::Root(other.clone())]));
        }
        words
    }

    /// As a person types it.
    pub(crate) fn line(&self) -> String {
        let words: Vec<_> = self.words.iter().map(Word::typed).collect();
        shell::command((!self.is_in_use).then_some(&*self.at.typed), &words.join(" "))
    }

    /// The same for all items with the same fault, if there is such a command. `is_whole` says whether all that `copy --all`
    /// would bring is wanted.
    fn line_of_all(&self, is_whole: impl Fn(&CommandLine) -> bool) -> Option<String> {
        use Word::{Own, Value};
        let is_loss = |word: &Word| matches!(word, Own("--accept-loss" | "--reseal" | "--discard"));
        let words = match &self.words[..] {
            words if words.iter().any(is_loss) => return None,
            [Own("repair"), Value(_), rest @ ..] => [&[Own("repair")], rest].concat(),
            [Own("copy"), Value(_), rest @ ..] if is_whole(self) => {
                [&[Own("copy"), Own("--all")], rest].concat()
            }
            [Own("promote"), Value(_), rest @ ..] if !rest.is_empty() => {
                [&[Own("promote"), Own("--all")], rest].concat()
            }
            words @ [Own("recover"), ..] => words.to_vec(),
            _ => return None,
        };
        Some(CommandLine { words, ..self.clone() }.line())
    }

    /// The root of the other collection that it names.
    pub(crate) fn other_root(&self) -> Option<&Path> {
        self.words.iter().find_map(|word| match word {
            Word::Root(root) => Some(root.path.as_path()),
            _ => None,
        })
    }

    /// Of a command that gives something up: the repair from a collection that is not in sight, and may have it.
    fn before_giving_up(&self) -> Option<CommandLine> {
        use Word::{Own, Value};
        let ([Own("recover"), Own("--accept-loss"), Value(item), ..]
        | [Own("repair"), Value(item), Own("--reseal"), ..]) = &self.words[..]
        else {
            return None;
        };
        let words = [Own("repair"), Value(item.clone()), Own("--from"), Own("COLLECTION")];
        Some(CommandLine { words: words.to_vec(), ..self.clone() })
    }

    /// The arguments of the program, which work in any directory.
    pub(crate) fn arguments(&self) -> Vec<OsString> {
        let collection = [OsString::from("-c"), self.at.path.clone().into()];
        let words = self.words.iter().map(|word| match word {
            Word::Own(word) => (*word).into(),
            Word::Value(value) => value.clone(),
            Word::Root(root) => root.path.clone().into(),
        });
        collection.into_iter().chain(words).collect()
    }
}

impl Word {
    fn typed(&self) -> String {
        match self {
            Word::Own(word) => (*word).to_owned(),
            Word::Value(value) => shell::word(value),
            Word::Root(root) => root.typed.clone(),
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

/// The remedies of one item in lines: what is wrong and each command, then what a person may choose instead.
pub(crate) fn lines(remedies: &[Advice]) -> Vec<String> {
    let steps = steps(remedies).into_iter();
    let row = remedies.first().map_or("", |advice| advice.row.sentence());
    steps.enumerate().map(|(at, it)| if at == 0 { format!("{row}: {it}") } else { it }).collect()
}

/// ` (`mirror` is not mounted)`
fn unmounted(unseen: &[String]) -> String {
    match unseen {
        [] => String::new(),
        [only] => format!(" (`{only}` is not mounted)"),
        several => format!(" (`{}` are not mounted)", several.join("`, `")),
    }
}

/// The remedies of one item, a line for each command, without the rows: the commands to type, then what a person may choose
/// instead.
pub(crate) fn steps(remedies: &[Advice]) -> Vec<String> {
    steps_of(remedies, |command| Some(command.line())).unwrap_or_default()
}

/// The same of several items: one command for all, if there is one. `is_whole` says whether all that `copy --all` would bring is
/// wanted.
pub(crate) fn steps_of_each(
    advised: &[(&RepositoryName, Vec<Advice>)],
    is_whole: impl Fn(&CommandLine) -> bool,
) -> Vec<String> {
    if let [(_, first), others @ ..] = advised
        && !others.is_empty()
    {
        let of_all = |it: &[Advice]| steps_of(it, |command| command.line_of_all(&is_whole));
        let together = of_all(first);
        if together.is_some() && others.iter().all(|(_, it)| of_all(it) == together) {
            return together.unwrap_or_default();
        }
    }
    let mut each: Vec<String> = Vec::new();
    for step in advised.iter().flat_map(|(_, advice)| steps(advice)) {
        // One that names no item mends all.
        if !each.contains(&step) {
            each.push(step);
        }
    }
    each
}

fn steps_of(
    remedies: &[Advice],
    typed: impl Fn(&CommandLine) -> Option<String>,
) -> Option<Vec<String>> {
    let (mut steps, mut choices) = (Vec::new(), Vec::new());
    for Advice { row, command, or, wait, unseen, .. } in remedies {
        let keeps = |it: &CommandLine| match row {
            Row::Fork => format!("to keep that in {}: ", it.at.typed),
            _ => String::new(),
        };
        let is_id =
            |it: &&String| it.len() == 32 && it.bytes().all(|byte| byte.is_ascii_hexdigit());
        let away =
            wait.as_ref().map(|it| Some(it).filter(is_id).map_or(it.clone(), |id| of_id(id)));
        let away = away.unwrap_or_default();
        let is_future = |it: &CommandLine| if it.is_of_future { FUTURE } else { "" };
        match (command, wait) {
            (Some(command), _) => {
                if let Some(first) = command.before_giving_up() {
                    let unmounted = unmounted(unseen);
                    steps.push(format!("{}, from one that has it{unmounted}", first.line()));
                    steps.push(format!("if none has it: {}", typed(command)?));
                } else {
                    let (keeps, future) = (keeps(command), is_future(command));
                    steps.push(format!("{keeps}{}{future}", typed(command)?));
                }
            }
            (None, Some(_)) => steps.push(format!("mount {away}")),
            (None, None) => {}
        }
        for choice in or {
            let condition = match wait {
                Some(_) => format!("if {away} is lost: "),
                None if *row == Row::Fork => keeps(choice),
                None => "or: ".to_owned(),
            };
            choices.push(format!("{condition}{}{}", typed(choice)?, is_future(choice)));
        }
    }
    steps.append(&mut choices);
    let mut seen = BTreeSet::new();
    steps.retain(|step| seen.insert(step.clone()));
    Some(steps)
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
        let root = |path: String| Root { typed: shell::word(&path), path: path.into() };
        let (lost, others) = (["it's".to_owned(), ID.to_owned()], [root("/c d".to_owned())]);
        let of_id = |id: &str| Word::Root(root(format!("/of {id}")));
        let words = CommandLine::words_of(act, &name, of_id, (&lost, &others));
        CommandLine { at: root("/a b".to_owned()), is_in_use: false, is_of_future: false, words }
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
            let script = format!("urepo() {{ printf '%s\\n' \"$@\"; }}; {}", command.line());
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
                "{}: to keep that in '/a b': urepo -c '/a b' delete {item} --with '/c d'",
                Row::Fork.sentence()
            ),
            format!("to keep that in '/a b': urepo -c '/a b' repair {item} --from '/c d'"),
            "to keep that in '/a b': urepo -c '/a b' recover --with '/c d'".to_owned(),
        ];
        assert_eq!(lines(&two), expected);
        let waits = lines(&[advice(Act::Delete, vec![choice], Some("mirror"))]);
        assert_eq!(waits[0], format!("{}: mount mirror", Row::Fork.sentence()));
        assert_eq!(waits[1], "if mirror is lost: urepo -c '/a b' recover --with '/c d'");
    }
}
