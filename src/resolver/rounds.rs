//! Asking all archives, until an answer has the URL [resolution, 8.3].

use std::collections::BTreeSet;
use std::net::IpAddr;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::{Semaphore, mpsc};
use tokio::time::{Sleep, sleep, timeout};

use super::address::Addresses;
use super::analysis::{Analysis, Decision, Found, NoUrl, Patience, Question};
use super::archive::{AskLimits, IncludedArchive};
use super::registry::Registry;
use crate::identity::{Identifier, LanguagePreferences, PersistentUrl, RequiredStatus};
use crate::resolve::{Pairs, UrlRequest};
use crate::web::ask::LONGEST_TARGET;

/// The included archives, in the order of their registration.
#[derive(Debug, Default)]
pub(super) struct Archives {
    all: Vec<Arc<IncludedArchive>>,
}

/// The outcome of a resolution.
#[derive(Debug)]
pub(super) struct Resolution {
    /// The URL, and the item that the archives were asked for; or why there is none.
    pub(super) outcome: Result<(Found, Identifier), NoUrl>,
    /// The archives that did not answer the question that decided, or were not asked since they failed before.
    pub(super) silent: usize,
}

/// A question to all archives.
struct Round<'a> {
    analysis: Analysis<'a>,
    /// What archives answer, by their positions.
    answers: mpsc::UnboundedReceiver<(usize, Option<Pairs>)>,
    /// The answers so far.
    count: usize,
    /// Then no more of them are waited for.
    end: Pin<Box<Sleep>>,
    /// The same, if there is a lead.
    moment: Option<Pin<Box<Sleep>>>,
}

/// The limits that all resolutions have in common.
#[derive(Debug)]
pub(super) struct Asking {
    pub(super) limits: Arc<AskLimits>,
    /// Requests at a time.
    places: Arc<Semaphore>,
}

impl Asking {
    pub(super) fn new(limits: Arc<AskLimits>) -> Asking {
        let places = Arc::new(Semaphore::new(limits.in_all));
        Asking { limits, places }
    }
}

impl Archives {
    /// The archives of `registry`. Those that have not changed since `before` keep their connections.
    pub(super) fn of(
        registry: &Registry,
        before: &Archives,
        addresses: &Arc<Addresses>,
        limits: &Arc<AskLimits>,
    ) -> Archives {
        let included = registry.archives.iter().filter_map(|archive| {
            let inclusion = archive.included.as_ref()?;
            let same = before.all.iter().find(|it| it.is_of(archive));
            Some(same.map_or_else(
                || Arc::new(IncludedArchive::new(archive, inclusion, addresses, limits)),
                Arc::clone,
            ))
        });
        Archives { all: included.collect() }
    }

    pub(super) fn len(&self) -> usize {
        self.all.len()
    }

    /// The archive at a position of an answer.
    pub(super) fn at(&self, position: usize) -> &Arc<IncludedArchive> {
        &self.all[position]
    }

    /// Resolves `url` for the reader at `addresses`.
    pub(super) async fn resolve(
        &self,
        asking: &Asking,
        url: &PersistentUrl,
        addresses: &[IpAddr],
        preferences: &LanguagePreferences,
    ) -> Resolution {
        let (mut asked, mut alert) = (BTreeSet::new(), None);
        let rounds = self.rounds(asking, url, (addresses, preferences), (&mut asked, &mut alert));
        let found = timeout(asking.limits.whole, rounds).await.ok().flatten();
        let (outcome, silent) = match (found, alert) {
            (Some((found, selected, silent)), _) => (Ok((found, selected)), silent),
            (None, Some((alert, silent))) => (Err(alert), silent),
            (None, None) => (Err(NoUrl::Unanswered), self.all.len()),
        };
        Resolution { outcome, silent }
    }

