//! Rows in columns, sorted, and between two dates: `list`, `log` and `status`.

use std::fs::File;

use super::progress::read_until;
use super::records;
use crate::support::{
    TestClock, World, add_lines, change_item, copy_tree, deposit, ledger_lines, make_collection,
    options, request, wide_terminal,
};

/// Three items of the years 2024 to 2026: with an umlaut, with a hostile title of two columns a letter, and
/// without a title.
fn world() -> (World, [String; 3]) {
    let world = World::with_collection();
    let dates = ["2024-02-29T12:00:00Z", "2025-12-31T23:59:59.5Z", "2026-01-01T00:00:00Z"];
    let names = [0, 1, 2].map(|at| {
        let file = world.write(&format!("{at}.txt"), vec![b'x'; [2000, 30, 1_500_000][at]]);
        // No memory of names lets so many years pass.
        let archive = make_collection(&world.path(format!("{at}")));
        let clock = TestClock::at(dates[at]);
        let (outcomes, _) =
            deposit(&archive, vec![request(file)], options(), &clock, |_| ()).unwrap();
        let name = outcomes[0].result.as_ref().unwrap().label.name.to_string();
        let (from, to) = (world.path(format!("{at}")), world.path("archive"));
        copy_tree(&from.join("example.org"), &to.join("example.org"));
        add_lines(&to, &ledger_lines(&from));
        name
    });
    for (name, title) in [(&names[0], "Über die Flüsse"), (&names[1], "年次\u{202e}報告")] {
        change_item(&world.path("archive"), name, |sidecar| {
            sidecar.metadata.add("title", title).unwrap();
            sidecar.metadata.add("creator", "Silva, Ana").unwrap();
            sidecar.metadata.add("creator", "Lopes, Rui").unwrap();
        });
    }
    change_item(&world.path("archive"), &names[2], |_| ());
    (world, names)
}

fn list(world: &World, rest: &[&str]) -> String {
    world.run_args(["-c", "archive", "list"].iter().chain(rest)).succeeded().to_owned()
}

/// What a person sees of `line` on a terminal that is so wide.
fn screen(world: &World, columns: u16, line: &str) -> Option<Vec<String>> {
    let (mut own, programs) = wide_terminal(columns)?;
    let mut command = world.command(line.split(' '));
    command.env("TERM", "dumb").stdout(File::try_clone(&programs).unwrap()).stderr(programs);
    let mut child = command.spawn().unwrap();
    drop(command);
    let mut shown = String::new();
    read_until(&mut own, &mut shown, |_| false);
    assert!(child.wait().unwrap().success(), "{shown}");
    Some(shown.lines().map(str::to_owned).collect())
}

#[test]
fn columns_are_whole_in_a_pipe() {
    let (world, names) = world();
    let [first, second, third] = names.each_ref().map(String::as_str);
    assert_eq!(
        list(&world, &["--columns", "id,bytes,title,creator"]),
        format!(
            "{first}\t2000\tÜber die Flüsse\tSilva, Ana; Lopes, Rui\n\
             {second}\t30\t年次\\u{{202e}}報告\tSilva, Ana; Lopes, Rui\n\
             {third}\t1500000\t\t\n"
        )
    );
    assert_eq!(list(&world, &["--columns", "id", "-0"]), format!("{first}\0{second}\0{third}\0"));
    let two = ["--columns", "identifier,created", second, third];
    assert_eq!(
        list(&world, &two),
        format!("{second}\t2025-12-31T23:59:59Z\n{third}\t2026-01-01T00:00:00Z\n")
    );
}

