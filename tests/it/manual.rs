//! The manual: the pages that the program writes, and `man/urepo.7`, are complete, and their examples work.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::process::{Command, Stdio};

use urepo::verify::Code;

use super::support::World;

#[test]
fn every_command_has_a_page_that_lists_the_flags_of_its_help() {
    let world = World::new();
    let pages = pages();
    for command in commands(&world) {
        let help = flags_of_help(world.run(&format!("help {command}")).succeeded());
        assert!(help.contains("--collection"), "the help of {command} is not understood: {help:?}");
        assert_eq!(flags_of_page(&pages[&command]), help, "{command}");
    }
    // The screen of urepo itself names commands. `cat` has no options but those of all.
    let mut common = flags_of_help(world.run("help cat").succeeded());
    common.extend(["--version", "-V"].map(str::to_owned));
    assert_eq!(flags_of_page(&pages["urepo"]), common, "urepo itself");
    assert!(!pages.contains_key("generate") && !pages.contains_key("help"));
}

/// Nobody can look up a code that the page by hand lacks.
#[test]
fn every_finding_code_stands_in_the_page() {
    let text = std::fs::read_to_string(format!("{}/man/urepo.7", env!("CARGO_MANIFEST_DIR")));
    let text = plain(&text.unwrap()).replace('\n', " ");
    for code in Code::all() {
        let (first, rest) = code.meaning().split_at(1);
        let meaning = format!("{}{rest}", first.to_uppercase()).replace('`', "");
        let entry = format!(".TP .B {code} {meaning} ({}).", code.severity());
        assert!(text.contains(&entry), "man/urepo.7 lacks:\n{}", entry.replacen(" .B", "\n.B", 1));
    }
    let listed =
        text.match_indices(" .B U").filter(|(at, _)| text.as_bytes()[at + 5].is_ascii_digit());
    assert_eq!(listed.count(), Code::all().len(), "one has gone");
}

#[test]
fn every_example_works() {
    let world = World::new();
    for command in commands(&world) {
        let help = world.run(&format!("help {command}"));
        let examples = examples(help.succeeded());
        assert!(!examples.is_empty(), "{command} has no examples");
        let mut reader = Reader::new(command != "init");
        reader.prepare(&command);
        for example in examples {
            reader.types(&command, &example);
        }
    }
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

/// The commands that `urepo --help` lists.
fn commands(world: &World) -> Vec<String> {
    let help = world.run("--help");
    let lines = help.succeeded().lines().skip_while(|line| *line != "Commands:").skip(1);
    lines
        .take_while(|line| !line.is_empty())
        // A description that takes a second line begins further in.
        .filter(|line| line.starts_with("  ") && !line.starts_with("   "))
        .filter_map(|line| line.split_whitespace().next())
        .filter(|name| *name != "help")
        .map(str::to_owned)
        .collect()
}

/// Flags stand at the begin of a line of help, little indented; the text about them is further in.
fn flags_of_help(help: &str) -> BTreeSet<String> {
    let indent = |line: &str| line.len() - line.trim_start().len();
    help.lines().filter(|line| (2..=6).contains(&indent(line))).flat_map(flags_at_begin).collect()
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

fn examples(help: &str) -> Vec<String> {
    let lines = help.lines().skip_while(|line| *line != "Examples:").skip(1);
    lines.map_while(|line| line.strip_prefix("  ")).map(str::to_owned).collect()
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
    /// The item that the examples call `11.21.02.13`.
    item: Option<String>,
}

/// The item of the examples was deposited at a time that no clock shows now.
const ITEM: &str = "example.org/archive/2026/11.21.02.13";

/// Programs that examples call and that are not everywhere, or are of no use without a terminal.
const STAND_INS: &str = r#"
mkdir bin
printf '#!/bin/sh\ntest -f "$1"\n' > bin/xdg-open
printf '#!/bin/sh\necho "-- dump of $1"\n' > bin/pg_dump
chmod +x bin/*
"#;

impl Reader {
    fn new(has_collection: bool) -> Reader {
        let world = if has_collection { World::with_collection() } else { World::new() };
        for file in [
            "report.pdf",
            "scans/001.tif",
            "scans/002.tif",
            "incoming/letter.txt",
            "incoming/more/map.png",
            "drop/one",
            "drop/two",
            "done/before",
            "thesis/chapter.tex",
            "annual/report.pdf",
            "annual/data/table.csv",
            "col/dpi.inpe.br/banon/1995/08.08.00.00/doc/index.html",
            "theses/example.edu/library/2009/02.16.17.46/doc/thesis.pdf",
        ] {
            world.write(file, format!("the bytes of {file}\n"));
        }
        let digest = urepo::digest::Digest::of(b"the bytes of bag\n");
        world.write("bag/data/letter.txt", "the bytes of bag\n");
        world.write("bag/manifest-sha256.txt", format!("{digest}  data/letter.txt\n"));
        world.write("bag/bagit.txt", "BagIt-Version: 1.0\nTag-File-Character-Encoding: UTF-8\n");
        world.write("references.txt", "see http://urlib.net/8JMKD3MGP8W/34PGRBS.\n\n");
        world.write("list.csv", "path,title,Author\nreport.pdf,Report,A. Archivist\n");
        world.run("init mirror --host mirror.example.org").succeeded();
        let item = has_collection
            .then(|| world.run("-c archive new annual --target report.pdf --title Annual").line());
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
    fn prepare(&mut self, page: &str) {
        let lost = "urepo init lost --host lost.example.org; urepo -c lost new report.pdf > item;
            urepo -c lost copy --all --to mirror; mv lost away;";
        let script = match page {
            "promote" => lost,
            "list" => {
                "printf 'path,relation.part_of,x.box,date\nreport.pdf,%s,Box 2,1911\n' \"$NAME\" > parts.csv;
                urepo import parts.csv"
            }
            "meta-set" => "urepo new report.pdf > second",
            "recover" => "rm -r \"$(urepo show --path \"$NAME\")\"; cp -a archive copied",
            "resolver" => "echo 1234567890 > archive.key; chmod 600 archive.key",
            _ => return,
        };
        let (code, output) = self.sh(script);
        assert_eq!(code, 0, "{output}");
        if page == "promote" {
            // The item of `archive` has the same date only if both were deposited in one second.
            let item = std::fs::read_to_string(self.world.path("item")).unwrap();
            self.item = Some(item.trim_end().to_owned());
        }
    }

    fn types(&self, page: &str, example: &str) {
        // Nothing outside this world is touched, and no full minute is waited for.
        let mut line = example
            .replace("/srv/drop/", "drop/")
            .replace("/mnt/backup", "backup")
            .replace("/mnt/lost", "lost")
            .replace("SECOND", "$(cat second)")
            .replace("granularity 60", "granularity 0.1")
            .replace("127.0.0.1:8081", "127.0.0.1:0");
        if page == "serve" && !line.contains("--print-registration")
            || page == "resolver" && line.contains("--service")
        {
            // It has begun once it prints its address, and ends well when it is stopped.
            line = format!("rm -f began; {line}");
            line += " > began & while ! test -s began; do kill -0 $!; done; kill $!; wait $!";
        }
        if let Some(item) = &self.item {
            let date = item.rsplit('/').next().unwrap();
            line = line.replace(ITEM, item).replace("11.21.02.13", date);
        }
        let (code, output) = self.sh(&line);
        // An item of this world is lost, which another command gives up.
        if page == "recover" && code == 3 && output.ends_with("error: left 1 item as it is\n") {
            return;
        }
        assert!(code == 0 && !output.contains("error:"), "{page}: `{example}`: {code}\n{output}");
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
