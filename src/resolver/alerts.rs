//! Alerts of the resolver: why a persistent URL leads nowhere [resolution, 8.5].

use hyper::StatusCode;

use super::analysis::NoUrl;
use super::rounds::Archives;
use super::server::Resolver;
use crate::identity::PersistentUrl;
use crate::resolve::Forms;
use crate::web::alert::{Alert, Reason};
use crate::web::answer::{self, Answer};
use crate::web::page::{About, Frame, PageLanguage, Reader, render};

impl Resolver {
    fn frame(&self, language: PageLanguage) -> Frame<'_> {
        let email = self.exposed.email.as_deref();
        Frame { language, name: self.exposed.addresses[0].host(), email }
    }

    /// The page about the resolver.
    pub(super) fn about(&self, reader: &Reader, archives: &Archives) -> Answer {
        let page = About {
            frame: self.frame(reader.language),
            base: self.base(),
            service: self.service_url(),
            persistent: None,
            archives: Some(archives.len()),
        };
        answer::stored(render(StatusCode::OK, &page), "no-cache")
    }

    /// The alert for a path that leads to no item.
    pub(super) fn nothing(&self, reader: &Reader) -> Answer {
        self.alert(&Alert::new(Reason::Nothing, ""), reader)
    }

    /// The alert for what begins as a persistent URL, and is none.
    pub(super) fn malformed(&self, reader: &Reader, target: &str) -> Answer {
        self.alert(&Alert::new(Reason::Malformed, target), reader)
    }

    /// The answer where no archive leads to the item.
    pub(super) fn unresolved(
        &self,
        found: &NoUrl,
        (url, silent): (&PersistentUrl, usize),
        archives: &Archives,
        reader: &Reader,
    ) -> Answer {
        let identifier = &url.identifier;
        let subject = format!("{identifier}{}", url.selection.verbs.modifiers());
        let mut alert = Alert::new(reason(found), subject);
        match found {
            NoUrl::Deleted(Some(time)) => {
                alert.detail.clone_from(time);
                alert.pairs.push(("timestamp", time.clone()));
            }
            NoUrl::NoTranslation(language) => {
                alert.pairs.push(("language", language.to_string()));
            }
            NoUrl::Suspects(claims) => {
                let claims = claims.iter().map(|position| archives.at(*position));
                let names = claims.clone().map(|it| Forms::from(it.service.clone()).to_string());
                alert.pairs.push(("suspects", names.collect::<Vec<_>>().join(" ")));
                alert.archives = claims.map(|it| it.address().to_string()).collect();
            }
            _ => {}
        }
        if matches!(alert.reason, Reason::NoTranslation | Reason::NoOriginal) {
            alert.item = identifier.to_string();
        }
        if silent > 0 && alert.reason != Reason::Unanswered {
            alert.pairs.push(("unanswered", silent.to_string()));
            alert.silent = Some((silent, archives.len()));
        }
        self.alert(&alert, reader)
    }

    fn alert(&self, alert: &Alert, reader: &Reader) -> Answer {
        alert.answer(self.frame(reader.language), reader)
    }
}

fn reason(found: &NoUrl) -> Reason {
    match found {
        NoUrl::NotFound => Reason::NotFound,
        NoUrl::TooLong => Reason::TooLong,
        NoUrl::Deleted(_) => Reason::Deleted,
        NoUrl::NoTranslation(_) => Reason::NoTranslation,
        NoUrl::NoOriginal => Reason::NoOriginal,
        NoUrl::Suspects(_) => Reason::Suspects,
        NoUrl::Loop => Reason::Loop,
        NoUrl::Unanswered => Reason::Unanswered,
    }
}