#[test]
fn rows_are_sorted_and_the_first_ones_are_enough() {
    let (world, names) = world();
    let [first, second, third] = names.each_ref().map(String::as_str);
    let sorted =
        |by: &str| list(&world, &["--sort", by]).lines().map(str::to_owned).collect::<Vec<_>>();
    assert_eq!(sorted("bytes"), [second, first, third]);
    assert_eq!(sorted("-bytes"), [third, first, second]);
    assert_eq!(sorted("-id"), [third, second, first]);
    // Without a title is last, either way; the Latin letter comes before the Chinese one.
    assert_eq!(sorted("title"), [first, second, third]);
    assert_eq!(sorted("-title"), [second, first, third]);
    assert_eq!(sorted("state,-created"), [third, second, first]);
    assert_eq!(list(&world, &["--limit", "2"]), format!("{first}\n{second}\n"));
    assert_eq!(list(&world, &["--sort", "-bytes", "--limit", "1"]), format!("{third}\n"));
    let told = records(&world.run("-c archive list --json --sort -bytes --limit 1"));
    assert_eq!((told.len(), &told[0]["id"]), (2, &third.into()));
    assert_eq!(told[1]["counts"]["items"], 1);
    let events = records(&world.run("-c archive log --json"));
    let ids: Vec<_> = events.iter().filter_map(|event| event["id"].as_str()).collect();
    assert!(ids.starts_with(&[first, second, third]), "{ids:?}");
    let prefix = |prefix: &str| world.run(&format!("-c archive log --prefix {prefix}")).stdout;
    assert_eq!(prefix("example.org/archive").lines().count(), ids.len());
    assert_eq!(prefix("example.org/other"), "");
}

#[test]
fn a_key_that_does_not_exist_is_refused() {
    let world = World::with_collection();
    for (wrong, said) in [
        (
            ["--columns", "id,titel"],
            "an item has no key `titel` in `--columns`\nhint: did you mean `title`?",
        ),
        (["--sort", "-titl"], "an item has no key `titl` in `--sort`\nhint: did you mean `title`?"),
    ] {
        let ran = world.run_args(["-c", "archive", "list"].iter().chain(&wrong));
        let expected = said.lines().next().unwrap();
        assert_eq!((ran.code, ran.stderr.contains(expected)), (2, true), "{}", ran.stderr);
    }
}

#[test]
fn on_a_terminal_columns_have_headings_and_fit() {
    let (world, names) = world();
    let Some(lines) = screen(&world, 80, "-c archive list --long") else { return };
    let row = |bytes, at: usize, title| {
        let ending = names[at].trim_start_matches("example.org/archive/");
        format!("Original  {bytes:>7}      1  {ending:<19}  {title}").trim_end().to_owned()
    };
    assert_eq!(
        lines,
        [
            format!("STATE        SIZE  FILES  {:<19}  TITLE", "IDENTIFIER"),
            row("1.9 KiB", 0, "Über die Flüsse"),
            row("30 B", 1, "年次\\u{202e}報告"),
            row("1.4 MiB", 2, ""),
        ]
    );
    let wide = screen(&world, 120, "-c archive list --long").unwrap();
    assert!(wide[2].ends_with("年次\\u{202e}報告") && wide[2].contains(&names[1]), "{wide:?}");
    let short = screen(&world, 80, "-c archive list").unwrap();
    assert_eq!(short[0], "IDENTIFIER                               DATE  TITLE");
    let row = |at: usize, title| format!("{:<39}        {title}", names[at]);
    assert_eq!(short[1..3], [row(0, "Über die Flüsse"), row(1, "年次\\u{202e}報告")]);
    // One column has no heading, and identifiers are whole on any terminal.
    assert_eq!(screen(&world, 20, "-c archive list --columns id").unwrap(), names);
    let stats = screen(&world, 80, "-q -c archive status --counts").unwrap();
    assert!(
        stats[1].starts_with("total ") && stats[1].ends_with(" 3      3  1.4 MiB"),
        "{stats:?}"
    );
}

#[test]
fn on_a_terminal_sources_of_an_import_stand_in_a_column() {
    let world = World::with_collection();
    for name in 0..40 {
        world.write(&format!("in/{name}.txt"), "alpha");
    }
    let Some(lines) = screen(&world, 120, "-c archive import in") else { return };
    let columns: Vec<_> = lines.iter().filter_map(|line| line.rfind(" /")).collect();
    // A group may have a longer identifier than those before it.
    assert!(columns.len() == 20 && columns.is_sorted(), "{lines:?}");
    assert!(lines[20].starts_with("and 20 more"), "{lines:?}");
}

