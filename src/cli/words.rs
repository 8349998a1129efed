//! Words that people type for a command or an option that has another name here.

use urepo::sidecar::TERMS;

/// The line that says what is typed instead of the unknown command `word`, or of that verb of `group`.
pub(crate) fn instead(group: Option<&str>, word: &str) -> Option<&'static str> {
    let words = match group {
        None => WORDS,
        Some("meta") => META,
        Some(_) => return None,
    };
    let found = words.iter().find(|(words, _)| words.split(' ').any(|it| it == word));
    found.map(|(_, hint)| *hint)
}

/// The verbs of `meta` that people look for.
const META: &[(&str, &str)] = &[
    ("get show", "`urepo show ITEM`; one value: `urepo list ITEM --columns title`"),
    ("add", "`urepo meta set ITEM KEY+=VALUE`"),
    ("unset remove delete", "`urepo meta set ITEM KEY=`, or KEY-=VALUE for one value"),
    ("export", "`urepo show --all --as csv`"),
    ("accept", ACCEPT),
];

const ACCEPT: &str = "`urepo repair ITEM --accept`";

/// The words, with what other programs or earlier versions mean by them, and the hint.
const WORDS: &[(&str, &str)] = &[
    ("adopt", "`urepo init ROOT --adopt`"),
    ("create", "`urepo init ROOT --host FQDN`"),
    ("put upload ingest", "`urepo new FILE`"),
    ("batch", "`urepo import DIRECTORY`"),
    ("table csv", "`urepo import list.csv`; out: `urepo show --all --as csv`"),
    ("get download", "`urepo export ITEM --to DIR`; a file: `urepo cat ITEM/FILE`"),
    ("path", "`urepo show --path ITEM`"),
    ("manifest checksum", "`urepo show ITEM --as manifest`"),
    ("where whereis", "`urepo show ITEM`; how each holding stands: `urepo status ITEM`"),
    ("cite", "`urepo show ITEM --as abnt`, or apa, or bibtex"),
    ("bibtex", "`urepo show ITEM --as bibtex`"),
    ("edit", "`urepo meta edit ITEM`"),
    ("tag", "`urepo meta set ITEM subject+=WORD`"),
    (
        "rename",
        "`urepo meta set ITEM title=TEXT`: identifiers never change; to another collection: `urepo migrate ITEM --to COLLECTION`",
    ),
    (
        "relate link",
        "`urepo meta set ITEM edition_of=ITEM`, or translation_of, part_of; KEY-=ITEM ends it",
    ),
    ("edition", "`urepo new FILE --edition-of ITEM`"),
    ("translate translation", "`urepo new FILE --translation-of ITEM`"),
    ("backup sync mirror push", "`urepo copy --all --to COLLECTION`"),
    ("test fixity links", "`urepo verify`"),
    ("diff", "`urepo verify ROOT ROOT`"),
    ("fix mend", "`urepo repair ITEM --from COLLECTION`"),
    ("accept", ACCEPT),
    ("stats count", "`urepo status --counts`"),
    ("doctor", "`urepo status --machine`"),
    ("config", "`urepo status --settings`"),
    ("id explain", "`urepo resolve --explain TEXT`"),
    ("label doi", "`urepo mint`"),
    ("history", "`urepo log ITEM`"),
    ("remove", "`urepo delete ITEM`"),
    ("undelete", "`urepo restore ITEM`"),
    ("undo revert", "`urepo meta undo ITEM`, `urepo restore ITEM`"),
    ("trash", "`urepo restore --all --dry-run`"),
    ("empty gc prune", "`urepo purge --older-than 90d`"),
    ("index", "`urepo recover --index`"),
    ("unlock", "a lock ends with its process; `urepo recover` removes what a killed one left"),
    ("demote", "`urepo recover --with COLLECTION`"),
    ("failover", "`urepo promote --all --lost COLLECTION`"),
    ("view", "`urepo open ITEM`"),
    ("web publish", "`urepo serve`"),
    ("token", "`urepo serve token add NAME`"),
];

