//! Words in descriptions for the numbers, tags and states of a sidecar.

use super::bibtex::plain;
use crate::identity::{Instant, parse_suffix};
use crate::item::State;

/// The month given by a number or by a name, in English or Portuguese.
pub(super) fn month_number(text: &str) -> Option<u32> {
    if let Ok(number @ 1..=12) = text.parse() {
        return Some(number);
    }
    const MONTHS: [&str; 12] = [
        "jan", "feb fev", "mar", "apr abr", "may mai", "jun", "jul", "aug ago", "sep set",
        "oct out", "nov", "dec dez",
    ];
    let begin: String = text.chars().take(3).flat_map(char::to_lowercase).collect();
    let is_word = text.chars().all(|c| c.is_alphabetic() || c == '.');
    let at = MONTHS.iter().position(|names| names.split(' ').any(|name| name == begin))?;
    is_word.then_some(u32::try_from(at + 1).ok()?)
}

/// The tag of a language, by the name of the language.
pub(super) fn language(name: &str) -> Option<&'static str> {
    Some(match name.to_lowercase().as_str() {
        "english" | "inglês" | "ingles" => "en",
        "portuguese" | "português" | "portugues" => "pt",
        "spanish" | "español" | "espanhol" => "es",
        "french" | "français" | "francês" | "frances" => "fr",
        "german" | "deutsch" | "alemão" => "de",
        "italian" | "italiano" => "it",
        _ => return None,
    })
}

/// `2017:05.17.17.45.29 (UTC) user`, as the archives write it.
pub(super) fn update(value: &str) -> Option<Instant> {
    let text = plain(value);
    let date = text.split_whitespace().next()?;
    parse_suffix(&date.replacen(':', "/", 1)).ok()
}

/// The state of an item, as the archives write it.
pub(super) fn state(value: &str) -> Option<State> {
    match plain(value).to_ascii_lowercase().as_str() {
        "original" => Some(State::Original),
        "copy" => Some(State::Copy),
        _ => None,
    }
}
