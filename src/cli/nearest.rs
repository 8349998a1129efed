//! Words that were probably meant.

/// The one of `words` that differs from `typed` in at most two letters.
pub(crate) fn nearest<'a>(typed: &str, words: &[&'a str]) -> Option<&'a str> {
    let typed = typed.to_lowercase();
    // A longer word differs from each of them.
    let is_short = typed.len() <= 32;
    let distances = words.iter().filter(|_| is_short).map(|word| (distance(&typed, word), *word));
    distances
        .min()
        .filter(|(distance, word)| *distance <= 2 && *distance < word.len())
        .map(|it| it.1)
}

/// How many letters have to be added, removed or replaced.
fn distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.to_lowercase().chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (above, letter) in a.chars().enumerate() {
        let mut diagonal = std::mem::replace(&mut row[0], above + 1);
        for (at, other) in b.iter().enumerate() {
            let replaced = diagonal + usize::from(letter != *other);
            diagonal = row[at + 1];
            row[at + 1] = replaced.min(diagonal + 1).min(row[at] + 1);
        }
    }
    row[b.len()]
}
