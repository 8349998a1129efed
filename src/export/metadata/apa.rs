//! References by the 7th edition of APA.

use super::citation::{Sentences, edition};
use super::kind::Kind;
use super::names::{Bearer, Name, People};
use super::work::Work;

/// From this number of authors on, the last one follows the first nineteen.
const TOO_MANY: usize = 21;
const NAMED: usize = 19;

/// Roles in the parentheses behind the title: one person, and several.
const ROLES: [(&str, &str, &str); 3] = [
    ("editor", "Ed.", "Eds."),
    ("translator", "Trans.", "Trans."),
    ("illustrator", "Illus.", "Illus."),
];

/// The reference of a work, as a line.
pub(super) fn render(work: &Work<'_>) -> String {
    let mut text = Sentences::default();
    let (creators, editors) = (work.people("creator"), editors(work));
    let parents = parents(work, &creators);
    let author = |name: &Name| match (&name.bearer, parents.is_empty()) {
        (Bearer::Institution, false) => {
            name.components().last().copied().unwrap_or_default().to_owned()
        }
        _ => inverted(name),
    };
    let date = if work.kind.has_full_date()
        || work.kind == Kind::Article && work.text("volume").is_none()
    {
        work.date.apa_full()
    } else {
        work.date.apa()
    };
    let date = format!("({date})");
    let title = title(work, !creators.is_empty());
    if creators.is_empty() && editors.is_empty() {
        text.push(&title);
        text.push(&date);
    } else {
        if creators.is_empty() {
            let word = if editors.names.len() > 1 || editors.has_others { "Eds." } else { "Ed." };
            text.push(&format!("{} ({word})", listed(&editors, author)));
        } else {
            text.push(&listed(&creators, author));
        }
        text.push(&date);
        text.push(&title);
    }
    text.push(&source(work, &parents));
    text.push_bare(&match &work.doi {
        Some(doi) => format!("https://doi.org/{doi}"),
        None => work.url.clone(),
    });
    text.line()
}

/// The editors of the work itself; those of a part are editors of the book.
fn editors(work: &Work<'_>) -> People {
    if work.kind.is_part() { People::default() } else { work.people("editor") }
}

/// The higher components of institutions that are authors of a work without a publisher: they publish it.
fn parents(work: &Work<'_>, creators: &People) -> Vec<String> {
    if work.kind.is_within() || work.kind == Kind::Thesis || work.publisher().is_some() {
        return Vec::new();
    }
    let mut parents: Vec<String> = Vec::new();
    for name in creators.names.iter().filter(|name| name.bearer == Bearer::Institution) {
        let components = name.components();
        let above = components.split_last().map_or(&[][..], |(_, above)| above).join(", ");
        if !above.is_empty() && !parents.contains(&above) {
            parents.push(above);
        }
    }
    parents
}

/// `Silva, A. M.`; components of an institution are separated by commas.
fn inverted(name: &Name) -> String {
    let Bearer::Person(person) = &name.bearer else { return name.components().join(", ") };
    let parts = [person.family.clone(), person.initials(), person.suffix.clone()];
    parts.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join(", ")
}

/// `A. da Rocha`
fn direct(name: &Name) -> String {
    let Bearer::Person(person) = &name.bearer else { return name.components().join(", ") };
    super::names::joined(" ", [&person.initials(), &person.family, &person.suffix])
}

fn listed(People { names, has_others }: &People, form: impl Fn(&Name) -> String) -> String {
    let names: Vec<_> = names.iter().map(form).collect();
    match names.as_slice() {
        names if *has_others => {
            format!("{}, et al.", names[..names.len().min(NAMED)].join(", "))
        }
        [name] => name.clone(),
        [first @ .., last] if names.len() >= TOO_MANY => {
            format!("{}, … {last}", first[..NAMED].join(", "))
        }
        [first @ .., last] => format!("{}, & {last}", first.join(", ")),
        [] => String::new(),
    }
}

/// People in the order in which names are spoken: two are joined without a comma.
fn spoken(people: &People) -> String {
    match people.names.as_slice() {
        [one, other] if !people.has_others => format!("{} & {}", direct(one), direct(other)),
        _ => listed(people, direct),
    }
}

