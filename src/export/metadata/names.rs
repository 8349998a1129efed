//! Names of people and institutions, and their parts.
//!
//! `Family, Given` is a person, and so is `Platão,`. A name without a comma, or in braces, is the name of an institution. An
//! ORCID or ROR in angle brackets at its end identifies the bearer, and is no part of the name.

use super::terms::one_line;

/// A name in a description.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Name {
    /// The name as typed, without braces and identifier.
    pub plain: String,
    pub bearer: Bearer,
    pub identifier: Option<NameIdentifier>,
}

/// The bearer of a name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Bearer {
    Person(Person),
    Institution,
}

/// The parts of the name of a person.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Person {
    pub family: String,
    /// The given name with its particles: `Machado de`.
    pub given: String,
    /// `Jr.`, `III`.
    pub suffix: String,
}

/// The identifier of a person or an institution.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct NameIdentifier {
    pub url: String,
    pub scheme: &'static str,
    /// The site of the scheme.
    pub scheme_url: &'static str,
}

/// Schemes of identifiers: the beginning of the URL, the name and the site.
const SCHEMES: [(&str, &str, &str); 2] =
    [("orcid.org/", "ORCID", "https://orcid.org"), ("ror.org/", "ROR", "https://ror.org")];

/// Suffixes without their period. Júnior, Filho, Neto and Sobrinho are parts of a family name instead.
const SUFFIXES: [&str; 5] = ["Jr", "Sr", "II", "III", "IV"];
const FAMILY_WORDS: [&str; 5] = ["Júnior", "Junior", "Filho", "Neto", "Sobrinho"];

/// Abbreviations before which a component of an institution does not end.
const ABBREVIATIONS: [&str; 11] =
    ["st", "dr", "sr", "inc", "ltd", "ltda", "co", "corp", "univ", "inst", "prof"];

impl Name {
    pub(super) fn read(text: &str) -> Name {
        let text = one_line(text);
        let (name, identifier) = identified(&text);
        let braced = name.strip_prefix('{').and_then(|it| it.strip_suffix('}'));
        if let Some(inner) = braced.filter(|inner| !inner.contains(['{', '}'])) {
            let plain = inner.trim().to_owned();
            return Name { plain, bearer: Bearer::Institution, identifier };
        }
        let bearer = match name.split_once(',') {
            Some((family, rest)) if !family.trim().is_empty() => {
                Bearer::Person(Person::read(family.trim(), rest))
            }
            _ => Bearer::Institution,
        };
        Name { plain: name.to_owned(), bearer, identifier }
    }

    /// The name in the order in which it is spoken: `Alva da Rocha`.
    pub(super) fn direct(&self) -> String {
        match &self.bearer {
            Bearer::Person(person) => joined(" ", [&person.given, &person.family, &person.suffix]),
            Bearer::Institution => self.plain.clone(),
        }
    }

    /// The components of an institution, from the highest one: `Brasil`, `Ministério da Agricultura`.
    pub(super) fn components(&self) -> Vec<&str> {
        let mut components = Vec::new();
        let mut rest = self.plain.as_str();
        let mut from = 0;
        while let Some(at) = rest[from..].find(". ").map(|found| from + found) {
            let (before, after) = (&rest[..at], rest[at + 1..].trim_start());
            let word = before.rsplit([' ', '.']).next().unwrap_or_default();
            let is_abbreviation = word.chars().count() < 2
                || ABBREVIATIONS.iter().any(|it| it.eq_ignore_ascii_case(word));
            if !is_abbreviation && after.starts_with(char::is_uppercase) {
                components.push(before);
                (rest, from) = (after, 0);
            } else {
                from = at + 1;
            }
        }
        components.push(rest);
        components
    }
}

