//! The spatial distributor: the choice of a subsystem for an item [generation, 7].
//!
//! A subsystem may say in `urepo.toml` which items it `takes`; the other subsystems serve the items that none
//! takes. Of several that take an item, the first that need not wait issues the identifier, or each in its
//! turn (`spread = "turn"`). Every choice gives a unique identifier, because each subsystem has a prefix of
//! its own.

use serde::Deserialize;

use crate::sidecar::Metadata;

/// The choice among several subsystems that take an item.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Spread {
    /// The first that need not wait.
    #[default]
    First,
    /// One after the other.
    Turn,
}

/// The items that a subsystem takes: those that meet every condition.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(try_from = "toml::Table")]
pub struct Takes {
    /// Terms of the description, and the values of which an item has at least one. A `*` at the end stands for any
    /// text; case makes no difference.
    terms: Vec<(String, Vec<String>)>,
    min_bytes: Option<u64>,
    max_bytes: Option<u64>,
}

impl Takes {
    /// Whether an item with this description and size of payload is one of them.
    fn has(&self, metadata: &Metadata, bytes: u64) -> bool {
        let is_met = |(term, wanted): &(String, Vec<String>)| {
            let values = metadata.values(term).unwrap_or_default();
            values.iter().any(|value| wanted.iter().any(|wanted| matches(wanted, value)))
        };
        self.min_bytes.is_none_or(|least| bytes >= least)
            && self.max_bytes.is_none_or(|most| bytes <= most)
            && self.terms.iter().all(is_met)
    }
}

fn matches(wanted: &str, value: &str) -> bool {
    let (wanted, value) = (wanted.to_lowercase(), value.to_lowercase());
    match wanted.strip_suffix('*') {
        Some(start) => value.starts_with(start),
        None => value == wanted,
    }
}

impl TryFrom<toml::Table> for Takes {
    type Error = String;

    fn try_from(table: toml::Table) -> Result<Takes, String> {
        let mut takes = Takes::default();
        for (key, value) in table {
            let bytes = || {
                let bytes = value.as_integer().and_then(|bytes| u64::try_from(bytes).ok());
                bytes.ok_or_else(|| format!("`takes.{key}` is not a number of bytes"))
            };
            match key.as_str() {
                "min_bytes" => takes.min_bytes = Some(bytes()?),
                "max_bytes" => takes.max_bytes = Some(bytes()?),
                _ => {
                    let known = Metadata::default().values(&key);
                    known.map_err(|error| format!("`takes`: {error}"))?;
                    let values = match &value {
                        toml::Value::Array(values) => values.as_slice(),
                        value => std::slice::from_ref(value),
                    };
                    let values = values.iter().map(|value| value.as_str().map(str::to_owned));
                    let values = values.collect::<Option<Vec<_>>>();
                    let values = values.filter(|values| !values.is_empty());
                    let error =
                        || format!("`takes.{key}` is neither a string nor a list of strings");
                    takes.terms.push((key.clone(), values.ok_or_else(error)?));
                }
            }
        }
        if takes == Takes::default() {
            return Err("`takes` has no condition".to_owned());
        }
        Ok(takes)
    }
}

/// The indices in `rules` of the subsystems for an item: those that take it, else those that take everything.
pub(super) fn choose(rules: &[Option<&Takes>], metadata: &Metadata, bytes: u64) -> Vec<usize> {
    let places = |is_meant: &dyn Fn(Option<&Takes>) -> bool| -> Vec<usize> {
        rules.iter().enumerate().filter(|(_, it)| is_meant(**it)).map(|(at, _)| at).collect()
    };
    let taking = places(&|takes| takes.is_some_and(|takes| takes.has(metadata, bytes)));
    if taking.is_empty() { places(&|takes| takes.is_none()) } else { taking }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_item_goes_to_those_that_take_it_else_to_those_that_take_everything() {
        let takes = |text| toml::from_str::<Takes>(text).unwrap();
        let maps = takes("type = ['Map*', 'Image']");
        let large = takes("min_bytes = 1000");
        let anas = takes("creator = 'Ana Silva'\nmax_bytes = 10");
        let all = [None, Some(&maps), Some(&large), Some(&anas), None];
        let chosen = |terms: &[(&str, &str)], bytes| {
            let mut metadata = Metadata::default();
            terms.iter().try_for_each(|(term, value)| metadata.add(term, value)).unwrap();
            choose(&all, &metadata, bytes)
        };
        assert_eq!(chosen(&[], 0), [0, 4]);
        assert_eq!(chosen(&[("type", "Text")], 999), [0, 4]);
        assert_eq!(chosen(&[("type", "map, coloured")], 1), [1]);
        assert_eq!(chosen(&[("type", "image")], 1000), [1, 2]);
        assert_eq!(chosen(&[("creator", "B. Costa"), ("creator", "ana silva")], 10), [3]);
        assert_eq!(chosen(&[("creator", "Ana Silva")], 11), [0, 4]);
    }

    #[test]
    fn a_condition_that_cannot_be_met_is_refused() {
        for (text, expected) in [
            ("", "no condition"),
            ("creater = 'x'", "`creater` is not a term"),
            ("creator = 1", "`takes.creator` is neither"),
            ("creator = []", "`takes.creator` is neither"),
            ("min_bytes = -1", "`takes.min_bytes` is not a number of bytes"),
            ("max_bytes = '1'", "`takes.max_bytes` is not a number of bytes"),
        ] {
            let error = toml::from_str::<Takes>(text).unwrap_err().to_string();
            assert!(error.contains(expected), "{text}: {error}");
        }
    }
}
