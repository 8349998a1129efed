//! Sentences and editions: what references by ABNT and by APA have in common.
//!
//! Both are plain text, without italics, on one line.

/// A reference, sentence by sentence.
#[derive(Default)]
pub(super) struct Sentences(String);

impl Sentences {
    /// Appends a sentence with its period, and a space before it.
    pub(super) fn push(&mut self, sentence: &str) {
        if sentence.is_empty() {
            return;
        }
        self.push_bare(sentence);
        if !sentence.ends_with(['.', '?', '!']) {
            self.0.push('.');
        }
    }

    /// Appends a text that has no period, such as a URL.
    pub(super) fn push_bare(&mut self, text: &str) {
        if !self.0.is_empty() {
            self.0.push(' ');
        }
        self.0.push_str(text);
    }

    /// The reference as a line.
    pub(super) fn line(self) -> String {
        self.0 + "\n"
    }
}

/// An edition in the words of `language`; one that is not a number is transcribed.
pub(super) fn edition(text: &str, language: Option<&str>) -> String {
    let Ok(number) = text.parse::<u32>() else { return text.to_owned() };
    match language {
        Some("en") => format!("{} ed.", english_ordinal(number)),
        Some("fr") if number == 1 => "1re éd.".to_owned(),
        Some("fr") => format!("{number}e éd."),
        Some("de") => format!("{number}. Aufl."),
        _ => format!("{number}. ed."),
    }
}

fn english_ordinal(number: u32) -> String {
    let end = match (number % 100, number % 10) {
        (11..=13, _) => "th",
        (_, 1) => "st",
        (_, 2) => "nd",
        (_, 3) => "rd",
        _ => "th",
    };
    format!("{number}{end}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn editions_are_in_the_language_of_the_work() {
        for (text, language, expected) in [
            ("2", Some("pt"), "2. ed."),
            ("2", None, "2. ed."),
            ("1", Some("en"), "1st ed."),
            ("2", Some("en"), "2nd ed."),
            ("12", Some("en"), "12th ed."),
            ("23", Some("en"), "23rd ed."),
            ("2", Some("fr"), "2e éd."),
            ("2", Some("de"), "2. Aufl."),
            ("2. ed. rev.", Some("en"), "2. ed. rev."),
        ] {
            assert_eq!(edition(text, language), expected);
        }
    }
}
