//! Suggestions for mistyped words.

use strsim::osa_distance;

/// The one of `words` that differs from `typed` in at most two letters, or in one for a short word.
pub(crate) fn nearest<'a>(typed: &str, words: &[&'a str]) -> Option<&'a str> {
    let typed = typed.to_lowercase();
    let letters = typed.chars().count();
    // Many words share half of the letters of a short word; longer words differ more.
    let most = if letters < 6 { 1 } else { 2 };
    let words = words.iter().filter(|_| letters <= 32);
    let distances = words.map(|word| (osa_distance(&typed, &word.to_lowercase()), *word));
    distances
        .min()
        .filter(|(distance, word)| *distance <= most && *distance < word.len())
        .map(|it| it.1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_near_spellings_are_meant() {
        let words = ["date", "type", "title", "creator", "description", "set"];
        for (typed, meant) in [
            ("titel", Some("title")),
            ("Dat", Some("date")),
            ("ste", Some("set")),
            ("creatro", Some("creator")),
            ("descripton", Some("description")),
            ("descriptoin", Some("description")),
            ("state", None),
            ("nope", None),
            ("id", None),
            ("", None),
        ] {
            assert_eq!(nearest(typed, &words), meant, "{typed}");
        }
    }
}
