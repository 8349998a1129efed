//! References in the form of refer, `%T A title`, which the services of URLib keep for some items.

use super::reader::{Field, Library, Reference};

/// The names that BibTeX gives the fields.
const FIELDS: [(char, &str); 25] = [
    ('2', "metadatarepository"),
    ('3', "targetfile"),
    ('4', "repository"),
    ('7', "edition"),
    ('8', "date"),
    ('9', "degree"),
    ('?', "translator"),
    ('A', "author"),
    ('B', "booktitle"),
    ('C', "address"),
    ('D', "year"),
    ('E', "editor"),
    ('I', "publisher"),
    ('J', "journal"),
    ('K', "keywords"),
    ('N', "number"),
    ('P', "pages"),
    ('R', "doi"),
    ('S', "series"),
    ('T', "title"),
    ('U', "url"),
    ('V', "volume"),
    ('X', "abstract"),
    ('Y', "advisor"),
    ('Z', "note"),
];

/// The references of a file of which each record begins with `%0`, or after an empty line; `None` if it has another form.
pub(super) fn read(text: &str) -> Option<Library> {
    text.lines().find(|line| !line.trim().is_empty()).and_then(field_of)?;
    let mut library = Library::default();
    let mut reference = Reference::default();
    for line in text.lines().chain([""]) {
        let found = field_of(line);
        if line.trim().is_empty() || matches!(found, Some(("0", _))) {
            let last = std::mem::take(&mut reference);
            library.references.extend(Some(last).filter(|last| !last.fields.is_empty()));
        }
        match (found, reference.fields.last_mut()) {
            (Some(("0", kind)), _) => reference.kind = kind.to_owned(),
            (Some(("F", key)), _) => reference.key = key.to_owned(),
            (Some((tag, value)), _) => add(&mut reference, tag, value, line),
            // A long field goes on in the next line.
            (None, Some(Field { value: Some(value), raw, .. })) if !line.trim().is_empty() => {
                value.push(' ');
                value.push_str(line.trim());
                raw.push('\n');
                raw.push_str(line);
            }
            (None, _) => {}
        }
    }
    Some(library)
}

/// The tag of a line, a character or a name after `@`, and its value.
fn field_of(line: &str) -> Option<(&str, &str)> {
    let (tag, value) = line.strip_prefix('%')?.split_once(char::is_whitespace)?;
    let is_name = |name: &str| name.bytes().all(|it| it.is_ascii_alphanumeric());
    let tag = match tag.strip_prefix('@') {
        Some(name) if !name.is_empty() && is_name(name) => name,
        None if tag.len() == 1 && (is_name(tag) || tag == "?") => tag,
        _ => return None,
    };
    Some((tag, value.trim()))
}

fn add(reference: &mut Reference, tag: &str, value: &str, line: &str) {
    let of_letter = |letter: char| FIELDS.iter().find(|(it, _)| *it == letter);
    let name = match tag.chars().next().filter(|_| tag.len() == 1) {
        Some(letter) => of_letter(letter).map_or(format!("refer{letter}"), |it| it.1.to_owned()),
        None => tag.to_ascii_lowercase(),
    };
    let between = match &*name {
        "author" | "editor" | "translator" | "advisor" => " and ",
        "keywords" => ", ",
        _ => "; ",
    };
    let is_it = |field: &&mut Field| field.name == name;
    if let Some(Field { value: Some(before), raw, .. }) = reference.fields.iter_mut().find(is_it) {
        for (text, between, more) in [(before, between, value), (raw, "\n", line)] {
            text.push_str(between);
            text.push_str(more);
        }
        return;
    }
    let (value, raw) = (Some(value.to_owned()), line.to_owned());
    reference.fields.push(Field { name, value, raw });
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fields(text: &str) -> Vec<(String, String)> {
        let library = read(text).unwrap();
        let [reference] = &library.references[..] else { panic!("{library:?}") };
        let field = |it: &Field| (it.name.clone(), it.value.clone().unwrap());
        reference.fields.iter().map(field).collect()
    }

    #[test]
    fn fields_have_the_names_of_bibtex() {
        let text = "%0 Journal Article\n%A Banon, Gerald\n%A Ribeiro, Marcos\n%T One\n  two\n%D 2009\n%@language pt\n%M x\n";
        let expected = [
            ("author", "Banon, Gerald and Ribeiro, Marcos"),
            ("title", "One two"),
            ("year", "2009"),
            ("language", "pt"),
            ("referM", "x"),
        ];
        assert_eq!(fields(text), expected.map(|(name, value)| (name.into(), value.into())));
        assert_eq!(read(text).unwrap().references[0].kind, "Journal Article");
    }

    #[test]
    fn records_are_told_apart() {
        for text in ["%T A\n\n%T B", "%0 Book\n%T A\n%0 Book\n%T B\n"] {
            assert_eq!(read(text).unwrap().references.len(), 2, "{text}");
        }
        for text in
            ["", "% a comment of BibTeX", "@misc{k, title = {A}}", "%Author list", "text\n%T A"]
        {
            assert!(read(text).is_none(), "{text}");
        }
    }
}
