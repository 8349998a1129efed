//! Records against docs/json.md: every type and every key is in its tables.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::LazyLock;

use serde_json::Value;

/// The keys of each type, with dots for those of objects.
static SCHEMA: LazyLock<BTreeMap<String, BTreeSet<String>>> = LazyLock::new(|| {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/docs/json.md");
    let page = std::fs::read_to_string(path).unwrap();
    let mut schema = BTreeMap::<String, BTreeSet<String>>::new();
    for section in page.split("\n## ").skip(1) {
        let (heading, text) = section.split_once('\n').unwrap();
        let table =
            text.trim_start().split("\n\n").find(|part| part.starts_with("| key |")).unwrap();
        let keys = table.lines().skip(2).map(|row| row.split('`').nth(1).unwrap().to_owned());
        schema.insert(heading.to_owned(), keys.collect());
    }
    schema
});

/// Checks a record of `line`.
#[track_caller]
pub(super) fn check(line: &str, record: &Value) {
    assert_eq!(record["version"], 1, "{line}: {record}");
    check_part(line, record);
}

#[track_caller]
fn check_part(line: &str, record: &Value) {
    let kind = record["type"].as_str().unwrap_or_else(|| panic!("{line}: {record}"));
    let documented = SCHEMA.get(kind).unwrap_or_else(|| panic!("{line}: the type {kind}"));
    let everywhere = &SCHEMA["Keys of every record"];
    let mut keys = BTreeSet::new();
    flatten(line, record, "", &mut keys);
    for key in keys {
        let is_free =
            |known: &String| known.strip_suffix('*').is_some_and(|start| key.starts_with(start));
        let exact = key.replace("_b64", "");
        let is_known = everywhere.contains(&key) || documented.contains(&exact);
        assert!(is_known || documented.iter().any(is_free), "{line}: {kind}.{key}: {record}");
    }
}

/// The keys of `value`; records in it are checked by themselves.
#[track_caller]
fn flatten(line: &str, value: &Value, path: &str, keys: &mut BTreeSet<String>) {
    match value {
        Value::Null => panic!("{line}: {path} is null"),
        Value::Object(fields) => {
            for (key, field) in fields {
                let key = if path.is_empty() { key.clone() } else { format!("{path}.{key}") };
                flatten(line, field, &key, keys);
            }
        }
        Value::Array(values) if values.iter().any(|it| it["type"].is_string()) => {
            keys.insert(path.to_owned());
            for record in values {
                check_part(line, record);
            }
        }
        Value::Array(values) => {
            for value in values {
                flatten(line, value, path, keys);
            }
        }
        _ => drop(keys.insert(path.to_owned())),
    }
}
