//! The guide and its translations are in step: the same sections in the same order, which show the same
//! commands with data of their own.
//!
//! In a translation, a comment above each heading is the heading of the guide. A heading without one, as of
//! a glossary, begins a section that only the translation has.

use std::collections::BTreeSet;

use super::{Block, page};

const GUIDE: &str = "docs/guide.md";
const TRANSLATIONS: &[&str] = &["docs/pt-BR/guia.md"];

#[test]
fn the_guides_are_in_step() {
    let guide = Section::read_all(&page(GUIDE), |_, heading| Some(heading.to_owned()));
    assert!(guide.len() > 10, "{GUIDE} has sections");
    for path in TRANSLATIONS {
        let translation = Section::read_all(&page(path), |above, _| {
            Some(above.strip_prefix("<!-- ")?.strip_suffix(" -->")?.to_owned())
        });
        assert_eq!(differences(&guide, &translation), Vec::<String>::new(), "{GUIDE} and {path}");
    }
}

#[test]
fn a_section_of_one_guide_alone_is_named() {
    let guide =
        "# Guide\n## One\n```console\n$ urepo new a --title 'A -b'\n```\n## Two\n### Three\n";
    let read = |text: &str| Section::read_all(text, |_, heading| Some(heading.to_owned()));
    let compared = |text: &str| differences(&read(guide), &read(text)).join("\n");
    assert_eq!(compared(&guide.replace("new a --title 'A -b'", "new ã --title 'Ã'")), "");
    assert_eq!(compared(&guide.replace("## Two\n", "")), "only the guide has “Two”");
    assert_eq!(compared(&format!("{guide}## Four\n")), "only the translation has “Four”");
    let swapped = guide.replace("## Two\n### Three\n", "### Three\n## Two\n");
    assert_eq!(compared(&swapped), "“Two” of the guide is “Three” in the translation");
    assert_eq!(
        compared(&guide.replace("### Three", "## Three")),
        "“Three” is a section of level 3 in the guide, of level 2 in the translation"
    );
    assert_eq!(
        compared(&guide.replace("--title", "--meta")),
        "“One” shows `urepo new --title` in the guide, `urepo new --meta` in the translation"
    );
    assert_eq!(
        compared(&guide.replace("```console", "```sh")),
        "“One” has 1 console blocks in the guide, 0 in the translation"
    );
}

struct Section {
    /// As in the guide.
    title: String,
    level: usize,
    /// What the commands of each console block do.
    blocks: Vec<Vec<String>>,
}

impl Section {
    /// The sections below the title of the page. `title_of` gets the line above a heading, and the heading.
    fn read_all(page: &str, title_of: impl Fn(&str, &str) -> Option<String>) -> Vec<Section> {
        let lines: Vec<_> = page.lines().collect();
        let mut starts = Vec::new();
        let mut in_code = false;
        for (at, line) in lines.iter().enumerate() {
            in_code ^= line.starts_with("```");
            if !in_code && line.starts_with("##") {
                starts.push(at);
            }
        }
        let ends = starts.iter().skip(1).copied().chain([lines.len()]);
        let mut sections = Vec::new();
        for (at, end) in starts.iter().copied().zip(ends) {
            let heading = lines[at].trim_start_matches('#');
            let text = lines[at..end].join("\n");
            let blocks: Vec<_> = Block::read_all(&text, "console").iter().map(skeletons).collect();
            match title_of(lines[at - 1], heading.trim()) {
                Some(title) => {
                    let level = lines[at].len() - heading.len();
                    sections.push(Section { title, level, blocks });
                }
                None => assert!(blocks.is_empty(), "{heading}: no comment above names its section"),
            }
        }
        sections
    }
}

/// What is typed to urepo, without the data: subcommands and options.
fn skeletons(block: &Block) -> Vec<String> {
    let pages = crate::manual::pages();
    let subcommands: BTreeSet<_> = pages.keys().flat_map(|page| page.split('-')).collect();
    assert!(subcommands.contains("set"), "each subcommand has a manual page");
    let is_kept =
        |word: &&str| *word == "urepo" || word.starts_with('-') || subcommands.contains(*word);
    let skeleton = |command: &str| {
        // Data stands between quotes.
        let typed = command.split('\'').step_by(2).collect::<Vec<_>>().join(" ");
        let words = typed.split(|it: char| it.is_whitespace() || "\"$();|=".contains(it));
        words.filter(is_kept).collect::<Vec<_>>().join(" ")
    };
    let commands = block.steps().into_iter().map(|step| step.command);
    commands.filter(|command| command.contains("urepo ")).map(skeleton).collect()
}

fn differences(guide: &[Section], translation: &[Section]) -> Vec<String> {
    let titles = |sections: &[Section]| sections.iter().map(|it| it.title.clone()).collect();
    let [ours, theirs]: [BTreeSet<String>; 2] = [titles(guide), titles(translation)];
    let mut differences = Vec::new();
    differences.extend(ours.difference(&theirs).map(|it| format!("only the guide has “{it}”")));
    let alone = theirs.difference(&ours);
    differences.extend(alone.map(|it| format!("only the translation has “{it}”")));
    if !differences.is_empty() {
        return differences;
    }
    for (one, other) in guide.iter().zip(translation) {
        let title = &one.title;
        if *title != other.title {
            let other = &other.title;
            return vec![format!("“{title}” of the guide is “{other}” in the translation")];
        }
        if one.level != other.level {
            differences.push(format!(
                "“{title}” is a section of level {} in the guide, of level {} in the translation",
                one.level, other.level
            ));
        }
        if one.blocks.len() != other.blocks.len() {
            differences.push(format!(
                "“{title}” has {} console blocks in the guide, {} in the translation",
                one.blocks.len(),
                other.blocks.len()
            ));
        }
        for (one, other) in one.blocks.iter().zip(&other.blocks).filter(|(one, other)| one != other)
        {
            let same = one.iter().zip(other).take_while(|(one, other)| one == other).count();
            let [one, other] =
                [one, other].map(|block| block.get(same).map_or("nothing", String::as_str));
            differences.push(format!(
                "“{title}” shows `{one}` in the guide, `{other}` in the translation"
            ));
        }
    }
    if guide.len() != translation.len() {
        differences.push("a section stands twice".to_owned());
    }
    differences
}
