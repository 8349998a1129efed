//! Options with a fixed set of values, each for a value of the library.

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};

/// A value of an option: its name, its help, and its value in the library. Further names, after `|`, are not
/// listed.
pub(crate) type Choice<T> = (&'static str, &'static str, T);

/// The parser of an option that takes one of `choices`.
pub(crate) fn one_of<T: Clone + Send + Sync + 'static>(
    choices: &'static [Choice<T>],
) -> impl TypedValueParser<Value = T> {
    let possible = choices.iter().map(|(names, help, _)| {
        let mut names = names.split('|');
        PossibleValue::new(names.next().unwrap_or_default()).aliases(names).help(*help)
    });
    PossibleValuesParser::new(possible).try_map(|typed| {
        let is_meant = |(names, ..): &&Choice<T>| names.split('|').any(|name| name == typed);
        choices.iter().find(is_meant).map(|(.., value)| value.clone()).ok_or("no such value")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_name_stands_for_its_value() {
        const CHOICES: [Choice<u8>; 2] = [("one|first", "The first", 1), ("two", "The second", 2)];
        let parse = |text: &str| {
            let argument = clap::Arg::new("of").value_parser(one_of(&CHOICES));
            let matches =
                clap::Command::new("take").arg(argument).try_get_matches_from(["take", text]);
            matches.map(|matches| matches.get_one::<u8>("of").copied()).map_err(|it| it.kind())
        };
        for (text, value) in [("one", 1), ("first", 1), ("two", 2)] {
            assert_eq!(parse(text), Ok(Some(value)), "{text}");
        }
        for text in ["", "on", "one|first"] {
            assert_eq!(parse(text), Err(clap::error::ErrorKind::InvalidValue), "{text}");
        }
    }
}
