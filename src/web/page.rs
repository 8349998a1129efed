//! Pages for people: their frame and language.

use askama::Template;
use hyper::StatusCode;
use hyper::header::{ACCEPT_LANGUAGE, HeaderMap};

use super::accept::Accept;
use super::answer::{self, Answer};
use crate::collection::UrlBase;
use crate::identity::{Language, LanguagePreferences};

/// The style of all pages.
pub const STYLE: &str = include_str!("../../templates/style.css");

/// A language that pages are written in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PageLanguage {
    /// English.
    English,
    /// Portuguese.
    Portuguese,
}

/// A reader, as far as the headers of a request describe one.
#[derive(Clone, Debug)]
pub struct Reader {
    /// The languages that they prefer.
    pub preferences: LanguagePreferences,
    /// The language of pages for them.
    pub language: PageLanguage,
    /// Whether it shows pages. Other programs get the protocol's own texts.
    pub takes_html: bool,
}

/// The frame of a page.
#[derive(Clone, Debug)]
pub struct Frame<'a> {
    /// The language.
    pub language: PageLanguage,
    /// The name of the service.
    pub name: &'a str,
    /// The mail address of its administrator.
    pub email: Option<&'a str>,
}

/// The page about a service.
#[derive(Template)]
#[template(path = "about.html")]
pub struct About<'a> {
    /// Its frame.
    pub frame: Frame<'a>,
    /// The beginning of its URLs, without a slash.
    pub base: String,
    /// The URL at which other services ask it.
    pub service: String,
    /// Of an archive, the beginning of persistent URLs.
    pub persistent: Option<UrlBase>,
    /// Of a resolver, the number of its archives.
    pub archives: Option<usize>,
}

impl PageLanguage {
    /// Its tag.
    pub fn tag(self) -> &'static str {
        match self {
            PageLanguage::English => "en",
            PageLanguage::Portuguese => "pt-BR",
        }
    }

    /// The text in this language.
    pub fn pick<'a>(&self, english: &'a str, portuguese: &'a str) -> &'a str {
        match self {
            PageLanguage::English => english,
            PageLanguage::Portuguese => portuguese,
        }
    }
}

impl Reader {
    /// The reader whose program sent these fields.
    pub fn of(headers: &HeaderMap) -> Reader {
        let field = |name| headers.get(name).and_then(|value| value.to_str().ok());
        let preferences: LanguagePreferences =
            field(ACCEPT_LANGUAGE).and_then(|text| text.parse().ok()).unwrap_or_default();
        let known: Vec<Language> =
            ["en", "pt-BR"].iter().filter_map(|tag| tag.parse().ok()).collect();
        let is_portuguese = preferences.lookup(&known).is_some_and(|tag| tag.language() == "pt");
        Reader {
            preferences,
            language: if is_portuguese { PageLanguage::Portuguese } else { PageLanguage::English },
            takes_html: Accept::of(headers).prefers("text/html", "text/plain"),
        }
    }
}

/// Renders a page. Rendering into memory does not fail.
pub fn render(status: StatusCode, page: &impl Template) -> Answer {
    match page.render() {
        Ok(html) => answer::page(status, html),
        Err(_) => answer::empty(StatusCode::INTERNAL_SERVER_ERROR),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_are_in_the_language_that_the_reader_prefers() {
        let language = |field: &str| {
            let mut headers = HeaderMap::new();
            headers.insert(ACCEPT_LANGUAGE, field.parse().unwrap());
            Reader::of(&headers).language
        };
        for field in ["pt-BR,fr;q=0.8,en;q=0.5", "pt", "de,pt;q=0.5,en;q=0.1", "pt-PT,pt;q=0.9"] {
            assert_eq!(language(field), PageLanguage::Portuguese, "{field}");
        }
        for field in ["en,pt;q=0.9", "de", "", "*", "\u{7f}", "en-GB"] {
            if let Ok(_value) = field.parse::<hyper::header::HeaderValue>() {
                assert_eq!(language(field), PageLanguage::English, "{field}");
            }
        }
        assert_eq!(Reader::of(&HeaderMap::new()).language, PageLanguage::English);
    }
}
