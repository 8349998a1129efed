//! Exclusions of deposits and imports: the flags, and the report.

use std::collections::BTreeMap;

use clap::builder::{OsStringValueParser, TypedValueParser};
use urepo::deposit::{Dropped, LeftOut};
use urepo::disk::{Exclusion, ExclusionRule, Pattern, PatternError};

use super::context::Context;
use super::failure::Failure;
use super::{escape, human};

/// The exclusion flags.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Leaving out")]
pub(crate) struct ExcludeArgs {
    /// Leave out files that match PATTERN, by the rules of gitignore; may be repeated
    #[arg(long, value_name = "PATTERN", value_parser = pattern())]
    exclude: Vec<String>,
    /// Leave out nothing else: ignore `.urepoignore` files and the setting `exclude`
    #[arg(long)]
    no_ignore: bool,
}

/// Reads a pattern, which has to be a text.
fn pattern() -> impl TypedValueParser<Value = String> {
    OsStringValueParser::new().try_map(|typed| {
        typed.into_string().map_err(|typed| {
            let text = typed.to_string_lossy().replace(char::REPLACEMENT_CHARACTER, "?");
            format!("it is not UTF-8; `?` stands for any character, as in `{text}`")
        })
    })
}

impl ExcludeArgs {
    /// The exclusions from a directory that was named as an item.
    pub(crate) fn of_item(&self) -> Result<Exclusion, Failure> {
        self.exclusion(&self.given()?, &[])
    }

    /// The exclusions in a directory of items, with those of the settings, and in a directory that was named as an item.
    pub(crate) fn of_items_and_item(
        &self,
        context: &Context,
    ) -> Result<(Exclusion, Exclusion), Failure> {
        let exclude = &context.config.exclude;
        let usual = if self.no_ignore { &[][..] } else { &exclude.value };
        let usual = usual.iter().map(|text| Pattern::new(text)).collect::<Result<Vec<_>, _>>();
        let from = format!("the setting `exclude` of {}", exclude.origin);
        let usual = usual.map_err(|error| unusable(&error, &from))?;
        Exclusion::new(&[], &usual, false).map_err(|error| unusable(&error, &from))?;
        let given = self.given()?;
        Ok((self.exclusion(&given, &usual)?, self.exclusion(&given, &[])?))
    }

    /// The patterns of the flags.
    fn given(&self) -> Result<Vec<Pattern>, Failure> {
        self.exclude
            .iter()
            .map(|text| Pattern::new(text).map_err(|error| refused(&error)))
            .collect()
    }

    fn exclusion(&self, given: &[Pattern], usual: &[Pattern]) -> Result<Exclusion, Failure> {
        Exclusion::new(given, usual, !self.no_ignore).map_err(|error| refused(&error))
    }
}

fn refused(error: &PatternError) -> Failure {
    unusable(error, "`--exclude`")
}

fn unusable(error: &PatternError, from: &str) -> Failure {
    Failure::usage(error.to_string())
        .caused_by(format!("it comes from {from}"))
        .hint("patterns are those of gitignore, such as `*.tmp` or `/cache/`")
}

/// Limit on the patterns listed with their counts.
const MOST_LISTED: usize = 5;

/// Counts excluded entries, by rule.
#[derive(Debug, Default)]
pub(crate) struct LeftOutTally {
    rules: BTreeMap<String, u64>,
}

impl LeftOutTally {
    /// Counts the entries left out of `source`, and names them on request.
    pub(crate) fn add(&mut self, context: &Context, source: &str, left_out: &[LeftOut]) {
        for LeftOut { path, rule } in left_out {
            self.add_rule(context, &format!("`{path}` of `{source}`"), rule);
        }
    }

    /// Counts one entry, and names it on request.
    pub(crate) fn add_rule(&mut self, context: &Context, what: &str, rule: &ExclusionRule) {
        *self.rules.entry(rule.to_string()).or_default() += 1;
        let verb = if context.global.dry_run { "would leave out" } else { "left out" };
        let line = escape::one_line(&format!("{verb} {what}: {}", in_words(rule)));
        if context.global.dry_run {
            context.printer.note(&line);
        } else {
            context.printer.detail(&line);
        }
    }

    /// Their number.
    pub(crate) fn total(&self) -> u64 {
        self.rules.values().sum()
    }

    /// Reports their number, and the patterns.
    pub(crate) fn tell(&self, context: &Context) {
        if self.rules.is_empty() {
            return;
        }
        let mut rules: Vec<_> = self.rules.iter().collect();
        rules.sort_by_key(|(_, count)| std::cmp::Reverse(**count));
        let listed = rules.iter().take(MOST_LISTED).map(|(rule, count)| format!("{rule} {count}"));
        let mut listed = listed.collect::<Vec<_>>().join(", ");
        if rules.len() > MOST_LISTED {
            listed += ", …";
        }
        let verb = if context.global.dry_run { "would leave out" } else { "left out" };
        let entries = human::count(self.total(), "entry");
        context.printer.note(&format!("{verb} {entries} ({listed})"));
    }
}

/// Warns of what a deposit has dropped, `of` which source.
pub(crate) fn warn_of_dropped(context: &Context, dropped: Dropped, of: &str) {
    let Dropped { special_modes, extended_attributes } = dropped;
    for (count, what) in
        [(special_modes, "special permission bits"), (extended_attributes, "extended attributes")]
    {
        if count > 0 {
            let files = human::count(count, "file");
            context.printer.warning(&format!("{what} of {files}{of} not kept"));
        }
    }
}

fn in_words(rule: &ExclusionRule) -> String {
    match rule {
        ExclusionRule::Pattern { text, from: None } => format!("`{text}`"),
        ExclusionRule::Pattern { text, from: Some(from) } => {
            format!("`{text}` in `{}`", from.display())
        }
        ExclusionRule::Link => "a symbolic link".to_owned(),
        ExclusionRule::PatternFile => "a file of patterns".to_owned(),
    }
}
