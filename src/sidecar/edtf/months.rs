//! Names of months in Portuguese, English, German, Spanish and French.

/// All names of each month, in lower case. An abbreviation of three letters or more names a month if no other
/// month begins with it.
const MONTHS: [&[&str]; 12] = [
    &["janeiro", "january", "januar", "enero", "janvier"],
    &["fevereiro", "february", "februar", "febrero", "février", "fevrier"],
    &["março", "marco", "march", "märz", "maerz", "marzo", "mars"],
    &["abril", "april", "avril"],
    &["maio", "may", "mai", "mayo"],
    &["junho", "june", "juni", "junio", "juin"],
    &["julho", "july", "juli", "julio", "juillet"],
    &["agosto", "august", "août", "aout"],
    &["setembro", "september", "septiembre", "septembre"],
    &["outubro", "october", "oktober", "octubre", "octobre"],
    &["novembro", "november", "noviembre", "novembre"],
    &["dezembro", "december", "dezember", "diciembre", "décembre", "decembre"],
];

/// The number of the month that `word` names, in full or abbreviated.
pub(super) fn month_number(word: &str) -> Option<u32> {
    let word = word.to_lowercase();
    let is_exact = |names: &&[&str]| names.contains(&word.as_str());
    let begins = |names: &&[&str]| {
        word.chars().count() >= 3 && names.iter().any(|name| name.starts_with(&word))
    };
    let mut exact = (1..).zip(&MONTHS).filter(|(_, names)| is_exact(names));
    if let Some((number, _)) = exact.next() {
        return Some(number);
    }
    let mut found = (1..).zip(&MONTHS).filter(|(_, names)| begins(names));
    match (found.next(), found.next()) {
        (Some((number, _)), None) => Some(number),
        _ => None,
    }
}
