//! Records: each has `type` and `version`, an item the same fields wherever it is told of.

use serde_json::{Value, json};

use super::{leaf, records, world_with_item};
use crate::support::World;

/// Checks what every record has, and that it has the fields.
#[track_caller]
fn has(record: &Value, kind: &str, fields: &[&str]) {
    assert_eq!((&record["type"], &record["version"]), (&json!(kind), &json!(1)), "{record}");
    let missing: Vec<_> = fields.iter().filter(|field| record.get(field).is_none()).collect();
    assert!(missing.is_empty(), "{missing:?} missing in {record}");
}

/// The fields of an item.
const ITEM: &[&str] = &["id", "path"];

#[test]
fn of_new_items() {
    let world = World::with_collection();
    world.write("a.txt", "alpha");
    let ran = world.run("-c archive new --json --each a.txt missing.txt");
    assert_eq!(ran.code, 3);
    let told = records(&ran);
    assert_eq!(told.len(), 3, "{}", ran.stdout);
    has(&told[0], "item", ITEM);
    has(&told[0], "item", &["state", "source", "files", "bytes", "digest"]);
    let name = told[0]["id"].as_str().unwrap();
    assert_eq!(told[0]["path"], format!("[WORLD]/archive/{name}"));
    assert_eq!(told[0]["state"], "Original");
    assert_eq!((&told[0]["did"], &told[1]["did"]), (&json!("deposited"), &json!("failed")));
    assert!(told[0]["digest"].as_str().unwrap().starts_with("sha256:"));
    has(&told[1], "item", &["source", "error"]);
    assert_eq!(told[1]["error"]["code"], 1);
    assert!(told[1]["error"]["message"].as_str().unwrap().contains("missing.txt"));
    has(&told[2], "summary", &["counts", "exit_code"]);
    assert_eq!(told[2]["exit_code"], 3);
    assert_eq!((&told[2]["counts"]["items"], &told[2]["counts"]["failed"]), (&json!(1), &json!(1)));
    assert_eq!(told[2]["counts"]["bytes"], 5);
}

#[test]
fn of_items_that_are_there() {
    let (world, name) = world_with_item();
    let described: &[&str] = &[
        "created",
        "timestamp",
        "target",
        "transferable",
        "metadata",
        "relations",
        "origin",
        "files",
        "bytes",
        "digest",
    ];
    let list = records(&world.run("-c archive list --json"));
    has(&list[0], "item", ITEM);
    has(&list[0], "item", described);
    assert_eq!(list[0]["id"], name);
    let show = records(&world.run(&format!("-c archive show --json {}", leaf(&name))));
    has(&show[0], "item", ITEM);
    has(&show[0], "item", described);
    assert_eq!(show[0]["sealed"], true);
    let entry = &show[0]["entries"][0];
    assert_eq!((&entry["path"], &entry["bytes"]), (&json!("a.txt"), &json!(5)));
    assert_eq!((&entry["kind"], &show[0]["target"]), (&json!("file"), &json!("a.txt")));
    // RFC 3339, in UTC.
    for field in ["created", "timestamp"] {
        assert!(show[0][field].as_str().unwrap().ends_with('Z'), "{}", show[0]);
    }
    let path = records(&world.run(&format!("-c archive show --path --json {name}")));
    has(&path[0], "item", ITEM);
}

