//! The errors of clap, in the form of all other errors.

use clap::error::{ContextKind, ContextValue, ErrorKind};

use super::failure::Failure;
use super::words;

/// The failure for `error`; `None` if it is the help of a command.
pub(super) fn failure(error: &clap::Error) -> Option<Failure> {
    if error.kind() == ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand {
        return None;
    }
    let text = error.render().to_string();
    let (first, rest) = text.split_once("\n\n").unwrap_or((text.trim_end(), ""));
    let is_list = |line: &&str| line.starts_with('[');
    let lines: Vec<_> = first.lines().map(str::trim).collect();
    let (lists, lines): (Vec<&str>, Vec<&str>) = lines.into_iter().partition(is_list);
    let message = lines.join(" ");
    let failure = Failure::usage(message.strip_prefix("error: ").unwrap_or(&message));
    // A suggestion leads further than the values, and these further than the usage.
    let rest: Vec<_> = rest.lines().map(str::trim).collect();
    let tip = rest.iter().find_map(|line| line.strip_prefix("tip: "));
    // A value that begins like an option is seldom meant, and an unwanted word has another form.
    let tip = tip.filter(|tip| !tip.starts_with("to pass "));
    let values = lists.first().map(|list| list.trim_matches(['[', ']']));
    let usage = rest.iter().copied().find(|line| line.starts_with("Usage: "));
    let group = usage.and_then(|line| line.split(' ').nth(2));
    let group = group.filter(|word| !word.starts_with(['[', '<']));
    if let Some(ContextValue::String(word)) = error.get(ContextKind::InvalidSubcommand)
        && let Some(hint) = words::instead(group, word)
    {
        return Some(failure.hint(hint));
    }
    if error.kind() == ErrorKind::UnknownArgument
        && let Some(ContextValue::String(option)) = error.get(ContextKind::InvalidArg)
        && let Some(hint) = words::instead_of_option(group.unwrap_or_default(), option)
    {
        return Some(failure.hint(hint));
    }
    let is_word = error.kind() == ErrorKind::UnknownArgument && group == Some("list");
    let tip = tip.or_else(|| is_word.then_some("a word that must not occur is `not:WORD`"));
    Some(match tip.or(values).or(usage) {
        Some(hint) => failure.hint(hint),
        None => failure,
    })
}
