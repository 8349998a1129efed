//! Tags of languages in a description.

use crate::identity::Language;

/// A language tag in the form of the standard: `pt-BR` for `PT_br`. A longer tag stays unchanged; `None` for
/// other texts.
pub(super) fn language(text: &str) -> Option<String> {
    match Language::normalised(text) {
        Ok(language) => Some(language.as_str().to_owned()),
        Err(_) => is_language(text).then(|| text.to_owned()),
    }
}

/// Whether `text` has the form of a language tag: `en`, `pt-BR`, `zh-Hant-TW`.
fn is_language(text: &str) -> bool {
    let mut parts = text.split('-');
    let first = parts.next().unwrap_or_default();
    (2..=3).contains(&first.len())
        && first.bytes().all(|byte| byte.is_ascii_alphabetic())
        && parts.all(|part| {
            (1..=8).contains(&part.len()) && part.bytes().all(|byte| byte.is_ascii_alphanumeric())
        })
}
