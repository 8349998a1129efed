//! Which answer leads to the item, and how to go on where none does [resolution, 8.3]. Nothing here waits or asks.

use std::collections::BTreeSet;

use crate::identity::{Identifier, Language, LanguagePreferences, Verb, Verbs};
use crate::resolve::Pairs;

/// A question to all archives.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Question {
    /// The item.
    pub identifier: Identifier,
    /// The request about it.
    pub verbs: Verbs,
}

/// The URL of an item, as an archive gave it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Found {
    /// The archive, by its position among those asked.
    pub archive: usize,
    /// The URL.
    pub url: String,
    /// The identifier of the item finally selected, as the archive wrote it: `rep …`, `ibip …` or both.
    pub ibi: Option<String>,
    /// The kind of content.
    pub content: Option<String>,
    /// The state.
    pub state: Option<String>,
    /// The key of the answer.
    pub key: Option<String>,
}

/// Why there is no URL [resolution, 8.5].
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NoUrl {
    /// No archive knows the item.
    NotFound,
    /// The archives cannot be asked for it in a URL.
    TooLong,
    /// It was deleted, at this time if the archive says so.
    Deleted(Option<String>),
    /// There is no translation into this language.
    NoTranslation(Language),
    /// Only Copies are known.
    NoOriginal,
    /// These archives, by their positions, all claim the Original.
    Suspects(Vec<usize>),
    /// The archives lead in a circle, or too far.
    Loop,
    /// No archive answered.
    Unanswered,
}

impl NoUrl {
    /// Whether the item is not there: another one may be taken in its place where the reader did not name it.
    pub fn is_absence(&self) -> bool {
        matches!(self, NoUrl::NotFound | NoUrl::Deleted(_) | NoUrl::Unanswered)
    }
}

/// The result of an analysis.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Decision {
    /// The URL.
    Found(Found),
    /// Another question.
    Next(Question),
    /// Nothing.
    Alert(NoUrl),
}

/// How long to wait for more answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Patience {
    /// They change nothing.
    None,
    /// They may have a better language, or the URL: a moment after the first answer of this kind.
    Moment,
    /// They are needed.
    All,
}

/// The answers to one question.
///
/// An item that an answer names leads nowhere once it was asked for in vain: then the next best lead counts, to the item itself
/// at last, as where the collections are on one disk. So all questions that were `asked` decide.
#[derive(Clone, Debug)]
pub struct Analysis<'a> {
    question: Question,
    requires_original: bool,
    preferences: &'a LanguagePreferences,
    answers: Vec<Answer>,
}

/// An answer that knows the item.
#[derive(Clone, Debug)]
struct Answer {
    /// URLs that the question asks for, and identifiers on the way to them.
    leads: Vec<Lead>,
    next_edition: Option<Identifier>,
    is_deleted: bool,
    /// When the item last changed, or was deleted.
    timestamp: Option<String>,
    /// The forms of the identifier of the item itself.
    own: Vec<Identifier>,
}

/// A URL, or the identifier of an item to go on with, for a relation.
#[derive(Clone, Debug)]
struct Lead {
    /// The relation: the question's steps, or the first of them.
    relation: Verbs,
    identifier: Option<Identifier>,
    found: Option<Found>,
}

