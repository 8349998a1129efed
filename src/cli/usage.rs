//! The errors of clap, in the form of all other errors.

use clap::error::{ContextKind, ContextValue, ErrorKind};

use super::failure::Failure;
use super::nearest::nearest;

/// Commands, and the names that they have elsewhere.
const SYNONYMS: &[(&str, &str)] = &[
    ("config", "settings"),
    ("copy", "backup mirror replicate"),
    ("delete", "erase remove trash"),
    ("export", "download extract get"),
    ("find", "grep locate query"),
    ("index", "reindex"),
    ("init", "create"),
    ("log", "events history"),
    ("man", "manual"),
    ("manifest", "checksum hash"),
    ("meta add", "tag"),
    ("meta edit", "edit"),
    ("meta export", "bibtex"),
    ("meta set", "describe modify set"),
    ("new", "ingest put store upload"),
    ("purge", "clean empty expunge gc prune"),
    ("refresh", "sync update"),
    ("relate", "unlink"),
    ("repair", "fix heal"),
    ("resolve", "cite"),
    ("restore", "undelete undo"),
    ("stats", "count du size"),
    ("status", "compare diff"),
    ("verify", "fixity scrub validate"),
    ("whereis", "where"),
];

/// The failure for `error`; `None` if it is the help of a command.
pub(super) fn failure(error: &clap::Error) -> Option<Failure> {
    let text = |kind| match error.get(kind) {
        Some(ContextValue::String(text)) => Some(text.clone()),
        Some(ContextValue::Strings(texts)) if !texts.is_empty() => Some(texts.join("`, `")),
        _ => None,
    };
    let argument =
        || text(ContextKind::InvalidArg).unwrap_or_default().trim_end_matches("...").to_owned();
    let (message, hint) = match error.kind() {
        ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand => return None,
        ErrorKind::MissingSubcommand => ("no command was given".to_owned(), None),
        ErrorKind::InvalidSubcommand => {
            let typed = text(ContextKind::InvalidSubcommand).unwrap_or_default();
            (format!("there is no command `{typed}`"), command_for(error, &typed))
        }
        ErrorKind::UnknownArgument => {
            let argument = argument();
            let what = if argument.starts_with('-') { "option" } else { "argument" };
            let near =
                text(ContextKind::SuggestedArg).map(|near| format!("did you mean `{near}`?"));
            // clap suggests `--` only where arguments other than options are allowed.
            let is_name = argument.starts_with('-') && error.get(ContextKind::Suggested).is_some();
            let names = is_name.then(|| {
                format!("{}; `--` stands before a name that begins with `-`", usage_of(error))
            });
            (format!("unknown {what} `{argument}`"), near.or(names))
        }
        ErrorKind::InvalidValue => {
            let value = text(ContextKind::InvalidValue).unwrap_or_default();
            let message = if value.is_empty() {
                format!("`{}` needs a value", argument())
            } else {
                format!("`{value}` is not a value of `{}`", argument())
            };
            let near =
                text(ContextKind::SuggestedValue).map(|near| format!("did you mean `{near}`?"));
            let values = text(ContextKind::ValidValue).map(|all| format!("the values are `{all}`"));
            (message, near.or(values))
        }
        ErrorKind::ValueValidation => {
            let value = text(ContextKind::InvalidValue).unwrap_or_default();
            // The reason names the expected value.
            let message = match std::error::Error::source(error).map(ToString::to_string) {
                Some(reason) if reason.contains(&format!("`{value}`")) => {
                    format!("invalid value of `{}`: {reason}", argument())
                }
                Some(reason) => format!("`{value}` is not a value of `{}`: {reason}", argument()),
                None => format!("`{value}` is not a value of `{}`", argument()),
            };
            return Some(Failure::usage(message));
        }
        ErrorKind::MissingRequiredArgument => {
            let is_one = !matches!(error.get(ContextKind::InvalidArg), Some(ContextValue::Strings(all)) if all.len() > 1);
            let are = if is_one { "is" } else { "are" };
            (format!("`{}` {are} missing", argument()), None)
        }
        ErrorKind::ArgumentConflict => {
            let other = text(ContextKind::PriorArg).map(|it| it.trim_end_matches("...").to_owned());
            let message = match other {
                Some(other) if other != argument() => {
                    format!("`{}` cannot be used with `{other}`", argument())
                }
                Some(_) => format!("`{}` can be given only once", argument()),
                None => format!("`{}` cannot be used with the others", argument()),
            };
            (message, None)
        }
        _ => {
            let text = error.render().to_string();
            let lines = text.strip_prefix("error: ").unwrap_or(&text).lines();
            let lines: Vec<_> = lines.take_while(|line| !line.is_empty()).map(str::trim).collect();
            (lines.join(" "), None)
        }
    };
    Some(Failure::usage(message).hint(hint.unwrap_or_else(|| usage_of(error))))
}

