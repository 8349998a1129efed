//! Phrases that STYLE.md rules out.

use super::{files, none, package};

/// A phrase, and what to write in its place. The phrase is in lower case; it is found as whole words.
const RULED_OUT: &[(&str, &str)] = &[
    ("anew", "again, or a verb: rebuild, reread"),
    ("so many", "a number, or `at most N`"),
    ("whoever", "the role: the lock holder, the caller"),
    ("for good", "permanently"),
    ("can not", "cannot"),
    ("it may be that", "the case in which it is so"),
    ("is told", "is reported, is printed"),
    ("are told", "are reported, are printed"),
    ("what is told", "the result, the report"),
];

/// The pages for people, and the comments and messages of the source. STYLE.md quotes the phrases.
const PAGES: &[&str] = &["README.md", "CONTRIBUTING.md", "SECURITY.md", "docs", "man", "src"];

/// The phrases in `text`, with the numbers of their lines; of a source, in comments and in lines with literals. A phrase may go over the end of a line.
fn ruled_out(text: &str, is_source: bool) -> Vec<(usize, &'static str, &'static str)> {
    let mut words: Vec<(usize, String)> = Vec::new();
    let mut is_output = false;
    for (number, line) in text.lines().enumerate() {
        // What the program prints has tests of its own.
        if line.starts_with("```") {
            is_output = line == "```console";
        }
        if is_output || is_source && !line.trim_start().starts_with("//") && !line.contains('"') {
            continue;
        }
        let line = line.trim_start().trim_start_matches('/').to_lowercase();
        let found = line.split(|it: char| !it.is_alphanumeric() && it != '\'' && it != '_');
        words.extend(found.filter(|it| !it.is_empty()).map(|it| (number + 1, it.to_owned())));
    }
    let mut found = Vec::new();
    for (phrase, better) in RULED_OUT {
        let phrase_words: Vec<_> = phrase.split(' ').collect();
        for window in words.windows(phrase_words.len()) {
            if window.iter().map(|(_, word)| word.as_str()).eq(phrase_words.iter().copied()) {
                found.push((window[0].0, *phrase, *better));
            }
        }
    }
    found
}

/// The lines of a source with a comment that begins as "What the clock says" does, and not with a noun.
fn free_relatives(text: &str) -> Vec<usize> {
    let mut is_begun = false;
    let mut found = Vec::new();
    for (number, line) in text.lines().enumerate() {
        let comment = line.trim_start().strip_prefix("//");
        let comment = comment.map(|it| it.trim_start_matches(['/', '!']).trim_start());
        let clause = comment.and_then(|it| it.split([',', '.', ':', ';']).next()).unwrap_or("");
        let words: Vec<_> = clause.split_whitespace().collect();
        let is_verb = |pair: &[&str]| {
            matches!(pair, ["is" | "was", "wrong"] | ["would" | "will", "do"])
                || matches!(pair[1], "says" | "say" | "does")
        };
        if !is_begun && words.first() == Some(&"What") && words.windows(2).any(is_verb) {
            found.push(number + 1);
        }
        is_begun = comment.is_some_and(|it| !it.is_empty());
    }
    found
}

#[test]
fn no_comment_begins_with_what_something_says() {
    let complaint = |(path, text): (String, String)| {
        let lines = free_relatives(&text).into_iter();
        lines.map(|line| format!("{path}:{line}: begins with `What`; write a noun")).collect()
    };
    none(&files("src").into_iter().flat_map::<Vec<_>, _>(complaint).collect::<Vec<_>>());
}

#[test]
fn no_page_has_a_phrase_that_is_ruled_out() {
    let mut complaints = Vec::new();
    let mut pages = 0;
    for page in PAGES {
        for entry in walkdir::WalkDir::new(package().join(page)) {
            let path = entry.unwrap().into_path();
            if path.is_file() {
                pages += 1;
                let text = std::fs::read_to_string(&path).unwrap();
                let is_source = path.extension().is_some_and(|extension| extension == "rs");
                complaints.extend(ruled_out(&text, is_source).into_iter().map(
                    |(line, phrase, better)| {
                        format!("{}:{line}: `{phrase}`; write {better}", path.display())
                    },
                ));
            }
        }
    }
    assert!(pages > 10, "{pages} pages");
    none(&complaints);
}

#[test]
fn phrases_are_found_whole_and_over_lines() {
    let found = |text| ruled_out(text, true).into_iter().map(|(line, phrase, _)| (line, phrase));
    let text = "/// It is made anew, by whom-\n/// ever. It Can\n/// not be told so manyfold.";
    assert_eq!(found(text).collect::<Vec<_>>(), [(1, "anew"), (2, "can not")]);
}

#[test]
fn free_relatives_are_found_where_a_comment_begins() {
    let text = "/// What the clock says.\n///\n// What is wrong, and where.\nx\n//! What it does\n";
    assert_eq!(free_relatives(text), [1, 3, 5]);
    let text = "/// The text, or\n/// what it says.\n/// What becomes of it: it says so.\n// What: it says";
    assert!(free_relatives(text).is_empty());
}