impl<'a> Analysis<'a> {
    /// The analysis of the answers to `question`.
    pub fn new(
        question: Question,
        requires_original: bool,
        preferences: &'a LanguagePreferences,
    ) -> Analysis<'a> {
        Analysis { question, requires_original, preferences, answers: Vec::new() }
    }

    /// The question.
    pub fn question(&self) -> &Question {
        &self.question
    }

    /// Adds the answer of an archive; an empty one says nothing.
    pub fn add(&mut self, archive: usize, pairs: &Pairs) {
        if pairs.is_empty() {
            return;
        }
        self.answers.push(Answer {
            leads: leads(archive, pairs, self.question.verbs.steps()),
            next_edition: pairs.get("ibi.nextedition").and_then(identifier),
            is_deleted: pairs.get("state") == Some("Deleted"),
            timestamp: pairs.get("timestamp").map(str::to_owned),
            own: pairs.get("ibi").map(identifiers).unwrap_or_default(),
        });
    }

    /// How long to wait for more answers.
    pub fn patience(&self, asked: &BTreeSet<Question>) -> Patience {
        if self.requires_original {
            return Patience::All;
        }
        let chooses_language = self.question.verbs.steps().contains(&Verb::Translation(None));
        let has_url = self.answers.iter().any(Answer::has_url);
        let mut leads = self.answers.iter().flat_map(|answer| &answer.leads);
        let leads_on = leads.any(|lead| !lead.stands_in() && !self.is_spent(lead, asked))
            || self.editions().any(|next| !asked.contains(&next));
        match (has_url, leads_on) {
            (true, _) if !chooses_language => Patience::None,
            (false, false) => Patience::All,
            _ => Patience::Moment,
        }
    }

    /// The result.
    pub fn decide(&self, asked: &BTreeSet<Question>) -> Decision {
        let verbs = &self.question.verbs;
        let length = verbs.steps().len();
        let leads = match self.preferred(asked) {
            Ok(leads) => leads,
            // No language suits: the item in its own [resolution, E20].
            Err(at) => {
                let next = self.next(self.question.identifier.clone(), verbs.without(at..at + 1));
                let is_new = !asked.contains(&next);
                return if is_new { Decision::Next(next) } else { self.alert(false) };
            }
        };
        let urls = leads.iter().filter(|lead| !lead.stands_in());
        let found: Vec<&Found> = urls.filter_map(|lead| lead.found.as_ref()).collect();
        if self.requires_original {
            let is_original = |found: &&&Found| found.state.as_deref() == Some("Original");
            let claims: Vec<&&Found> = found.iter().filter(is_original).collect();
            match claims.as_slice() {
                [] => {}
                [one] => return Decision::Found((**one).clone()),
                several => {
                    let archives = several.iter().map(|it| it.archive).collect();
                    return Decision::Alert(NoUrl::Suspects(archives));
                }
            }
        } else if let Some(first) = found.first() {
            return Decision::Found((*first).clone());
        }
        // The longest way, and of equal ones the first to arrive.
        let pointers = leads.iter().filter(|lead| lead.found.is_none());
        let pointer = pointers.min_by_key(|lead| length - lead.length());
        if let Some(next) = pointer.and_then(|lead| self.behind(lead)) {
            return Decision::Next(next);
        }
        if let Some(next) = self.editions().find(|next| !asked.contains(next)) {
            return Decision::Next(next);
        }
        if self.requires_original {
            // The selected item has its Original elsewhere: in an archive that does not know the first one.
            let own: Vec<&Identifier> =
                self.answers.iter().flat_map(|answer| &answer.own).collect();
            let others = leads.iter().filter_map(|lead| lead.identifier.clone());
            let others = others.filter(|it| *it != self.question.identifier && !own.contains(&it));
            let mut others = others.map(|it| self.next(it, verbs.without(0..length)));
            if let Some(next) = others.find(|it| !asked.contains(it)) {
                return Decision::Next(next);
            }
        } else if let Some(found) = leads.iter().find_map(|lead| lead.found.as_ref()) {
            return Decision::Found(found.clone());
        }
        if self.editions().next().is_some() {
            return Decision::Alert(NoUrl::Loop);
        }
        self.alert(leads.iter().any(|lead| lead.found.is_some()))
    }

    fn alert(&self, has_copies: bool) -> Decision {
        if let Some(answer) = self.answers.iter().find(|answer| answer.is_deleted) {
            return Decision::Alert(NoUrl::Deleted(answer.timestamp.clone()));
        }
        if has_copies {
            return Decision::Alert(NoUrl::NoOriginal);
        }
        let language = self.question.verbs.steps().iter().find_map(|verb| match verb {
            Verb::Translation(Some(language)) => Some(language.clone()),
            _ => None,
        });
        Decision::Alert(match language {
            Some(language) if !self.answers.is_empty() => NoUrl::NoTranslation(language),
            _ => NoUrl::NotFound,
        })
    }

    fn next(&self, identifier: Identifier, verbs: Verbs) -> Question {
        Question { identifier, verbs }
    }

    /// The question about the item that a lead without a URL names.
    fn behind(&self, lead: &Lead) -> Option<Question> {
        let identifier = lead.identifier.clone().filter(|_| lead.found.is_none())?;
        Some(self.next(identifier, self.question.verbs.without(0..lead.length())))
    }

    /// Whether it is an item that was asked for in vain.
    fn is_spent(&self, lead: &Lead, asked: &BTreeSet<Question>) -> bool {
        self.behind(lead).is_some_and(|question| asked.contains(&question))
    }

    /// The questions about next editions, where the last one is requested and the answer that names one has nothing better.
    fn editions(&self) -> impl Iterator<Item = Question> {
        let is_asked = self.question.verbs.steps().first() == Some(&Verb::LastEdition);
        let answers = self.answers.iter().filter(move |answer| is_asked && !answer.has_url());
        let named = answers.filter_map(|answer| answer.next_edition.clone());
        named.map(|next| self.next(next, self.question.verbs.clone()))
    }

    /// The leads whose languages suit the reader best, in the order of arrival; the step for which none suits.
    fn preferred(&self, asked: &BTreeSet<Question>) -> Result<Vec<&Lead>, usize> {
        let is_open = |lead: &&Lead| !self.is_spent(lead, asked);
        let mut leads: Vec<&Lead> = self.answers.iter().flat_map(|answer| &answer.leads).collect();
        for (at, step) in self.question.verbs.steps().iter().enumerate() {
            let reaches = |lead: &&Lead| lead.length() > at;
            if *step != Verb::Translation(None) || !leads.iter().any(reaches) {
                continue;
            }
            let language = |lead: &&Lead| match lead.relation.steps().get(at) {
                Some(Verb::Translation(language)) => language.clone(),
                _ => None,
            };
            let open = leads.iter().filter(|lead| is_open(lead));
            let languages: Vec<Language> = open.filter_map(language).collect();
            let best = self.preferences.lookup(&languages);
            leads.retain(|lead| !reaches(lead) || language(lead).as_ref() == best);
            if !leads.iter().any(|lead| reaches(lead) && is_open(lead)) {
                return Err(at);
            }
        }
        leads.retain(is_open);
        Ok(leads)
    }
}