impl Person {
    /// The person named `family`, and `rest` after the comma: `Given`, `Jr., Given` or `Given, Jr.`.
    fn read(family: &str, rest: &str) -> Person {
        let mut person = Person { family: family.to_owned(), ..Person::default() };
        let parts: Vec<_> = rest.split(',').map(str::trim).collect();
        let is_family = |part: &str| FAMILY_WORDS.iter().any(|it| it.eq_ignore_ascii_case(part));
        let (apart, given) = match parts.as_slice() {
            [only] if is_suffix(only) => (Some(*only), &[][..]),
            [first, given @ ..] if !given.is_empty() && (is_suffix(first) || is_family(first)) => {
                (Some(*first), given)
            }
            [given @ .., last] if !given.is_empty() && (is_suffix(last) || is_family(last)) => {
                (Some(*last), given)
            }
            given => (None, given),
        };
        person.given = given.join(", ");
        match (apart, family.rsplit_once(' ')) {
            (Some(word), _) if is_family(word) => person.family = format!("{family} {word}"),
            (Some(word), _) => word.clone_into(&mut person.suffix),
            (None, Some((before, last))) if is_suffix(last) => {
                before.trim_end().clone_into(&mut person.family);
                last.clone_into(&mut person.suffix);
            }
            _ => {}
        }
        person
    }

    /// The family name with its suffix: `King Jr.`.
    pub(super) fn surname(&self) -> String {
        joined(" ", [&self.family, &self.suffix])
    }

    /// The given name, and the particles at its end: `Machado` and `de`.
    pub(super) fn given_parts(&self) -> (String, String) {
        let words: Vec<_> = self.given.split(' ').collect();
        let start = words.iter().rposition(|word| !is_particle(word)).map_or(0, |at| at + 1);
        (words[..start].join(" "), words[start..].join(" "))
    }

    /// The particles before the family name, and the family name.
    pub(super) fn family_parts(&self) -> (String, String) {
        let words: Vec<_> = self.family.split(' ').collect();
        let name = words.iter().position(|word| !is_particle(word));
        let name = name.unwrap_or(words.len().saturating_sub(1));
        (words[..name].join(" "), words[name..].join(" "))
    }

    /// The initials of the given name: `J.-P.`, `M. A. de`. A word in a script without case stays whole.
    pub(super) fn initials(&self) -> String {
        let words = self.given.split([' ', ',']).filter(|word| !word.is_empty());
        words.map(initials).collect::<Vec<_>>().join(" ")
    }
}

fn initials(word: &str) -> String {
    if is_particle(word) {
        return word.to_owned();
    }
    // `C.D.` has two initials. The second part of `Kyung-soo` is a part of the same name.
    let of_part = |part: &str| {
        let first = part.chars().find(|it| it.is_alphanumeric())?;
        match (first.is_uppercase(), first.is_lowercase()) {
            (true, _) => Some(format!("{first}.")),
            (_, true) => None,
            _ => Some(part.to_owned()),
        }
    };
    let of_piece = |piece: &str| {
        let parts: Vec<_> = piece.split(['-', '‐']).filter_map(of_part).collect();
        (!parts.is_empty()).then(|| parts.join("-"))
    };
    // Hyphens of `J.-P.` begin a piece.
    let pieces = word.replace(".-", "-");
    let pieces: Vec<_> = pieces.split('.').filter_map(of_piece).collect();
    if pieces.is_empty() { word.to_owned() } else { pieces.join(" ") }
}

/// Whether a word of a name is a particle, such as `de` and `von`: all of its letters are small.
fn is_particle(word: &str) -> bool {
    word.contains(char::is_lowercase) && !word.contains(char::is_uppercase)
}

fn is_suffix(word: &str) -> bool {
    let bare = word.strip_suffix('.').unwrap_or(word);
    SUFFIXES.iter().any(|suffix| match *suffix {
        "Jr" | "Sr" => suffix.eq_ignore_ascii_case(bare),
        numeral => numeral == bare,
    })
}

/// Those of `parts` that are not empty.
pub(super) fn joined<'a>(between: &str, parts: impl IntoIterator<Item = &'a String>) -> String {
    let parts = parts.into_iter().map(String::as_str).filter(|part| !part.is_empty());
    parts.collect::<Vec<_>>().join(between)
}

