//! The label server: labels for other machines, from the same distributor as everything here [generation, 4 to 7].
//!
//! Requests wait in one room. A thread takes all that wait as one batch: the memory is raised and the ledger gets its line
//! once for all of them, both durable before the first answer. A lost answer burns its labels; none is given twice.

use std::collections::{BTreeSet, HashMap};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use http_body_util::{BodyExt as _, Limited};
use hyper::StatusCode;
use hyper::body::Incoming;
use hyper::header::{AUTHORIZATION, HeaderMap, RETRY_AFTER, WWW_AUTHENTICATE};
use tokio::sync::{mpsc, oneshot};

use super::token::{Token, Tokens, TokensFile};
use crate::agent::Agent;
use crate::clock::Clock;
use crate::collection::{Collection, CollectionError, IssueOptions, Issuer, Label};
use crate::disk::{LockError, Version};
use crate::distributor::DistributorError;
use crate::identity::{Instant, Prefix, SECOND, decode_value};
use crate::web::accept::Accept;
use crate::web::answer::{self, Answer};
use crate::web::front::busy;
use crate::web::private_file::PrivateFileError;

/// Requests that wait.
const ROOM: usize = 256;
/// Labels of a request, and of a batch.
const MOST: usize = 1000;
const BATCH: usize = 10_000;
/// Limits on the body of a request.
const MOST_BYTES: usize = 4096;
const BODY_TIME: Duration = Duration::from_secs(10);

/// Issues labels to clients with tokens.
#[derive(Debug)]
pub struct LabelServer {
    room: mpsc::Sender<LabelRequest>,
    file: TokensFile,
    /// The tokens, and the version of the file that they are from.
    current: Mutex<(Option<Version>, Arc<Tokens>)>,
    /// The labels that each token had in a day, which is that of the server's time.
    spent: Mutex<HashMap<String, (String, u64)>>,
}

/// A request in the waiting room.
#[derive(Debug)]
struct LabelRequest {
    prefix: Option<Prefix>,
    count: usize,
    reply: oneshot::Sender<Result<Vec<Label>, IssueFault>>,
}

/// Why there are no labels.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum IssueFault {
    /// Later there may be: a date has to come, or a clock is behind.
    Busy,
    /// No subsystem has the prefix.
    Prefix,
    Failed,
}

/// The body of a request.
#[derive(Debug, PartialEq, Eq)]
struct LabelForm {
    count: usize,
    has_ibips: bool,
    prefix: Option<Prefix>,
}

impl LabelServer {
    /// A server of labels of `collection`, with a thread of its own that ends with it.
    pub fn start(
        collection: Collection,
        tokens: TokensFile,
        (agent, clock): (Agent, Arc<dyn Clock>),
        options: IssueOptions,
    ) -> Result<LabelServer, PrivateFileError> {
        tokens.read()?;
        let (room, requests) = mpsc::channel(ROOM);
        std::thread::spawn(move || {
            issue_batches(&collection, &agent, clock.as_ref(), &options, requests);
        });
        let (current, spent) = (Mutex::default(), Mutex::default());
        Ok(LabelServer { room, file: tokens, current, spent })
    }

    /// The answer to a POST.
    pub(super) async fn answer(
        &self,
        headers: &HeaderMap,
        body: Incoming,
        clock: &dyn Clock,
    ) -> Answer {
        let notice = |status, text: &str| answer::text(status, format!("notice {{{text}}}"));
        let Some(token) = self.token(headers) else {
            let mut answer = notice(StatusCode::UNAUTHORIZED, "a token is needed");
            answer::set(&mut answer, WWW_AUTHENTICATE, "Bearer");
            return answer;
        };
        let body = tokio::time::timeout(BODY_TIME, Limited::new(body, MOST_BYTES).collect()).await;
        let Ok(Ok(body)) = body else {
            return notice(StatusCode::PAYLOAD_TOO_LARGE, "too long a body");
        };
        let form = match LabelForm::of(&body.to_bytes()) {
            Ok(form) => form,
            Err(name) => return notice(StatusCode::BAD_REQUEST, &format!("invalid pair {name}")),
        };
        let prefix = match (&token.prefix, form.prefix) {
            (Some(own), Some(other)) if *own != other => {
                return notice(StatusCode::FORBIDDEN, "the token is for another prefix");
            }
            (own, other) => other.or_else(|| own.clone()),
        };
        let now = clock.now();
        if !self.spend(&token, form.count, now) {
            let mut answer = notice(StatusCode::TOO_MANY_REQUESTS, "no more labels today");
            answer::set(&mut answer, RETRY_AFTER, &until_midnight(now).to_string());
            return answer;
        }
        let (reply, replied) = oneshot::channel();
        let request = LabelRequest { prefix, count: form.count, reply };
        let outcome = match self.room.try_send(request) {
            Ok(()) => replied.await.unwrap_or(Err(IssueFault::Failed)),
            Err(_) => Err(IssueFault::Busy),
        };
        match outcome {
            Ok(labels) => {
                tracing::info!(token = token.name, count = labels.len(), "labels issued");
                written(&labels, form.has_ibips, headers)
            }
            Err(fault) => {
                self.give_back(&token, form.count);
                match fault {
                    IssueFault::Busy => busy(notice(StatusCode::SERVICE_UNAVAILABLE, "try again")),
                    IssueFault::Prefix => notice(StatusCode::BAD_REQUEST, "invalid pair prefix"),
                    IssueFault::Failed => {
                        notice(StatusCode::INTERNAL_SERVER_ERROR, "no label can be issued")
                    }
                }
            }
        }
    }