/// `A volta ao mundo (A. da Rocha, Trans.; 2nd ed.) [Map]`
fn title(work: &Work<'_>, has_creators: bool) -> String {
    let mut roles = Vec::new();
    for (role, one, several) in ROLES {
        let people = work.people(role);
        let is_elsewhere = role == "editor" && (!has_creators || work.kind.is_part());
        if !people.is_empty() && !is_elsewhere {
            let is_one = people.names.len() == 1 && !people.has_others;
            roles.push(format!("{}, {}", spoken(&people), if is_one { one } else { several }));
        }
    }
    let mut numbers = Vec::new();
    numbers.extend(work.text("version").map(|version| format!("Version {version}")));
    if !work.kind.is_within() {
        numbers.extend(shown_edition(work));
        let volume = work.text("volume").filter(|_| work.text("series").is_none());
        numbers.extend(volume.map(|volume| format!("Vol. {volume}")));
    }
    if let (Kind::Report, Some(number)) = (work.kind, work.text("number")) {
        let series = work.text("series").unwrap_or_else(|| "Report".to_owned());
        numbers.push(format!("{series} No. {number}"));
    }
    if !numbers.is_empty() {
        roles.push(numbers.join(", "));
    }
    let title = work.text("title");
    let bracket = bracket(work).map(|text| format!("[{text}]"));
    let mut parts = Vec::new();
    parts.extend(title.clone().or_else(|| bracket.is_none().then(|| "[Untitled]".to_owned())));
    // Without a title, the bracket stands for it.
    let (before, after) = if title.is_none() { (bracket, None) } else { (None, bracket) };
    parts.extend(before);
    if !roles.is_empty() {
        parts.push(format!("({})", roles.join("; ")));
    }
    parts.extend(after);
    parts.join(" ")
}

/// The edition, unless it is the first one.
fn shown_edition(work: &Work<'_>) -> Option<String> {
    let number = work.text("edition").filter(|number| number != "1")?;
    Some(edition(&number, Some("en")))
}

/// The kind of the work, with the recipient of a letter and the institution of a thesis.
fn bracket(work: &Work<'_>) -> Option<String> {
    let words = work.bracket()?.to_owned();
    let recipients = work.people("recipient");
    let names: Vec<_> = recipients.names.iter().map(Name::direct).collect();
    Some(match (work.kind, names.as_slice()) {
        (Kind::Letter, [one]) => format!("{words} to {one}"),
        (Kind::Letter, [one, other]) => format!("{words} to {one} & {other}"),
        (Kind::Letter, [first @ .., last]) => format!("{words} to {}, & {last}", first.join(", ")),
        (Kind::Thesis, _) => match work.publisher() {
            Some(institution) => format!("{words}, {institution}"),
            None => words,
        },
        _ => words,
    })
}

/// The journal, the book and its publisher, or the publisher.
fn source(work: &Work<'_>, parents: &[String]) -> String {
    match work.kind {
        Kind::Article => article(work),
        Kind::Thesis => String::new(),
        kind if kind.is_part() => {
            let mut text = Sentences::default();
            text.push(&book(work));
            text.push(&publisher(work).unwrap_or_default());
            text.line().trim_end().to_owned()
        }
        _ => publisher(work).unwrap_or_else(|| parents.join("; ")),
    }
}

/// `Revista, 25(64), 7–18`
fn article(work: &Work<'_>) -> String {
    let number = work.text("number").map(|number| format!("({number})")).unwrap_or_default();
    let volume = work.text("volume").unwrap_or_default() + &number;
    let pages = work.pages().map(|pages| pages.text("–"));
    let parts = [work.container(), Some(volume), pages].into_iter().flatten();
    parts.filter(|part| !part.is_empty()).collect::<Vec<_>>().join(", ")
}

/// `In G. Levy & J. Porto (Eds.), História (2nd ed., pp. 7–16)`
fn book(work: &Work<'_>) -> String {
    let Some(title) = work.container().or_else(|| work.text("event")) else {
        return String::new();
    };
    let editors = work.people("editor");
    let mut text = "In ".to_owned();
    if !editors.is_empty() {
        let is_one = editors.names.len() == 1 && !editors.has_others;
        let word = if is_one { "Ed." } else { "Eds." };
        text += &format!("{} ({word}), ", spoken(&editors));
    }
    text += &title;
    let pages = work.pages().map(|pages| {
        let word = if pages.are_several() { "pp." } else { "p." };
        format!("{word} {}", pages.text("–"))
    });
    let volume = work.text("volume").filter(|_| work.text("series").is_none());
    let volume = volume.map(|volume| format!("Vol. {volume}"));
    let numbers: Vec<_> = [shown_edition(work), volume, pages].into_iter().flatten().collect();
    if numbers.is_empty() { text } else { format!("{text} ({})", numbers.join(", ")) }
}

/// The publisher, unless it is an author.
fn publisher(work: &Work<'_>) -> Option<String> {
    let publisher = work.publisher()?;
    let people = match work.people("creator") {
        creators if creators.is_empty() => editors(work),
        creators => creators,
    };
    let folded = |text: &str| text.to_lowercase();
    let is_author = people.names.iter().any(|name| {
        let forms = [name.plain.clone(), name.direct(), name.components().join(", ")];
        forms.iter().any(|form| folded(form) == folded(&publisher))
    });
    (!is_author).then_some(publisher)
}