/// A name, and the identifier behind it.
fn identified(text: &str) -> (&str, Option<NameIdentifier>) {
    let found = text.strip_suffix('>').and_then(|text| text.rsplit_once('<'));
    let Some((name, url)) = found else { return (text, None) };
    let bare = url.strip_prefix("https://").or_else(|| url.strip_prefix("http://"));
    let bare = bare.map(|it| it.strip_prefix("www.").unwrap_or(it));
    let scheme = bare.and_then(|bare| SCHEMES.iter().find(|(start, ..)| bare.starts_with(start)));
    let Some((_, scheme, scheme_url)) = scheme.filter(|_| !name.trim().is_empty()) else {
        return (text, None);
    };
    (name.trim_end(), Some(NameIdentifier { url: url.to_owned(), scheme, scheme_url }))
}

/// The names in a list of people.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct People {
    pub names: Vec<Name>,
    /// Whether the list ends with `et al.`: there are more people, whom it does not name.
    pub has_others: bool,
}

/// Words at the end of a list that stand for people it does not name.
const OTHERS: [&str; 10] = [
    "et al.",
    "et al",
    "et alii",
    "and others",
    "e outros",
    "e outras",
    "y otros",
    "et autres",
    "und andere",
    "u. a.",
];

impl People {
    /// The people in `values`, the last of which may be `et al.`, or end with it.
    pub(super) fn of(mut values: Vec<String>) -> People {
        let rest = values.last().and_then(|last| without_others(last)).map(str::to_owned);
        let has_others = rest.is_some();
        if let Some(rest) = rest {
            values.pop();
            values.extend((!rest.is_empty()).then_some(rest));
        }
        People { names: values.iter().map(|text| Name::read(text)).collect(), has_others }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.names.is_empty()
    }
}

