//! Templates: text in which `{key}` stands for a value. There are no conditions and no loops: `--json` and
//! other programs have those.

use serde_json::Value;
use urepo::identity::Instant;

use super::grid::Cell;
use super::keys::{Keys, Record};
use crate::cli::failure::Failure;
use crate::cli::{escape, human};

/// A key, and the form in which its value is written: `bytes`, `bytes:size`.
#[derive(Debug)]
pub(super) struct Field {
    key: String,
    form: Option<Form>,
}

/// The form of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Form {
    /// Bytes in units for people.
    Size,
    /// The day of a time.
    Date,
    /// In JSON.
    Json,
}

const FORMS: [(&str, Form); 3] = [("size", Form::Size), ("date", Form::Date), ("json", Form::Json)];

/// Why a field is not understood.
#[derive(Debug)]
pub(super) struct Wrong {
    message: String,
    hint: String,
}

impl Wrong {
    /// In an option that lists keys.
    pub(super) fn in_list(self, option: &str) -> Failure {
        Failure::usage(format!("{} in `{option}`", self.message)).hint(self.hint)
    }

    /// In a template, at a column counted from 1.
    fn at(self, column: usize) -> Failure {
        Failure::usage(format!("{} at column {column} of the template", self.message))
            .hint(self.hint)
    }
}

impl Field {
    pub(super) fn parse(text: &str, keys: &'static Keys) -> Result<Field, Wrong> {
        let text = text.trim();
        let (name, form) = match text.rsplit_once(':') {
            Some((name, form)) => (name.trim(), Some(form.trim())),
            None => (text, None),
        };
        let form = form
            .map(|typed| {
                let known = FORMS.iter().find(|(name, _)| *name == typed);
                known.map(|(_, form)| *form).ok_or_else(|| Wrong {
                    message: format!("no form `{typed}`"),
                    hint: "the forms are `size`, `date` and `json`, as in `{bytes:size}`"
                        .to_owned(),
                })
            })
            .transpose()?;
        let key = keys.read(name).map_err(|near| Wrong {
            message: format!("{} has no key `{name}`", keys.what),
            hint: near.map_or_else(|| keys.listed(), |near| format!("did you mean `{near}`?")),
        })?;
        Ok(Field { key, form })
    }

    pub(super) fn key(&self) -> &str {
        &self.key
    }

    pub(super) fn heading(&self) -> String {
        match self.key.as_str() {
            "id" => "IDENTIFIER".to_owned(),
            "bytes" => "SIZE".to_owned(),
            key => key.rsplit('.').next().unwrap_or(key).to_uppercase(),
        }
    }

    /// Its text in a row. Bytes are in units on a terminal.
    pub(super) fn cell(&self, record: &dyn Record, is_drawn: bool) -> Cell {
        let value = record.value(&self.key);
        let is_bytes = matches!(self.key.as_str(), "bytes" | "freed");
        let form = self.form.or((is_drawn && is_bytes).then_some(Form::Size));
        let is_number = value.is_number();
        let text = formed(value, form);
        match self.key.as_str() {
            _ if is_number => Cell::number(text),
            "id" => Cell::identifier(&text),
            "ibip" | "path" | "date" | "event" | "created" | "timestamp" | "state" | "standing" => {
                Cell::whole(&text)
            }
            _ => Cell::text(&text),
        }
    }

    fn text(&self, record: &dyn Record) -> String {
        formed(record.value(&self.key), self.form)
    }
}

fn formed(value: Value, form: Option<Form>) -> String {
    match form {
        Some(Form::Json) => value.to_string(),
        Some(Form::Size) => value.as_u64().map_or_else(|| value_text(&value), human::bytes),
        Some(Form::Date) => {
            let text = value_text(&value);
            let is_time = text.parse::<Instant>().is_ok();
            text.split_once('T').filter(|_| is_time).map_or(text.clone(), |(day, _)| day.to_owned())
        }
        None => match value {
            Value::String(text) => text,
            value => value_text(&value),
        },
    }
}

/// A value as plain text: several are separated by `; `, and tables are in JSON.
pub(super) fn value_text(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::String(text) => text.clone(),
        Value::Array(values) => values.iter().map(value_text).collect::<Vec<_>>().join("; "),
        Value::Object(_) | Value::Bool(_) | Value::Number(_) => value.to_string(),
    }
}

/// Text and fields.
#[derive(Debug)]
pub(super) struct Template(Vec<Segment>);

#[derive(Debug)]
enum Segment {
    Text(String),
    Field(Field),
}