#[test]
fn of_the_rest() {
    let (world, name) = world_with_item();
    let one = |line: &str| {
        let ran = world.run(line);
        let told = records(&ran);
        assert_eq!((ran.code, told.len()), (0, 1), "{line}: {}{}", ran.stdout, ran.stderr);
        told[0].clone()
    };
    has(
        &one("init maps --host maps.example.org --json"),
        "collection",
        &["collection_id", "collection", "path"],
    );
    has(&one("-c archive status --machine --json"), "collection", &["collection_id", "machine"]);
    has(
        &records(&world.run("-c archive status --settings --json"))[0],
        "setting",
        &["key", "value", "from"],
    );
    has(&one("-c archive recover --json"), "summary", &["counts", "messages", "exit_code"]);
    let minted = records(&world.run("-c archive mint --json"));
    has(&minted[0], "item", ITEM);
    has(&minted[1], "summary", &["counts", "exit_code"]);
    let planned = records(&world.run("-c archive new -n a.txt --json"));
    has(&planned[0], "item", &["dry_run", "source", "files", "bytes"]);
    has(&planned[1], "summary", &["counts", "dry_run"]);
    let id = one(&format!("-c archive resolve --explain --json {name}"));
    has(&id, "resolved", &["text", "exact", "parts"]);
    for key in ["repository", "host", "port", "date", "url", "path"] {
        assert!(id["parts"][key].is_string(), "{key}: {id}");
    }
    let verified = records(&world.run("-c archive verify --json"));
    has(verified.last().unwrap(), "summary", &["exit_code"]);
}

#[test]
fn of_failures_on_stderr() {
    let (world, _) = world_with_item();
    for (line, code) in [
        ("-c nowhere list", 10),
        ("init archive --host archive.example.org", 23),
        ("-c archive new", 2),
    ] {
        let ran = world.run(&format!("{line} --json"));
        assert_eq!((ran.code, ran.stdout.as_str()), (code, ""), "{line}");
        let record: Value = serde_json::from_str(&ran.stderr).unwrap();
        has(&record, "error", &["error", "exit_code"]);
        assert_eq!(record["exit_code"], code, "{line}");
        assert_eq!(record["error"]["code"], code, "{line}");
        assert!(record["error"]["message"].is_string(), "{line}");
    }
}

/// A single item that fails has its record as one of many has.
#[test]
fn of_a_single_item_that_fails() {
    let (world, _) = world_with_item();
    let absent = "example.org/archive/2009/02.16.17.46";
    for command in ["show", "show --path", "resolve", "open", "list", "verify"] {
        let ran = world.run(&format!("-c archive {command} {absent} --json"));
        let told = records(&ran);
        has(&told[0], "item", &["id", "error"]);
        assert_eq!((&told[0]["id"], &told[0]["error"]["code"]), (&json!(absent), &json!(21)));
        has(told.last().unwrap(), "summary", &["counts", "exit_code"]);
        let last: Value = serde_json::from_str(ran.stderr.lines().last().unwrap()).unwrap();
        assert_eq!((&last["type"], ran.code), (&json!("error"), 21), "{command}");
    }
}

/// A bad item has its record among the good ones.
#[test]
fn of_items_that_can_not_be_read() {
    let (world, name) = world_with_item();
    let other = world.run("-c archive new a.txt").line();
    world.write(&format!("archive/{name}/item.toml"), "format = ?");
    let ran = world.run("-c archive list --json");
    assert_eq!(ran.code, 3);
    let told = records(&ran);
    assert_eq!(&told[0]["id"], &json!(name));
    assert_eq!(told[0]["error"]["code"], 20);
    assert_eq!(&told[1]["id"], &json!(other));
}

/// stderr has the error alone: programs read it.
#[test]
fn of_failures_and_plans_nothing_else_is_told() {
    let (world, name) = world_with_item();
    world.run(&format!("-c archive delete {name} --force last")).succeeded();
    for line in ["--json", "-c archive purge --json"] {
        let ran = world.run(line);
        assert_eq!((ran.code, ran.stderr.lines().count()), (2, 1), "{line}: {}", ran.stderr);
        has(&serde_json::from_str(&ran.stderr).unwrap(), "error", &["error", "exit_code"]);
    }
    let ran = world.run("--json");
    assert!(ran.stderr.contains("requires a subcommand"), "{}", ran.stderr);
    std::fs::create_dir_all(world.path("tree/example.org/old/2001/01.01.00.00/doc")).unwrap();
    world.write("tree/example.org/old/2001/01.01.00.00/doc/a.txt", "a");
    for line in
        ["-c archive mint -n --json", "init tree --adopt -n --json", "init tree --adopt --json"]
    {
        let ran = world.run(line);
        assert_eq!((ran.code, ran.stderr.as_str()), (0, ""), "{line}");
    }
}