#[test]
fn dates_may_be_years_months_and_days() {
    let (world, names) = world();
    let [first, second, third] = names.each_ref().map(String::as_str);
    let lines = |rest: &[&str]| list(&world, rest).lines().map(str::to_owned).collect::<Vec<_>>();
    assert_eq!(lines(&["--since", "2025"]), [second, third]);
    assert_eq!(lines(&["--until", "2025"]), [first, second]);
    assert_eq!(lines(&["--since", "2025-12", "--until", "2025-12-31"]), [second]);
    assert_eq!(lines(&["--since", "2024-02-29", "--until", "2024-02-29T12:00:00Z"]), [first]);
    assert_eq!(lines(&["--since", "2026-01-01T03:00:00+03:00"]), [third]);
    assert_eq!(lines(&["--since", "2025-12-31T21:00:00-03:00"]), [third]);
    assert!(lines(&["--since", "7d"]).is_empty());
    assert_eq!(lines(&["--until", "1d"]).len(), 3);
    assert_eq!(
        world.run("-c archive -q list --state Original --until 2024 -0").stdout,
        format!("{first}\0")
    );
    let events = world.run("-c archive log --since 2025-12 --until 2025").line();
    assert!(events.contains(second), "{events}");
    // The engines take the same.
    world.run("init mirror --host mirror.example.org").succeeded();
    let copied = world.run("-c archive copy --since 2025 --until 2025 --to mirror");
    assert!(
        copied.succeeded().is_empty() && copied.stderr.contains("copied 1 item"),
        "{}",
        copied.stderr
    );
    let held = world.run(&format!("-c archive status {second} --state Copy --with mirror"));
    assert_eq!(held.succeeded(), "");
    for wrong in ["22/11/2026", "2026-13", "soon"] {
        assert_eq!(world.run(&format!("-c archive list --since {wrong}")).code, 2, "{wrong}");
    }
}

/// What was asked of one item can be asked of all, of some years, or of a list.
#[test]
fn commands_take_the_same_selections() {
    let (world, names) = world();
    let [first, second, third] = names.each_ref().map(String::as_str);
    let run = |line: &str| world.run(&format!("-c archive {line}"));
    let paths = run("show --path --since 2025 --until 2025").line();
    assert_eq!(paths, format!("[WORLD]/archive/{second}"));
    world.write("names", format!("{third}\n{first}\n"));
    let listed = run("show --as manifest - < names").succeeded().to_owned();
    let order = listed.lines().map(|line| line.contains(third)).collect::<Vec<_>>();
    assert_eq!(order, [true, false]);
    let shown = run("show --all --state Original").succeeded().to_owned();
    assert_eq!(shown.matches("deposited  ").count(), 3);
    assert_eq!(run("show --all --state Copy").stdout, "");
    let verified = run("verify --until 2025");
    assert!(verified.stderr.contains("verified 2 items"), "{}", verified.stderr);
    assert_eq!(run(&format!("verify - {second} < names")).code, 0);
    assert_eq!(run(&format!("verify --since 2025 {second}")).code, 2);
    assert_eq!(run("verify --since 2025 archive mirror").code, 2);
    // Each once, and no deleted ones unless these are asked for.
    let deleted = run(&format!("delete -y --force last {first} - < names"));
    assert_eq!((deleted.code, deleted.stdout.matches("; its files").count()), (0, 2));
    assert_eq!(run("delete -n --force last --all").stdout.matches("would delete ").count(), 1);
    assert_eq!(run("list --state Deleted").succeeded(), format!("{first}\n{third}\n"));
    assert_eq!(run("list --state any").succeeded(), format!("{first}\n{second}\n{third}\n"));
    assert_eq!(run("list --state Original,Deleted").succeeded().lines().count(), 3);
    let held = run("list");
    assert_eq!(held.succeeded(), format!("{second}\n"));
    let note = "2 items are deleted or elsewhere: `--state Deleted,Elsewhere` lists what remains\n";
    assert_eq!(held.stderr, note);
    for command in ["show", "show --path", "delete", "show --as manifest"] {
        let ran = run(command);
        assert_eq!(ran.code, 2, "{command}");
        assert!(ran.stderr.starts_with("error: no item was given\nhint: "), "{}", ran.stderr);
    }
}
