//! Asking all archives, until an answer has the URL [resolution, 8.3].

use std::collections::BTreeSet;
use std::net::IpAddr;
use std::pin::pin;
use std::sync::Arc;

use tokio::sync::{Semaphore, mpsc};
use tokio::time::{sleep, timeout};

use super::address::Addresses;
use super::analysis::{Analysis, Decision, Found, NoUrl, Patience, Question};
use super::archive::{AskLimits, IncludedArchive};
use super::registry::Registry;
use crate::identity::{LanguagePreferences, PersistentUrl, RequiredStatus};
use crate::resolve::UrlRequest;
use crate::web::ask::LONGEST_TARGET;

/// The included archives, in the order of their registration.
#[derive(Debug, Default)]
pub(super) struct Archives {
    all: Vec<Arc<IncludedArchive>>,
}

/// The outcome of a resolution.
#[derive(Debug)]
pub(super) struct Resolution {
    pub(super) outcome: Result<Found, NoUrl>,
    /// The last question.
    pub(super) question: Question,
    /// The archives that did not answer it, or were not asked since they failed before.
    pub(super) silent: usize,
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
        let verbs = url.selection.verbs.clone();
        let mut question = Question { identifier: url.identifier.clone(), verbs };
        let mut asked = BTreeSet::new();
        let mut silent = 0;
        let rounds = async {
            while asked.len() < asking.limits.rounds && asked.insert(question.clone()) {
                let is_original = url.selection.status == RequiredStatus::Original;
                let mut analysis = Analysis::new(&question, is_original, preferences);
                let request = UrlRequest {
                    addresses: addresses.to_vec(),
                    path: url.selection.path.clone(),
                    identifier: question.identifier.clone(),
                    verbs: question.verbs.clone(),
                };
                let targets = self.targets(&request)?;
                silent = self.all.len() - self.ask(asking, targets, &mut analysis).await;
                match analysis.decide(&asked) {
                    Decision::Found(found) => return Ok(found),
                    Decision::Alert(NoUrl::NotFound) if silent == self.all.len() => {
                        return Err(NoUrl::Unanswered);
                    }
                    Decision::Alert(alert) => return Err(alert),
                    Decision::Next(next) => {
                        tracing::debug!(item = %next.identifier, verbs = %next.verbs, "asks again");
                        question = next;
                    }
                }
            }
            Err(NoUrl::Loop)
        };
        let outcome = timeout(asking.limits.whole, rounds).await;
        let outcome = outcome.unwrap_or(Err(NoUrl::Unanswered));
        Resolution { outcome, question, silent }
    }

    /// The target of `request` at each archive, if all of them take it: an archive must not refuse what a reader may ask.
    fn targets(&self, request: &UrlRequest) -> Result<Vec<String>, NoUrl> {
        let target = |archive: &Arc<IncludedArchive>| request.target(archive.service.as_str());
        let targets: Vec<String> = self.all.iter().map(target).collect();
        let is_short = targets.iter().all(|target| target.len() <= LONGEST_TARGET);
        if is_short { Ok(targets) } else { Err(NoUrl::TooLong) }
    }

    /// Asks all archives for their targets, and adds their answers to `analysis` as long as more of them can matter. Returns
    /// the number of answers.
    async fn ask(
        &self,
        asking: &Asking,
        targets: Vec<String>,
        analysis: &mut Analysis<'_>,
    ) -> usize {
        let (send, mut answers) = mpsc::unbounded_channel();
        let own = Arc::new(Semaphore::new(asking.limits.of_a_resolution));
        for (position, (archive, target)) in self.all.iter().zip(targets).enumerate() {
            if archive.is_left_out() {
                continue;
            }
            let (archive, send) = (Arc::clone(archive), send.clone());
            let (own, all) = (Arc::clone(&own), Arc::clone(&asking.places));
            tokio::spawn(async move {
                // A place of its own before one of all: requests to an archive that hangs keep none from the others.
                let places = async {
                    (own.acquire().await, archive.places.acquire().await, all.acquire().await)
                };
                let _places = tokio::select! {
                    places = places => places,
                    // Nobody waits for this answer any more.
                    () = send.closed() => return,
                };
                // A request that was sent runs to its end, so that its connection can take the next one.
                let pairs = archive.ask(&target).await;
                let _ = send.send((position, pairs));
            });
        }
        drop(send);
        let mut count = 0;
        let mut round = pin!(sleep(asking.limits.round));
        let mut moment = None;
        loop {
            let patience = analysis.patience();
            if patience == Patience::None {
                break;
            }
            if patience == Patience::Moment && moment.is_none() {
                moment = Some(Box::pin(sleep(asking.limits.moment)));
            }
            let enough = async {
                match &mut moment {
                    Some(moment) if patience == Patience::Moment => moment.await,
                    _ => std::future::pending().await,
                }
            };
            tokio::select! {
                received = answers.recv() => match received {
                    Some((position, Some(pairs))) => {
                        analysis.add(position, &pairs);
                        count += 1;
                    }
                    Some((_, None)) => {}
                    None => break,
                },
                () = enough => break,
                () = &mut round => break,
            }
        }
        count
    }
}