impl Template {
    pub(super) fn parse(text: &str, keys: &'static Keys) -> Result<Template, Failure> {
        let wrong = |message: &str, hint: &str| Wrong {
            message: message.to_owned(),
            hint: hint.to_owned(),
        };
        let (mut parts, mut plain) = (Vec::new(), String::new());
        let characters: Vec<char> = text.chars().collect();
        let mut at = 0;
        while let Some(character) = characters.get(at) {
            let next = characters.get(at + 1);
            match (character, next) {
                ('{', Some('{')) | ('}', Some('}')) => {
                    plain.push(*character);
                    at += 2;
                }
                ('{', _) => {
                    let Some(length) = characters[at..].iter().position(|it| *it == '}') else {
                        return Err(
                            wrong("`{` is not closed", "`{{` stands for a brace").at(at + 1)
                        );
                    };
                    let name: String = characters[at + 1..at + length].iter().collect();
                    let field = Field::parse(&name, keys).map_err(|wrong| wrong.at(at + 2))?;
                    parts.push(Segment::Text(std::mem::take(&mut plain)));
                    parts.push(Segment::Field(field));
                    at += length + 1;
                }
                ('}', _) => {
                    return Err(wrong("`}` closes nothing", "`}}` stands for a brace").at(at + 1));
                }
                ('\\', Some(escaped)) => {
                    plain.push(match escaped {
                        't' => '\t',
                        'n' => '\n',
                        '0' => '\0',
                        '\\' => '\\',
                        _ => {
                            let message = format!("`\\{escaped}` stands for nothing");
                            let hint = "`\\t`, `\\n`, `\\0` and `\\\\` are known";
                            return Err(wrong(&message, hint).at(at + 1));
                        }
                    });
                    at += 2;
                }
                _ => {
                    plain.push(*character);
                    at += 1;
                }
            }
        }
        parts.push(Segment::Text(plain));
        Ok(Template(parts))
    }

    pub(super) fn fields(&self) -> impl Iterator<Item = &Field> {
        self.0.iter().filter_map(|part| match part {
            Segment::Field(field) => Some(field),
            Segment::Text(_) => None,
        })
    }

    /// The line of a record. Untrusted values are escaped on one line; the text of the template is unchanged.
    pub(super) fn line(&self, record: &dyn Record) -> String {
        let texts = self.0.iter().map(|part| match part {
            Segment::Text(text) => text.clone(),
            Segment::Field(field) => escape::one_line(&field.text(record)),
        });
        texts.collect()
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::keys::ITEMS;
    use super::*;

    fn line(template: &str) -> String {
        let record = json!({
            "id": "example.org/a/2026/11.21.02.13",
            "bytes": 1_500_000,
            "created": "2026-11-21T02:13:00Z",
            "metadata": {"title": "Annual\n\u{1b}[2Jreport", "creator": ["Silva, Ana", "Lopes, Rui"], "x": {"shelf": "A3"}},
        });
        Template::parse(template, &ITEMS).unwrap().line(&record)
    }

    #[test]
    fn values_stand_for_their_keys() {
        for (template, expected) in [
            ("", ""),
            ("{id}", "example.org/a/2026/11.21.02.13"),
            (r"{identifier}\t{bytes}", "example.org/a/2026/11.21.02.13\t1500000"),
            ("{bytes:size} {created:date}", "1.4 MiB 2026-11-21"),
            ("{ creator }", "Silva, Ana; Lopes, Rui"),
            ("{creator:json}", r#"["Silva, Ana","Lopes, Rui"]"#),
            ("{x.shelf}|{metadata.x.shelf}|{x.none}|{subject}", "A3|A3||"),
            ("{{{id}}} \\\\ \\0", "{example.org/a/2026/11.21.02.13} \\ \0"),
            ("{metadata.x}", r#"{"shelf":"A3"}"#),
            // A title moves neither line nor cursor.
            ("{title}", r"Annual\n\u{1b}[2Jreport"),
        ] {
            assert_eq!(line(template), expected, "{template}");
        }
    }

    #[test]
    fn what_is_not_understood_is_pointed_at() {
        for (template, message, hint) in [
            (
                "{id} {titel}",
                "an item has no key `titel` at column 7 of the template",
                "did you mean `title`?",
            ),
            ("é {id", "`{` is not closed at column 3 of the template", "`{{` stands for a brace"),
            ("}", "`}` closes nothing at column 1 of the template", "`}}` stands for a brace"),
            (
                "{}",
                "an item has no key `` at column 2 of the template",
                "the keys are those of `--json`",
            ),
            ("{bytes:big}", "no form `big` at column 2 of the template", "the forms are `size`"),
            (r"a\x", r"`\x` stands for nothing at column 2 of the template", "`\\t`"),
        ] {
            let failure = Template::parse(template, &ITEMS).unwrap_err();
            assert_eq!(failure.message, message, "{template}");
            assert!(failure.hint.unwrap().starts_with(hint), "{template}");
        }
    }

    proptest::proptest! {
        #[test]
        fn any_text_is_a_template_or_an_error(text in r"[{}\\:a-z.é ]{0,24}") {
            let _ = Template::parse(&text, &ITEMS);
        }
    }
}
