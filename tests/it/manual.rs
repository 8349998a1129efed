//! The manual: the pages that the program writes, and `man/urepo.7`, are complete, and their examples work.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::process::{Command, Stdio};

use urepo::verify::Code;

use super::support::World;

#[test]
fn every_command_has_a_page_with_its_flags_and_those_of_all() {
    let pages = pages();
    for command in ["new", "list", "meta-set", "serve-token-add"] {
        assert!(pages.contains_key(command), "{:?}", pages.keys());
    }
    assert!(!pages.contains_key("generate") && !pages.contains_key("help"));
    for (command, page) in &pages {
        let flags = flags_of_page(page);
        for flag in ["-c", "--collection", "-n", "--dry-run", "--json"] {
            assert!(flags.contains(flag), "{command}: {flag}: {flags:?}");
        }
    }
    assert!(flags_of_page(&pages["new"]).contains("--stdin-name"));
}

/// Nobody can look up a code that the page by hand lacks.
#[test]
fn every_finding_code_stands_in_the_page() {
    let text = std::fs::read_to_string(format!("{}/man/urepo.7", env!("CARGO_MANIFEST_DIR")));
    let text = plain(&text.unwrap()).replace('\n', " ");
    for code in Code::all() {
        let (first, rest) = code.meaning().split_at(1);
        let is_file = code.meaning().starts_with("item.toml");
        let first = if is_file { first.to_owned() } else { first.to_uppercase() };
        let meaning = format!("{first}{rest}").replace('`', "");
        let entry = format!(".TP .B {code} {meaning} ({}).", code.severity());
        assert!(text.contains(&entry), "man/urepo.7 lacks:\n{}", entry.replacen(" .B", "\n.B", 1));
    }
    let listed =
        text.match_indices(" .B U").filter(|(at, _)| text.as_bytes()[at + 5].is_ascii_digit());
    assert_eq!(listed.count(), Code::all().len(), "one has gone");
}

/// Those of `-h`, which end before the usage.
#[test]
fn every_example_works() {
    let (mut typed, mut failed) = (0, Vec::new());
    for page in pages().into_keys().filter(|page| page != "urepo") {
        let help = World::new().run(&format!("{} -h", page.replace('-', " ")));
        let (examples, _) = help.succeeded().split_once("\nUsage: ").unwrap();
        let reader = Reader::new(page != "init");
        reader.prepare(&page);
        for example in examples.lines().filter_map(|line| line.strip_prefix("  ")) {
            failed.extend(reader.types(&page, example));
            typed += 1;
        }
    }
    assert!(failed.is_empty(), "{}", failed.join("\n"));
    assert!(typed > 70, "{typed} examples");
}

/// The pages that the program writes, by command: `urepo`, `new`, `meta-set`.
pub(crate) fn pages() -> BTreeMap<String, String> {
    let world = World::new();
    std::fs::create_dir(world.path("pages")).unwrap();
    world.run("generate man pages").succeeded();
    assert!(world.path("pages/urepo.7").is_file());
    let read = |entry: std::io::Result<std::fs::DirEntry>| {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_str().unwrap().strip_suffix(".1")?;
        let name = name.strip_prefix("urepo-").unwrap_or(name).to_owned();
        Some((name, std::fs::read_to_string(path).unwrap()))
    };
    std::fs::read_dir(world.path("pages")).unwrap().filter_map(read).collect()
}

fn flags_of_page(page: &str) -> BTreeSet<String> {
    let mut lines = page.lines();
    let mut flags = BTreeSet::new();
    while lines.any(|line| line == ".TP") {
        flags.extend(flags_at_begin(&plain(lines.next().unwrap())));
    }
    flags
}

fn flags_at_begin(line: &str) -> Vec<String> {
    let words = line.split_whitespace().map(|word| word.trim_end_matches([',', '.']));
    words.take_while(|word| word.len() > 1 && word.starts_with('-')).map(str::to_owned).collect()
}

/// A line of a page as it is read.
fn plain(line: &str) -> String {
    const MARKUP: [(&str, &str); 6] =
        [("\\fB", ""), ("\\fI", ""), ("\\fR", ""), ("\\-", "-"), ("\\*(Aq", "'"), ("\\e", "\\")];
    MARKUP.iter().fold(line.to_owned(), |line, (markup, text)| line.replace(markup, text))
}

/// Someone who types the examples of one page, with the files that they speak of.
struct Reader {
    world: World,
    /// The item of the examples.
    item: Option<String>,
}