/// The name before `et al.` at the end of `name`; `None` without such an end.
fn without_others(name: &str) -> Option<&str> {
    let name = name.trim();
    let bare = name.trim_matches(['[', ']', '(', ')']);
    if bare.eq_ignore_ascii_case("others") || bare.eq_ignore_ascii_case("outros") {
        return Some("");
    }
    OTHERS.iter().find_map(|others| {
        let start = bare.len().checked_sub(others.len())?;
        let (before, end) = (bare.get(..start)?, bare.get(start..)?);
        let ends = |c: char| c.is_whitespace() || [',', ';', '[', '('].contains(&c);
        let is_word = before.is_empty() || before.ends_with(ends);
        (end.eq_ignore_ascii_case(others) && is_word).then(|| before.trim_end_matches(ends))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn person(text: &str) -> [String; 3] {
        match Name::read(text).bearer {
            Bearer::Person(Person { family, given, suffix }) => [family, given, suffix],
            Bearer::Institution => panic!("{text} is an institution"),
        }
    }

    #[test]
    fn people_have_family_given_name_and_suffix() {
        for (text, family, given, suffix) in [
            ("Assis, Machado de", "Assis", "Machado de", ""),
            ("Platão,", "Platão", "", ""),
            ("King, Jr., Martin Lewis", "King", "Martin Lewis", "Jr."),
            ("King, Martin Lewis, Jr.", "King", "Martin Lewis", "Jr."),
            ("King Jr., Martin Lewis", "King", "Martin Lewis", "Jr."),
            ("Ford, Henry, II", "Ford", "Henry", "II"),
            ("Pedro, II", "Pedro", "", "II"),
            ("Silva Filho, João", "Silva Filho", "João", ""),
            ("Silva, Filho, João", "Silva Filho", "João", ""),
            ("Silva, João, Neto", "Silva Neto", "João", ""),
            ("Silva, João, poeta", "Silva", "João, poeta", ""),
            ("Silva,\n João <https://orcid.org/0000-0002-1825-0097>", "Silva", "João", ""),
        ] {
            assert_eq!(person(text), [family, given, suffix].map(str::to_owned), "{text}");
        }
    }

    #[test]
    fn institutions_have_no_comma_or_stand_in_braces() {
        for (text, plain) in [
            ("INPE", "INPE"),
            ("{Laboratório de Fitas, Universidade}", "Laboratório de Fitas, Universidade"),
            ("Instituto <https://ror.org/05dxps055>", "Instituto"),
            ("Instituto <https://example.org/>", "Instituto <https://example.org/>"),
            ("<https://ror.org/05dxps055>", "<https://ror.org/05dxps055>"),
            (", Ana", ", Ana"),
            ("", ""),
        ] {
            let name = Name::read(text);
            assert_eq!((name.bearer, name.plain.as_str()), (Bearer::Institution, plain), "{text}");
        }
        let identifier = Name::read("A <http://www.ror.org/05dxps055>").identifier.unwrap();
        assert_eq!((identifier.scheme, identifier.scheme_url), ("ROR", "https://ror.org"));
    }

    #[test]
    fn initials_keep_hyphens_particles_and_scripts_without_case() {
        for (text, initials) in [
            ("Souza, Marcos Antônio de", "M. A. de"),
            ("Beaumont, Jean-Paul de la", "J.-P. de la"),
            ("Sartre, J.-P.", "J.-P."),
            ("Reis, C. D.", "C. D."),
            ("Reis, C.D.", "C. D."),
            ("Kim, Kyung-soo", "K."),
            ("王, 小明", "小明"),
            ("hooks, bell", "bell"),
            ("Costa, Maria do Carmo", "M. do C."),
            ("Platão,", ""),
        ] {
            let Bearer::Person(person) = Name::read(text).bearer else { panic!("{text}") };
            assert_eq!(person.initials(), initials, "{text}");
        }
    }

    #[test]
    fn particles_are_told_from_names() {
        let parts = |text| {
            let Bearer::Person(person) = Name::read(text).bearer else { panic!("{text}") };
            let ((given, dropping), (before, family)) =
                (person.given_parts(), person.family_parts());
            [given, dropping, before, family]
        };
        assert_eq!(parts("Assis, Machado de"), ["Machado", "de", "", "Assis"]);
        assert_eq!(parts("de la Cruz, Maria do Carmo"), ["Maria do Carmo", "", "de la", "Cruz"]);
        assert_eq!(parts("Van Dyck, Piet"), ["Piet", "", "", "Van Dyck"]);
        assert_eq!(parts("hooks, bell"), ["", "bell", "", "hooks"]);
    }

    #[test]
    fn institutions_have_components() {
        for (text, components) in [
            ("Brasil. Ministério da Agricultura", vec!["Brasil", "Ministério da Agricultura"]),
            ("A. Silva", vec!["A. Silva"]),
            ("Univ. São Paulo. Inst. Química", vec!["Univ. São Paulo", "Inst. Química"]),
            ("J. R. St. Clair Inc. Books", vec!["J. R. St. Clair Inc. Books"]),
            ("Brasil. ministério", vec!["Brasil. ministério"]),
            ("Ê. É. ", vec!["Ê. É."]),
        ] {
            assert_eq!(Name::read(text).components(), components, "{text}");
        }
    }

    #[test]
    fn et_al_is_a_mark_and_not_a_person() {
        for (last, rest, has_others) in [
            ("et al.", "", true),
            ("others", "", true),
            ("AND OTHERS", "", true),
            ("e outros", "", true),
            ("[et al.]", "", true),
            ("Costa, Rui et al.", "Costa, Rui", true),
            ("Costa, Rui, et al", "Costa, Rui", true),
            ("Costa, Rui [et al.]", "Costa, Rui", true),
            ("Łoś, Jan u. a.", "Łoś, Jan", true),
            ("Costa, Rui", "Costa, Rui", false),
            ("Significant Others", "Significant Others", false),
            ("Duet al.", "Duet al.", false),
            ("他", "他", false),
        ] {
            let found = People::of(vec!["Silva, Ana".to_owned(), last.to_owned()]);
            let mut names = vec!["Silva, Ana".to_owned()];
            names.extend((!rest.is_empty()).then(|| rest.to_owned()));
            let plain: Vec<_> = found.names.into_iter().map(|name| name.plain).collect();
            assert_eq!((plain, found.has_others), (names, has_others), "{last}");
        }
        assert_eq!(People::of(Vec::new()), People::default());
    }
}