    /// The token of a request.
    fn token(&self, headers: &HeaderMap) -> Option<Token> {
        let value = headers.get(AUTHORIZATION)?.to_str().ok()?;
        let (scheme, secret) = value.trim_start().split_once(' ')?;
        let is_bearer = scheme.eq_ignore_ascii_case("Bearer");
        self.tokens().with_secret(secret.trim()).filter(|_| is_bearer).cloned()
    }

    /// The tokens as the file has them now. A look at it is a system call.
    fn tokens(&self) -> Arc<Tokens> {
        let version = self.file.version();
        let mut current = self.current.lock().unwrap_or_else(PoisonError::into_inner);
        if current.0 != version || version.is_none() {
            let tokens = self.file.read().unwrap_or_else(|error| {
                let error: &(dyn std::error::Error + 'static) = &error;
                tracing::error!(error, "the tokens cannot be read: none is valid");
                Tokens::default()
            });
            *current = (version, Arc::new(tokens));
        }
        Arc::clone(&current.1)
    }

    /// Takes `count` from the labels that a token has today, if that many are left.
    fn spend(&self, token: &Token, count: usize, now: Instant) -> bool {
        let Some(daily) = token.daily else { return true };
        let mut spent = self.spent.lock().unwrap_or_else(PoisonError::into_inner);
        let (day, sum) = spent.entry(token.name.clone()).or_default();
        let today = now.to_string().split('T').next().unwrap_or_default().to_owned();
        if *day != today {
            (*day, *sum) = (today, 0);
        }
        let is_within = *sum + count as u64 <= daily;
        *sum += if is_within { count as u64 } else { 0 };
        is_within
    }

    fn give_back(&self, token: &Token, count: usize) {
        let mut spent = self.spent.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, sum)) = spent.get_mut(&token.name) {
            *sum = sum.saturating_sub(count as u64);
        }
    }
}

impl LabelForm {
    /// Reads the pairs; the name of one that is wrong.
    fn of(body: &[u8]) -> Result<LabelForm, String> {
        let mut form = LabelForm { count: 1, has_ibips: false, prefix: None };
        let mut names = BTreeSet::new();
        let text = std::str::from_utf8(body).map_err(|_| "body".to_owned())?;
        for pair in text.trim_end().split('&').filter(|pair| !pair.is_empty()) {
            let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
            let value = decode_value(value).and_then(|value| String::from_utf8(value).ok());
            let value = value.unwrap_or_default();
            // The name goes into a notice.
            let wrong = || name.chars().filter(char::is_ascii_alphanumeric).take(32).collect();
            if !names.insert(name) {
                return Err(wrong());
            }
            match name {
                "count" => {
                    let count = value.parse().ok().filter(|count| (1..=MOST).contains(count));
                    form.count = count.ok_or_else(wrong)?;
                }
                "ibip" if ["yes", "no"].contains(&&*value) => form.has_ibips = value == "yes",
                "prefix" => form.prefix = Some(value.parse().map_err(|_| wrong())?),
                _ => return Err(wrong()),
            }
        }
        Ok(form)
    }
}

/// The labels, as the client takes them.
fn written(labels: &[Label], has_ibips: bool, headers: &HeaderMap) -> Answer {
    let ibip = |label: &Label| label.ibip.as_ref().filter(|_| has_ibips).map(ToString::to_string);
    if Accept::of(headers).prefers("application/json", "text/plain") {
        let record = |label: &Label| {
            let mut record = serde_json::Map::new();
            record.insert("name".to_owned(), label.name.to_string().into());
            if let Some(ibip) = ibip(label) {
                record.insert("ibip".to_owned(), ibip.into());
            }
            serde_json::Value::Object(record)
        };
        let records: serde_json::Value = labels.iter().map(record).collect();
        let answer = answer::whole(StatusCode::OK, "application/json", records.to_string());
        return answer::stored(answer, "no-store");
    }
    let line = |label: &Label| match ibip(label) {
        Some(ibip) => format!("{} {ibip}\n", label.name),
        None => format!("{}\n", label.name),
    };
    answer::text(StatusCode::OK, labels.iter().map(line).collect::<Vec<_>>().concat())
}

/// Seconds until the next day of UTC.
fn until_midnight(now: Instant) -> i128 {
    const DAY: i128 = 24 * 3600;
    DAY - (now.nanoseconds() / SECOND).rem_euclid(DAY)
}