/// Programs that examples call and that are not everywhere, or are of no use without a terminal.
const STAND_INS: &str = r#"
mkdir bin
printf '#!/bin/sh\ntest -f "$1"\n' > bin/xdg-open
printf '#!/bin/sh\necho "-- dump of $1"\n' > bin/pg_dump
printf '#!/bin/sh\n' > bin/nano
chmod +x bin/*
"#;

impl Reader {
    fn new(has_collection: bool) -> Reader {
        let world = if has_collection { World::with_collection() } else { World::new() };
        for file in [
            "report.pdf",
            "letter.pdf",
            "trip/diary.txt",
            "a.tif",
            "scans/report.pdf",
            "scans/001.tif",
            "scans/002.tif",
            "drop/one",
            "drop/two",
            "annual/report.pdf",
            "annual/data/table.csv",
            "col/dpi.inpe.br/banon/1995/08.08.00.00/doc/index.html",
        ] {
            world.write(file, format!("the bytes of {file}\n"));
        }
        world.write("list.csv", "path,title,Author\nreport.pdf,Report,A. Archivist\n");
        world.run("init mirror --host mirror.example.org").succeeded();
        let item = has_collection.then(|| {
            world
                .run("-c archive new annual --target report.pdf --title Annual --creator Silva")
                .line()
        });
        let reader = Reader { world, item };
        // A child writes them: what this process has open for writing can not be run meanwhile.
        reader.sh(STAND_INS);
        if has_collection {
            reader.sh("cp -a archive backup");
        }
        reader
    }

    /// Makes what the examples of a page are about: the Original of what `mirror` has is in a collection that is
    /// lost, or has come back; an item has a part.
    fn prepare(&self, page: &str) {
        let translated = "urepo new report.pdf --translation-of \"$NAME\" --language pt";
        let deleted = "urepo delete --force last \"$NAME\"";
        let script = match page {
            "promote" => {
                "urepo copy --all --to mirror; mkdir -p .config/urepo;
                printf '[collections]\narchive = \"%s/archive\"\n' \"$PWD\" > .config/urepo/config.toml;
                mv archive away"
            }
            "list" => {
                "printf 'path,title,creator,x.box,date\nreport.pdf,Field trip,\"Silva, A.\",Box 2,1911\n' > parts.csv;
                urepo import parts.csv"
            }
            "meta" | "meta-import" => {
                "urepo show --all --as csv > list.csv; urepo meta set \"$NAME\" title=Letter"
            }
            "meta-undo" => {
                "urepo meta set \"$NAME\" title=Letter; urepo meta set \"$NAME\" title=Letters"
            }
            "meta-set" => {
                "urepo new report.pdf > second; urepo meta set \"$NAME\" subject+=sea rights=none"
            }
            "meta-edit" => {
                "printf '#!/bin/sh\ncp \"$1\" description.toml\n' > bin/keep; chmod +x bin/keep;
                VISUAL=keep urepo meta edit \"$NAME\""
            }
            "import" => "mkdir bad",
            "status" | "delete" => "urepo copy --all --to mirror",
            "cat" | "resolve" => translated,
            "restore" | "purge" | "log" => deleted,
            "recover" => {
                "urepo init old --host old.example.org; urepo init new; urepo -c old new report.pdf;
                urepo -c old copy --all --to new"
            }
            "serve-token-remove" => "urepo serve token add reading-room",
            "resolver" | "resolver-register" | "resolver-remove" => {
                "echo 1234567890 > archive.key; chmod 600 archive.key"
            }
            _ => return,
        };
        let (code, output) = self.sh(script);
        assert_eq!(code, 0, "{output}");
    }

    /// What went wrong.
    fn types(&self, page: &str, example: &str) -> Option<String> {
        // Nothing outside this world is touched, and no full minute is waited for.
        let mut line = example
            .replace("/srv/drop", "drop")
            .replace("/srv/bad", "bad")
            .replace("init mirror", "init second")
            .replace("/srv/out", "out")
            .replace("/srv/old", "col")
            .replace("--registry F", "--registry registry.toml")
            .replace("--service ID", "--service example.org/other/2026/11.21.02.13")
            .replace("register ID", "register example.org/other/2026/11.21.02.13")
            .replace("/mnt/", "")
            .replace("--to maps", "--to mirror")
            .replace("--to store", "--to mirror")
            .replace("B edition_of=A", "$(cat second) edition_of=ITEM");
        let is_server = match page {
            "serve" => !line.contains("--print-registration") && !line.contains("token"),
            "resolver" => !line.contains("register "),
            _ => false,
        };
        if is_server {
            // It has begun once it prints its address, and ends well when it is stopped.
            line = format!("rm -f began; {line} --listen 127.0.0.1:0");
            line += " > began & while ! test -s began; do kill -0 $!; done; kill $!; wait $!";
        }
        if let Some(item) = &self.item {
            let date = item.rsplit('/').next().unwrap();
            line = line.replace("example.org/archive/2026/11.21.02.13", item);
            line = line.replace("11.21.07.20.37", date).replace("ITEM", item);
        }
        let (code, output) = self.sh(&line);
        let is_done = code == 0 && !output.contains("error:");
        (!is_done).then(|| format!("{page}: `{example}`: {code}\n{output}"))
    }

    fn sh(&self, script: &str) -> (i32, String) {
        let program = Path::new(env!("CARGO_BIN_EXE_urepo")).parent().unwrap();
        let path = format!(
            "{}:{}:{}",
            self.world.path("bin").display(),
            program.display(),
            std::env::var("PATH").unwrap()
        );
        let mut command = Command::new("sh");
        command.args(["-euc", script]).current_dir(self.world.path("")).stdin(Stdio::null());
        command.env("PATH", path).env("HOME", self.world.path("home")).env("NO_COLOR", "1");
        command.env("VISUAL", "true");
        command.env("XDG_CONFIG_HOME", self.world.path(".config"));
        for (name, _) in std::env::vars_os() {
            if name.to_string_lossy().starts_with("UREPO_") {
                command.env_remove(name);
            }
        }
        command.env("UREPO_STATE", self.world.path(".state"));
        command.env("UREPO_LISTEN", "127.0.0.1:0");
        command.env("XDG_CACHE_HOME", self.world.path(".cache"));
        command.env("UREPO_MACHINE_ID", crate::support::agent().machine_id);
        if let Some(item) = &self.item {
            command.env("UREPO_COLLECTION", self.world.path("archive")).env("NAME", item);
        }
        let output = command.output().unwrap();
        let text = [output.stdout, output.stderr].concat();
        (output.status.code().unwrap_or(-1), String::from_utf8_lossy(&text).into_owned())
    }
}