impl Lead {
    /// The number of steps that it takes.
    fn length(&self) -> usize {
        self.relation.steps().len()
    }

    /// Whether its URL is that of a description in place of a metadata item, which has no state: an archive that has the item comes first.
    fn stands_in(&self) -> bool {
        let is_metadata = |step: &Verb| matches!(step, Verb::Metadata(_));
        let found = self.found.as_ref().filter(|found| found.state.is_none());
        found.is_some() && self.relation.steps().iter().any(is_metadata)
    }
}

impl Answer {
    fn has_url(&self) -> bool {
        self.leads.iter().any(|lead| lead.found.is_some() && !lead.stands_in())
    }
}

/// The leads in a list of pairs, for a question with these steps.
fn leads(archive: usize, pairs: &Pairs, steps: &[Verb]) -> Vec<Lead> {
    let value = |name: &str, qualifier: &str| pairs.get(&format!("{name}{qualifier}"));
    let owned = |value: Option<&str>| value.map(str::to_owned);
    let mut leads = Vec::new();
    for (name, url) in pairs.iter() {
        let Some(qualifier) = name.strip_prefix("url") else { continue };
        let Ok(relation) = Verbs::of_relation(qualifier) else { continue };
        let state = value("state", qualifier);
        if !relation.is_requested_by(steps) || state == Some("Deleted") {
            continue;
        }
        let ibi = value("ibi", qualifier);
        let found = Found {
            archive,
            url: url.to_owned(),
            ibi: owned(ibi),
            content: owned(value("contenttype", qualifier)),
            state: owned(state),
            key: owned(pairs.get("urlkey")),
        };
        let identifier = ibi.and_then(identifier);
        let mut lead = Lead { relation, identifier, found: Some(found) };
        if lead.stands_in() {
            // It describes the item itself.
            lead.found = lead.found.map(|found| Found { ibi: None, ..found });
        }
        leads.push(lead);
    }
    for (name, forms) in pairs.iter() {
        let Some(qualifier) = name.strip_prefix("ibi") else { continue };
        let Ok(relation) = Verbs::of_relation(qualifier) else { continue };
        let length = relation.steps().len();
        let is_before = |lead: &Lead| lead.relation.steps().starts_with(relation.steps());
        let has_url = leads.iter().any(|lead| !lead.stands_in() && is_before(lead));
        let is_on_the_way = (1..=steps.len()).contains(&length)
            && relation.is_requested_by(&steps[..length])
            && !has_url;
        if let Some(identifier) = identifier(forms).filter(|_| is_on_the_way) {
            leads.push(Lead { relation, identifier: Some(identifier), found: None });
        }
    }
    leads
}

/// The identifier in forms of it, the repository name if there is one [resolution, Table 9.4].
pub(super) fn identifier(forms: &str) -> Option<Identifier> {
    identifiers(forms).into_iter().next()
}

/// All forms of it.
fn identifiers(forms: &str) -> Vec<Identifier> {
    let words: Vec<&str> = forms.split(' ').collect();
    let named = words.chunks_exact(2).filter(|pair| matches!(pair[0], "rep" | "ibip"));
    named.filter_map(|pair| pair[1].parse().ok()).collect()
}
