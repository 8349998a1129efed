//! The languages that a reader prefers, by the locale of the environment.

use urepo::identity::LanguagePreferences;

/// The locale of messages, or the list in `LANGUAGE` that goes before it.
pub(super) fn preferences() -> LanguagePreferences {
    let variable = |name| std::env::var(name).ok().filter(|value| !value.is_empty());
    let locale = ["LC_ALL", "LC_MESSAGES", "LANG"].into_iter().find_map(variable);
    let Some(locale) = locale else { return LanguagePreferences::default() };
    let preferences = LanguagePreferences::from_locale(&locale);
    // As gettext has it: `LANGUAGE` is without effect in the locale `C`.
    match variable("LANGUAGE") {
        Some(list) if preferences != LanguagePreferences::default() => {
            LanguagePreferences::from_locale(&list)
        }
        _ => preferences,
    }
}
