//! Words that were probably meant.

/// The one of `words` that is spelt like `typed`, but for two letters, or one of a short word.
pub(crate) fn nearest<'a>(typed: &str, words: &[&'a str]) -> Option<&'a str> {
    let typed: Vec<char> = typed.to_lowercase().chars().collect();
    // Half of the letters of a short word are in many others.
    let most = if typed.len() < 6 { 1 } else { 2 };
    // A longer word differs from each of them.
    let is_short = typed.len() <= 32;
    let distances = words.iter().filter(|_| is_short).map(|word| (distance(&typed, word), *word));
    distances
        .min()
        .filter(|(distance, word)| *distance <= most && *distance < word.len())
        .map(|it| it.1)
}

/// How many letters have to be added, removed, replaced, or exchanged with the next one.
fn distance(typed: &[char], word: &str) -> usize {
    let word: Vec<char> = word.to_lowercase().chars().collect();
    let (mut before, mut above) = (Vec::new(), (0..=word.len()).collect::<Vec<usize>>());
    for (at, letter) in typed.iter().enumerate() {
        let mut row = vec![at + 1];
        for (other_at, other) in word.iter().enumerate() {
            let replaced = above[other_at] + usize::from(letter != other);
            let mut least = replaced.min(above[other_at + 1] + 1).min(row[other_at] + 1);
            if at > 0 && other_at > 0 && letter == &word[other_at - 1] && &typed[at - 1] == other {
                least = least.min(before[other_at - 1] + 1);
            }
            row.push(least);
        }
        before = std::mem::replace(&mut above, row);
    }
    above[word.len()]
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