/// The line that says what is typed instead of the unknown option `option` of `command`.
pub(crate) fn instead_of_option(command: &str, option: &str) -> Option<String> {
    let name = option.trim_start_matches('-');
    let term = TERMS.into_iter().find(|term| term.eq_ignore_ascii_case(name));
    Some(match (command, name) {
        ("new" | "import", _) if term.is_some() => format!("`--meta {}=VALUE`", term?),
        ("new" | "import", "metadata") => "`--meta @FILE`".to_owned(),
        ("new" | "import", "no-title") => "`--title ''`".to_owned(),
        ("new" | "import", "access") => "`--meta access=closed`".to_owned(),
        ("new" | "import", "allow") => "`--meta access.allow=RANGE`".to_owned(),
        ("new" | "import", "no-transferable") => "`--meta transferable=false`".to_owned(),
        ("new" | "import", "part-of" | "metadata-of") => {
            format!("`--meta {}=ITEM`", name.replace('-', "_"))
        }
        ("new", "stdin-filename") => "`--stdin-name NAME`".to_owned(),
        ("new" | "import" | "mint", "accept-clock") => "`--force clock`".to_owned(),
        ("new" | "import" | "mint", "max-wait") => "`UREPO_MAX_WAIT=5m`".to_owned(),
        (_, "color" | "colour") => "`UREPO_COLOR=always`, or never".to_owned(),
        (_, "progress" | "no-progress") => "`UREPO_PROGRESS=always`, or never".to_owned(),
        (_, "lock-wait") => "`UREPO_LOCK_WAIT=5m`".to_owned(),
        (_, "granularity") => "`granularity` in `urepo.toml`".to_owned(),
        ("init", "port") => "`--host FQDN:PORT`".to_owned(),
        ("init", "ip-port") => "`--ip IP:PORT`".to_owned(),
        ("meta", "unlink") => "`urepo meta set ITEM KEY-=ITEM`".to_owned(),
        ("new" | "import", "author") => "`--creator NAME`".to_owned(),
        ("meta", _) if term.is_some() => format!("`urepo meta set ITEM {}=VALUE`", term?),
        ("list", "source") => "`urepo list origin:TEXT`".to_owned(),
        ("list", _) if term.is_some() => format!("`urepo list {}:WORD`", term?),
        ("list", "file" | "content" | "related" | "sha256") => format!("`urepo list {name}:VALUE`"),
        ("list", "a" | "all-states") => "`--state any`".to_owned(),
        ("import", "manifest") => "`urepo import list.csv`".to_owned(),
        ("new" | "import", "files-from0") => "`urepo import -` reads a list of paths".to_owned(),
        ("import", "depth") => "a directory deeper: `urepo import DIR/*/`".to_owned(),
        ("import", "dedupe") => "`--skip-same`, or `urepo new` for another item".to_owned(),
        ("import", "title" | "creator" | "language") => format!("`--meta {name}=VALUE`"),
        ("copy" | "migrate" | "meta", "on-error") => {
            "a failed item stops no other; `timeout` ends a run".to_owned()
        }
        ("copy", "delete") => "deletions travel with `--all`".to_owned(),
        (_, "items-from" | "items-from0" | "files-from") => {
            "`-` reads a list on standard input".to_owned()
        }
        ("resolve", "cat" | "open") => format!("`urepo {name} URL`"),
        ("resolve", "accept-language") => {
            "`+(pt)` in the URL, or `UREPO_LANGUAGES=pt,en`".to_owned()
        }
        ("resolve", "all-pairs") => "`--pairs -v`".to_owned(),
        ("resolve", "address" | "service") => {
            format!("`{name}` in `[archive]` of `urepo.toml`")
        }
        ("repair", "partial") => "what can be repaired always is".to_owned(),
        ("restore", "with") => "`--from COLLECTION`".to_owned(),
        ("export", "with-sidecar") => "`--as toml`".to_owned(),
        ("export", "metadata-format") => "`--as FORMAT`".to_owned(),
        ("export", "metadata-only") => "`urepo show --as FORMAT`".to_owned(),
        ("list", "n") => "`--limit 20`".to_owned(),
        ("log", "n" | "limit") => "`urepo log | tail`".to_owned(),
        ("log", "sort" | "columns") => "`urepo log | sort`, or `--json`".to_owned(),
        (_, "o" | "output") => "`>` writes the answer into a file".to_owned(),
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::cli::args::definitions;

    #[test]
    fn each_word_stands_once_and_is_no_command() {
        let definitions = definitions();
        let mut seen = BTreeSet::new();
        for word in WORDS.iter().flat_map(|(words, _)| words.split(' ')) {
            assert!(seen.insert(word), "{word} stands twice");
            assert!(definitions.find_subcommand(word).is_none(), "{word} is a command");
        }
        assert_eq!(instead(None, "frobnicate"), None);
        assert!(instead(Some("meta"), "get").is_some_and(|hint| hint.contains("columns")));
        assert_eq!(instead(Some("meta"), "accept"), instead(None, "accept"));
        assert_eq!(instead(None, "links"), Some("`urepo verify`"));
        assert_eq!(instead(Some("resolver"), "get"), None);
        let said = |command, option| instead_of_option(command, option).unwrap_or_default();
        assert_eq!(said("new", "--date"), "`--meta date=VALUE`");
        assert_eq!(said("list", "--Subject"), "`urepo list subject:WORD`");
        assert_eq!(said("copy", "--frobnicate"), "");
    }
}