/// The place of the usage.
fn usage_of(error: &clap::Error) -> String {
    match command_of(error).as_str() {
        "" => "`urepo --help` lists the commands and options".to_owned(),
        command => format!("`urepo help {command}` says how it is used"),
    }
}

/// The command of the usage in `error`, without the program.
fn command_of(error: &clap::Error) -> String {
    let Some(ContextValue::StyledStr(usage)) = error.get(ContextKind::Usage) else {
        return String::new();
    };
    let usage = usage.to_string();
    let mut definitions = super::definitions();
    let mut command = Vec::new();
    // Options of the program come before the name of the command.
    for word in usage.split_whitespace().skip_while(|it| *it != "urepo").skip(1) {
        let Some(part) = definitions.find_subcommand(word).cloned() else { continue };
        definitions = part;
        command.push(word);
    }
    command.join(" ")
}

/// A suggestion for the name of a command.
fn command_for(error: &clap::Error, typed: &str) -> Option<String> {
    let typed = typed.to_lowercase();
    let group = command_of(error);
    let definitions = super::definitions();
    let commands = definitions.find_subcommand(&group).unwrap_or(&definitions);
    let names = commands.get_subcommands().flat_map(clap::Command::get_name_and_visible_aliases);
    let names: Vec<_> = names.chain(["help"]).collect();
    let synonym = SYNONYMS
        .iter()
        .find(|(_, names)| names.split(' ').any(|name| name == typed))
        .map(|it| it.0);
    let meant = synonym.or_else(|| nearest(&typed, &names));
    let before = if synonym.is_some() || group.is_empty() { String::new() } else { group + " " };
    meant.map(|meant| format!("did you mean `urepo {before}{meant}`?"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn synonyms_lead_to_commands_and_are_none_themselves() {
        let definitions = crate::cli::definitions();
        for (command, names) in SYNONYMS {
            let is_known = |name: &str| definitions.find_subcommand(name).is_some();
            assert!(!names.split(' ').any(is_known), "one of {names} is a command");
            let found =
                command.split(' ').try_fold(&definitions, |it, part| it.find_subcommand(part));
            assert!(found.is_some(), "{command}");
        }
        assert!(SYNONYMS.is_sorted(), "in order");
    }

    #[test]
    fn what_was_meant_is_found() {
        let hint = |line: &str| {
            let words = line.split(' ');
            let error = crate::cli::definitions().try_get_matches_from(words).unwrap_err();
            failure(&error).unwrap().hint.unwrap()
        };
        for (line, expected) in [
            ("urepo remove", "did you mean `urepo delete`?"),
            ("urepo cite x", "did you mean `urepo resolve`?"),
            ("urepo undelete", "did you mean `urepo restore`?"),
            ("urepo Validate x", "did you mean `urepo verify`?"),
            ("urepo edit x", "did you mean `urepo meta edit`?"),
            ("urepo veryfy", "did you mean `urepo verify`?"),
            ("urepo meta ste", "did you mean `urepo meta set`?"),
            ("urepo frobnicate", "`urepo --help` lists the commands and options"),
            ("urepo list --limt 3", "did you mean `--limit`?"),
            ("urepo completions tcsh", "did you mean `zsh`?"),
            ("urepo new --links up f", "the values are "),
            ("urepo meta get --frobnicate", "`urepo help meta get` says how it is used"),
        ] {
            assert!(hint(line).starts_with(expected), "{line}: {}", hint(line));
        }
    }
}