    /// Asks until there is a URL: the URL, the item that it is of, and the number of archives that did not answer; or leaves the
    /// alert.
    async fn rounds(
        &self,
        asking: &Asking,
        url: &PersistentUrl,
        (addresses, preferences): (&[IpAddr], &LanguagePreferences),
        (asked, alert): (&mut BTreeSet<Question>, &mut Option<(NoUrl, usize)>),
    ) -> Option<(Found, Identifier, usize)> {
        let verbs = url.selection.verbs.clone();
        let mut next = Some(Question { identifier: url.identifier.clone(), verbs });
        // The rounds on the way to the present one.
        let mut rounds: Vec<Round<'_>> = Vec::new();
        loop {
            if let Some(question) = next.take() {
                let silent = rounds.last().map_or(0, |round| self.all.len() - round.count);
                if asked.len() == asking.limits.rounds {
                    alert.get_or_insert((NoUrl::Loop, silent));
                    return None;
                }
                let request = UrlRequest {
                    addresses: addresses.to_vec(),
                    path: url.selection.path.clone(),
                    identifier: question.identifier.clone(),
                    verbs: question.verbs.clone(),
                };
                let Some(targets) = self.targets(&request) else {
                    alert.get_or_insert((NoUrl::TooLong, silent));
                    return None;
                };
                asked.insert(question.clone());
                let is_original = url.selection.status == RequiredStatus::Original;
                let analysis = Analysis::new(question, is_original, preferences);
                rounds.push(self.ask(asking, targets, analysis));
            }
            let round = rounds.last_mut()?;
            round.wait(asked, asking.limits.moment).await;
            let silent = self.all.len() - round.count;
            match round.analysis.decide(asked) {
                Decision::Found(found) => {
                    return Some((found, round.analysis.question().identifier.clone(), silent));
                }
                Decision::Next(question) => {
                    tracing::debug!(item = %question.identifier, verbs = %question.verbs, "asks again");
                    next = Some(question);
                }
                Decision::Alert(mut found) => {
                    if found == NoUrl::NotFound && round.count == 0 {
                        found = NoUrl::Unanswered;
                    }
                    // Back from an item, all editions have been asked for.
                    let is_back = alert.is_some() && found == NoUrl::Loop;
                    let is_absent = found.is_absence() || is_back;
                    // The first alert is about the item that the URL selects; what is tried in its place says less.
                    if alert.is_none() || matches!(found, NoUrl::Suspects(_)) {
                        *alert = Some((found, silent));
                    }
                    if !is_absent {
                        return None;
                    }
                    // The item that the round before it named leads nowhere: another lead of that round may.
                    rounds.pop();
                }
            }
        }
    }

    /// The target of `request` at each archive, if all of them take it: an archive must not refuse what a reader may ask.
    fn targets(&self, request: &UrlRequest) -> Option<Vec<String>> {
        let targets = self.all.iter().map(|archive| request.target(archive.service.as_str()));
        targets.map(|target| (target.len() <= LONGEST_TARGET).then_some(target)).collect()
    }

    /// Asks all archives for their targets.
    fn ask<'a>(&self, asking: &Asking, targets: Vec<String>, analysis: Analysis<'a>) -> Round<'a> {
        let (send, answers) = mpsc::unbounded_channel();
        let own = Arc::new(Semaphore::new(asking.limits.of_a_resolution));
        for (position, (archive, target)) in self.all.iter().zip(targets).enumerate() {
            let (archive, send) = (Arc::clone(archive), send.clone());
            let (own, all) = (Arc::clone(&own), Arc::clone(&asking.places));
            tokio::spawn(async move {
                // A place of its own before one of all: requests to an archive that hangs keep none from the others.
                let places = async {
                    (own.acquire().await, archive.places.acquire().await, all.acquire().await)
                };
                let _places = tokio::select! {
                    biased;
                    // Others have waited for it in vain.
                    () = archive.leaves() => return,
                    // Nobody waits for this answer any more.
                    () = send.closed() => return,
                    places = places => places,
                };
                // A request that was sent runs to its end, so that its connection can take the next one.
                let pairs = archive.ask(&target).await;
                let _ = send.send((position, pairs));
            });
        }
        let end = Box::pin(sleep(asking.limits.round));
        Round { analysis, answers, count: 0, end, moment: None }
    }
}

impl Round<'_> {
    /// Takes answers as long as more of them can matter.
    async fn wait(&mut self, asked: &BTreeSet<Question>, limit: Duration) {
        let Round { analysis, answers, count, end, moment } = self;
        loop {
            let patience = analysis.patience(asked);
            if patience == Patience::None {
                return;
            }
            let enough = async {
                match patience {
                    Patience::Moment => moment.get_or_insert_with(|| Box::pin(sleep(limit))).await,
                    Patience::None | Patience::All => std::future::pending().await,
                }
            };
            tokio::select! {
                biased;
                received = answers.recv() => match received {
                    Some((position, Some(pairs))) => {
                        analysis.add(position, &pairs);
                        *count += 1;
                    }
                    Some((_, None)) => {}
                    None => return,
                },
                () = enough => return,
                () = &mut *end => return,
            }
        }
    }
}
