//! Tags of languages in a description.

use super::MetadataError;
use crate::identity::Language;

/// A language tag as the standard writes it: `pt-BR` for `PT_br`. A longer tag stays as it is.
pub(super) fn language(text: &str) -> Result<String, MetadataError> {
    match Language::normalised(text) {
        Ok(language) => Ok(language.as_str().to_owned()),
        Err(_) if is_language(text) => Ok(text.to_owned()),
        Err(_) => Err(MetadataError::Language(text.to_owned())),
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
