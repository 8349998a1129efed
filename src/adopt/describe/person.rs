//! Names of people in references, in the form of descriptions: `Family, Given`.

use super::super::bibtex::to_text;

/// Suffixes, and words that belong to the family name before them.
const SUFFIXES: [&str; 7] = ["Jr", "Jr.", "Sr", "Sr.", "II", "III", "IV"];
const FAMILY_WORDS: [&str; 5] = ["Júnior", "Junior", "Filho", "Neto", "Sobrinho"];

/// One name of a list in LaTeX as a description has it, and whether all of it was understood.
///
/// All in braces, it is an institution. Else it is a person, whose family name comes last if there is no comma: after the last
/// particle, `Machado de Assis`, as BibTeX reads it.
pub(super) fn name(raw: &str) -> (String, bool) {
    if raw == "others" {
        return ("et al.".to_owned(), true);
    }
    let (text, is_whole) = to_text(raw);
    if is_braced(raw) {
        let is_plain = !text.contains(',');
        return (if is_plain { text } else { format!("{{{text}}}") }, is_whole);
    }
    if text.contains(',') || text.is_empty() || text.starts_with(':') {
        return (text, is_whole);
    }
    let words: Vec<_> = words(raw).into_iter().map(|word| (to_text(word).0, word)).collect();
    (inverted(&words), is_whole)
}

/// `Family, Given` of words, each as text and as LaTeX.
fn inverted(words: &[(String, &str)]) -> String {
    let text = |words: &[(String, &str)]| {
        words.iter().map(|(text, _)| text.as_str()).collect::<Vec<_>>().join(" ")
    };
    let is_suffix = |(text, _): &&(String, &str)| SUFFIXES.contains(&text.as_str());
    let (suffix, words) = match words.split_last() {
        Some((last, before)) if before.len() > 1 && is_suffix(&last) => (last.0.as_str(), before),
        _ => ("", words),
    };
    let Some((last, before)) = words.split_last() else { return String::new() };
    let is_particle = |(text, raw): &(String, &str)| {
        let first = text.chars().find(|c| c.is_alphabetic());
        !raw.starts_with('{') && first.is_some_and(char::is_lowercase)
    };
    let is_family = FAMILY_WORDS.iter().any(|it| it.eq_ignore_ascii_case(&last.0));
    let start = match before.iter().rposition(is_particle) {
        Some(at) => at + 1,
        None if is_family && before.len() > 1 => before.len() - 1,
        None => before.len(),
    };
    let (given, family) = words.split_at(start);
    // An acronym is the name of an institution; other words alone are names of people.
    let is_acronym =
        before.is_empty() && last.0.chars().count() > 1 && !last.0.contains(char::is_lowercase);
    match (text(given), text(family)) {
        (_, family) if is_acronym => family,
        (given, family) if given.is_empty() => format!("{family},"),
        // Of `von Goethe` no given name is known.
        (given, family) if words[..start].iter().all(is_particle) => format!("{given} {family},"),
        (given, family) if suffix.is_empty() => format!("{family}, {given}"),
        (given, family) => format!("{family}, {suffix}, {given}"),
    }
}

/// The words of a name, which end at blanks outside of braces.
fn words(raw: &str) -> Vec<&str> {
    let (mut words, mut depth, mut start) = (Vec::new(), 0_usize, 0);
    for (at, character) in raw.char_indices() {
        match character {
            '{' => depth += 1,
            '}' => depth = depth.saturating_sub(1),
            c if depth == 0 && (c.is_whitespace() || c == '~') => {
                words.push(&raw[start..at]);
                start = at + c.len_utf8();
            }
            _ => {}
        }
    }
    words.push(&raw[start..]);
    words.retain(|word| !to_text(word).0.is_empty());
    words
}

/// Whether one pair of braces is around all of `raw`. The braces of an accent, `{\'E}`, are none.
fn is_braced(raw: &str) -> bool {
    let Some(inner) = raw.strip_prefix('{').and_then(|it| it.strip_suffix('}')) else {
        return false;
    };
    let mut depth = 0_usize;
    let closes_early = inner.chars().any(|character| {
        match character {
            '{' => depth += 1,
            '}' if depth == 0 => return true,
            '}' => depth -= 1,
            _ => {}
        }
        false
    });
    !closes_early && !inner.starts_with('\\')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_those_of_people_unless_they_stand_in_braces() {
        for (raw, expected) in [
            ("Ana Silva", "Silva, Ana"),
            ("A. Silva", "Silva, A."),
            ("Silva, Ana", "Silva, Ana"),
            ("Machado de Assis", "Assis, Machado de"),
            ("Alva da Rocha", "Rocha, Alva da"),
            ("Jo{\\~a}o da Silva Filho", "Silva Filho, João da"),
            ("Jo{\\~a}o Silva Filho", "Silva Filho, João"),
            ("Martin Luther King Jr.", "King, Jr., Martin Luther"),
            ("King, Jr., Martin Luther", "King, Jr., Martin Luther"),
            ("Ana {Silva e Souza}", "Silva e Souza, Ana"),
            ("von Goethe", "von Goethe,"),
            ("Platão", "Platão,"),
            ("Platão,", "Platão,"),
            ("INPE", "INPE"),
            ("{INPE}", "INPE"),
            ("{Barnes and Noble}", "Barnes and Noble"),
            ("{Laboratório de Fitas, Universidade}", "{Laboratório de Fitas, Universidade}"),
            ("{\\'E}mile Zola", "Zola, Émile"),
            ("{A} {B}", "B, A"),
            (":unav", ":unav"),
            ("others", "et al."),
            ("{others}", "others"),
            ("", ""),
            ("~", ""),
        ] {
            assert_eq!(name(raw).0, expected, "{raw}");
        }
    }
}