/// Issues labels for the requests in the room, all that wait in one batch, until nobody can send one any more.
fn issue_batches(
    collection: &Collection,
    agent: &Agent,
    clock: &dyn Clock,
    options: &IssueOptions,
    mut room: mpsc::Receiver<LabelRequest>,
) {
    let mut issuers: Vec<(Option<Prefix>, Issuer<'_>)> = Vec::new();
    while let Some(first) = room.blocking_recv() {
        let mut waiting = vec![first];
        while waiting.len() < ROOM
            && let Ok(next) = room.try_recv()
        {
            waiting.push(next);
        }
        while let Some(prefix) = waiting.first().map(|request| request.prefix.clone()) {
            let (group, others): (Vec<_>, Vec<_>) =
                waiting.into_iter().partition(|request| request.prefix == prefix);
            waiting = others;
            let at = issuers.iter().position(|(own, _)| *own == prefix);
            let at = at.map_or_else(
                || {
                    let subsystem = prefix.as_ref().map(ToString::to_string);
                    let options = IssueOptions { subsystem, ..options.clone() };
                    issuers.push((prefix, Issuer::new(collection, agent, clock, &options)?));
                    Ok(issuers.len() - 1)
                },
                Ok::<_, CollectionError>,
            );
            match at {
                Ok(at) => issue_to(&mut issuers[at].1, group),
                Err(error) => refuse(group.into_iter().map(|it| it.reply), &error),
            }
        }
    }
}

/// Issues labels for requests in their order.
fn issue_to(issuer: &mut Issuer<'_>, group: Vec<LabelRequest>) {
    let mut open: Vec<(LabelRequest, Vec<Label>)> =
        group.into_iter().map(|request| (request, Vec::new())).collect();
    while !open.is_empty() {
        let missing = |(request, labels): &(LabelRequest, Vec<Label>)| request.count - labels.len();
        let wanted = open.iter().map(missing).sum::<usize>().min(BATCH);
        let labels = match issuer.mint(wanted) {
            Ok((labels, notices)) => {
                for notice in notices {
                    tracing::warn!(%notice, "labels");
                }
                labels
            }
            Err(error) => {
                return refuse(open.into_iter().map(|(request, _)| request.reply), &error);
            }
        };
        let mut labels = labels.into_iter();
        for entry in &mut open {
            let count = missing(entry);
            entry.1.extend(labels.by_ref().take(count));
        }
        let (done, left): (Vec<_>, Vec<_>) =
            open.into_iter().partition(|entry| missing(entry) == 0);
        open = left;
        for (request, labels) in done {
            // Who has left loses the labels: nobody else gets them.
            let _ = request.reply.send(Ok(labels));
        }
    }
}

/// Answers requests that get no labels.
fn refuse(
    replies: impl Iterator<Item = oneshot::Sender<Result<Vec<Label>, IssueFault>>>,
    error: &CollectionError,
) {
    let fault = match error {
        CollectionError::Distributor(
            DistributorError::TooLong { .. }
            | DistributorError::ClockBehind { .. }
            | DistributorError::Lock(LockError::Held { .. }),
        ) => IssueFault::Busy,
        CollectionError::NoSubsystem { .. } => IssueFault::Prefix,
        _ => IssueFault::Failed,
    };
    let error: &(dyn std::error::Error + 'static) = error;
    tracing::error!(error, "no labels");
    for reply in replies {
        let _ = reply.send(Err(fault));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bodies_are_read_strictly() {
        let form = |count, has_ibips| LabelForm { count, has_ibips, prefix: None };
        for (body, expected) in [
            ("", Ok(form(1, false))),
            ("count=1000&ibip=yes\n", Ok(form(1000, true))),
            ("ibip=no", Ok(form(1, false))),
            ("count=0", Err("count")),
            ("count=1001", Err("count")),
            ("count=1000000000", Err("count")),
            ("count", Err("count")),
            ("count=1%", Err("count")),
            ("count=1&count=1", Err("count")),
            ("ibip=yes&count=2&ibip=no", Err("ibip")),
            ("prefix=example.org/maps&prefix=example.org/maps", Err("prefix")),
            ("ibip=maybe", Err("ibip")),
            ("prefix=x", Err("prefix")),
            ("b}c%0d\r\n=1", Err("bc0d")),
        ] {
            let expected = expected.map_err(str::to_owned);
            assert_eq!(LabelForm::of(body.as_bytes()), expected, "{body}");
        }
        assert_eq!(LabelForm::of(b"\xff"), Err("body".to_owned()));
        let prefix = LabelForm::of(b"prefix=example.org/maps%40801").unwrap().prefix.unwrap();
        assert_eq!(prefix.to_string(), "example.org/maps@801");
    }

    #[test]
    fn a_day_ends_at_midnight_of_utc() {
        for (now, seconds) in [("2026-12-31T23:59:59.5Z", 1), ("2026-12-31T00:00:00Z", 86_400)] {
            assert_eq!(until_midnight(now.parse().unwrap()), seconds);
        }
    }
}
