//! The description of new items: the options of `urepo new` and `urepo import`.

use std::path::Path;

use urepo::import::DefaultTitle;
use urepo::sidecar::{Conditions, Metadata, RelationKind};

use crate::cli::context::Context;
use crate::cli::exit::Exit;
use crate::cli::explain::Explain as _;
use crate::cli::failure::Failure;

/// The usual terms of one item.
#[derive(Debug, Default, clap::Args)]
#[command(next_help_heading = "Description")]
pub(super) struct TermArgs {
    /// The title; the name of the file or directory unless given, and none for ''
    #[arg(long, value_name = "TEXT")]
    title: Option<String>,
    /// Who made it, the family name first; may be repeated
    #[arg(long, value_name = "NAME")]
    creator: Vec<String>,
    /// The language of the content, such as en or pt-BR
    #[arg(long, value_name = "TAG")]
    language: Option<String>,
}

/// The description of the items.
#[derive(Debug, clap::Args)]
#[expect(clippy::doc_markdown, reason = "the comments are the help, which has no markup")]
#[command(next_help_heading = "Description")]
pub(super) struct DescriptionArgs {
    /// Any other term, x.KEY of your own, access=closed, access.allow=RANGE, transferable=false, part_of=ITEM and other relations;
    /// @FILE reads terms from TOML; may be repeated
    #[arg(short, long, value_name = "KEY=VALUE")]
    meta: Vec<String>,
}

/// The description that was given.
#[derive(Default)]
pub(super) struct Given {
    pub(super) metadata: Metadata,
    pub(super) conditions: Conditions,
    /// The keys of the given conditions.
    pub(super) condition_keys: Vec<&'static str>,
    /// Relations, with the items as they were typed.
    pub(super) relations: Vec<(RelationKind, String)>,
    /// The title of items that are given none.
    pub(super) title: DefaultTitle,
}

/// Limit on a file of terms.
const MAX_FILE_BYTES: u64 = 1024 * 1024;

impl DescriptionArgs {
    /// The given description, with `terms`: terms of options take precedence over those of files.
    pub(super) fn read(&self, terms: &TermArgs, context: &Context) -> Result<Given, Failure> {
        let mut given = Given { title: DefaultTitle::SourceName, ..Given::default() };
        let title = terms.title.iter().map(|it| ("title", it));
        let creators = terms.creator.iter().map(|it| ("creator", it));
        let language = terms.language.iter().map(|it| ("language", it));
        for (key, value) in title.chain(creators).chain(language) {
            given.add(key, value)?;
        }
        let (files, pairs): (Vec<_>, Vec<_>) =
            self.meta.iter().partition(|text| text.starts_with('@'));
        for pair in pairs {
            let (key, value) = pair.split_once('=').ok_or_else(|| {
                Failure::usage(format!("`--meta {pair}` has no `=`"))
                    .hint("write `--meta key=value`, or `--meta @FILE`")
            })?;
            given.add(key, value)?;
        }
        let mut metadata = Metadata::default();
        for file in files {
            let mut table = read_file(Path::new(&file[1..]), context)?;
            for (key, value) in given_keys(&mut table) {
                // An option wins over the file.
                if !given.condition_keys.contains(&&*key) {
                    given.add(&key, &value)?;
                }
            }
            metadata.override_with(Metadata::from_table(&table)?);
        }
        metadata.override_with(given.metadata);
        Ok(Given { metadata, ..given })
    }
}

impl Given {
    fn add(&mut self, key: &str, value: &str) -> Result<(), Failure> {
        if key.eq_ignore_ascii_case("title") && value.is_empty() {
            self.title = DefaultTitle::None;
            return Ok(());
        }
        if key == "target" {
            return Err(Failure::usage("the target is no term")
                .hint("`--target FILE` says which file the identifier opens"));
        }
        let condition = Conditions::KEYS.into_iter().find(|it| it.eq_ignore_ascii_case(key));
        if condition.is_none() && key.to_ascii_lowercase().starts_with("access") {
            return Err(Failure::usage(format!("`{key}` is no condition"))
                .hint("the conditions are `access`, `access.allow` and `transferable`"));
        }
        if let Some(key) = condition {
            let mut values = vec![value.to_owned()];
            if key == "access.allow" {
                values.splice(0..0, self.conditions.values(key));
            } else if self.condition_keys.contains(&key) {
                return Err(Failure::usage(format!("`{key}` was given twice"))
                    .hint("an item has one such value"));
            }
            self.conditions.set(key, &values).map_err(|it| Failure::usage(it.to_string()))?;
            self.condition_keys.push(key);
            return Ok(());
        }
        if let Some(kind) = RelationKind::of_description_key(key) {
            self.relations.push((kind.map_err(|_| no_relation(key))?, value.to_owned()));
            return Ok(());
        }
        self.metadata.add(key, value).map_err(|it| it.explain_word())
    }
}

/// The failure of a key that looks like that of a relation.
pub(super) fn no_relation(key: &str) -> Failure {
    Failure::usage(format!("`{key}` is no relation")).hint(
        "`translation.TAG` takes a language, such as pt-BR; a relation of your own is `relation.x.NAME`",
    )
}

/// Takes the conditions and the relations out of `table`, and gives keys such as `x.box` their table.
fn given_keys(table: &mut toml::Table) -> Vec<(String, String)> {
    let (mut given, mut own) = (Vec::new(), toml::Table::new());
    table.retain(|key, value| {
        if let Some(name) = key.strip_prefix("x.") {
            own.insert(name.to_owned(), value.clone());
            return false;
        }
        let is_given =
            Conditions::KEYS.contains(&key) || RelationKind::of_description_key(key).is_some();
        let texts = match value {
            toml::Value::String(text) => vec![text.clone()],
            toml::Value::Array(values) => {
                values.iter().filter_map(|it| Some(it.as_str()?.to_owned())).collect()
            }
            other => vec![other.to_string()],
        };
        given.extend(texts.into_iter().filter(|_| is_given).map(|text| (key.to_owned(), text)));
        !is_given
    });
    if !own.is_empty() {
        let known = table.entry("x").or_insert_with(|| toml::Table::new().into());
        if let Some(known) = known.as_table_mut() {
            known.extend(own);
        }
    }
    given
}

/// Reads a TOML file of terms, or of one item, as `urepo show --as toml` writes it.
fn read_file(path: &Path, context: &Context) -> Result<toml::Table, Failure> {
    let bytes = context.read_file(path, MAX_FILE_BYTES)?;
    let unusable = |reason: String| {
        let message = format!("cannot use the description `{}`", path.display());
        Failure::new(Exit::Failure, message)
            .caused_by(reason)
            .hint("it is a TOML table of terms, such as `title = \"…\"`")
    };
    let text = String::from_utf8(bytes).map_err(|_| unusable("it is not UTF-8".to_owned()))?;
    let mut table: toml::Table = text.parse().map_err(|error: toml::de::Error| {
        let line = error.span().map_or(1, |span| text[..span.start].matches('\n').count() + 1);
        unusable(format!("line {line}: {}", error.message()))
    })?;
    match table.get_mut("item").and_then(toml::Value::as_array_mut).map(Vec::as_mut_slice) {
        Some([toml::Value::Table(item)]) => {
            // The new item gets its own.
            item.remove("identifier");
            Ok(std::mem::take(item))
        }
        Some(_) => Err(unusable("it describes several items".to_owned())),
        None => Ok(table),
    }
}
