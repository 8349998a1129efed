//! Alerts: why something cannot be shown, and what to do next [resolution, 8.5]. The template has the texts for people.

use askama::Template;
use hyper::StatusCode;
use hyper::header::VARY;

use super::answer::{self, Answer};
use super::page::{Frame, Reader, render};
use crate::resolve::Pairs;

/// Why something cannot be shown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Reason {
    /// Nothing has the address.
    #[default]
    Nothing,
    /// A target that begins as a persistent URL, and is none.
    Malformed,
    /// What archives would be asked is longer than servers take.
    TooLong,
    /// The archive does not have the item.
    NotHere,
    /// No archive has the item.
    NotFound,
    /// The item does not have the file or format.
    NoPart,
    /// The item was deleted, here or in all archives.
    Deleted,
    /// There is no translation into the language.
    NoTranslation,
    /// The Original is required, and a Copy is here.
    OnlyCopyHere,
    /// The Original is required, and only Copies are known.
    NoOriginal,
    /// Editions lead in a circle.
    Loop,
    /// Several archives say that they have the Original.
    Suspects,
    /// The client may not read the item.
    Restricted,
    /// The file is not what the sidecar says.
    Damaged,
    /// The disk failed.
    Failed,
    /// No archive answered.
    Unanswered,
}

impl Reason {
    /// The status, and the text for programs.
    fn of_protocol(self) -> (StatusCode, &'static str) {
        match self {
            Reason::Nothing | Reason::NotHere | Reason::NotFound | Reason::NoPart => {
                (StatusCode::NOT_FOUND, "information item not found")
            }
            Reason::Malformed => (StatusCode::BAD_REQUEST, "malformed persistent URL"),
            Reason::TooLong => (StatusCode::URI_TOO_LONG, "persistent URL too long"),
            Reason::Deleted => (StatusCode::GONE, "information item deleted"),
            Reason::NoTranslation => (StatusCode::NOT_FOUND, "translation not found"),
            Reason::OnlyCopyHere | Reason::NoOriginal => {
                (StatusCode::NOT_FOUND, "original not found")
            }
            Reason::Loop => (StatusCode::LOOP_DETECTED, "resolution loop"),
            Reason::Suspects => (
                StatusCode::CONFLICT,
                "two or more archives claim the original, investigation needed",
            ),
            Reason::Restricted => (StatusCode::FORBIDDEN, "access restricted"),
            Reason::Damaged => (StatusCode::INTERNAL_SERVER_ERROR, "file damaged"),
            Reason::Failed => (StatusCode::INTERNAL_SERVER_ERROR, "archive failed"),
            Reason::Unanswered => (StatusCode::GATEWAY_TIMEOUT, "no archive answered"),
        }
    }
}

/// An alert.
#[derive(Clone, Debug, Default)]
pub struct Alert {
    /// Why.
    pub reason: Reason,
    /// The subject of the request.
    pub subject: String,
    /// The item whose parts the page links to, if there is one.
    pub item: String,
    /// The time and the reason of a deletion.
    pub detail: String,
    /// The languages that the item is here in.
    pub languages: Vec<String>,
    /// The same request at a place that may have the item.
    pub elsewhere: Option<String>,
    /// The addresses of archives that contradict each other.
    pub archives: Vec<String>,
    /// The number of archives that did not answer, and of all.
    pub silent: Option<(usize, usize)>,
    /// More for programs.
    pub pairs: Vec<(&'static str, String)>,
}

#[derive(Template)]
#[template(path = "alert.html")]
struct AlertPage<'a> {
    frame: Frame<'a>,
    alert: &'a Alert,
}

impl Alert {
    /// An alert about `subject`.
    pub fn new(reason: Reason, subject: impl Into<String>) -> Alert {
        Alert { reason, subject: subject.into(), ..Alert::default() }
    }

    /// The answer: a page for a reader who has a browser, else the pairs.
    pub fn answer(&self, frame: Frame<'_>, reader: &Reader) -> Answer {
        let (status, text) = self.reason.of_protocol();
        if reader.takes_html {
            let page = render(status, &AlertPage { frame, alert: self });
            return answer::stored(page, "no-store");
        }
        let mut pairs = Pairs::default();
        pairs.insert("alert", text);
        self.pairs.iter().for_each(|(name, value)| pairs.insert(*name, value));
        let mut answer = answer::text(status, pairs.to_string());
        answer::set(&mut answer, VARY, "Accept, Accept-Language");
        answer
    }
}
