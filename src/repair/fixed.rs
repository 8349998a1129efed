//! The values of an edited sidecar that are not meant to be edited: names, dates, and the origin.

use std::collections::BTreeSet;
use std::time::Duration;

use toml::Value;

use super::facts::{Written, has_target};
use crate::identity::Instant;
use crate::sidecar::{KeyChange, Sidecar};

/// A name has the minute of its deposit, or more of it; the sidecar is written a moment later.
const LONGEST_DEPOSIT: Duration = Duration::from_secs(120);

/// Keys of `[origin]` that concern one holding alone.
const HISTORY: [&str; 2] = ["removed", "restored"];

/// The verdicts on values outside the description.
#[derive(Debug, Default)]
pub(super) struct Judged {
    /// Keys with wrong values.
    pub damaged: Vec<String>,
    /// Values that nothing confirms.
    pub unproven: Vec<KeyChange>,
}

/// The verdict on a value.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Verdict {
    Vouched,
    Contradicted,
    Unknown,
}

impl Judged {
    fn add(&mut self, key: &str, value: Option<Value>, verdict: Verdict) {
        let key = key.to_owned();
        match verdict {
            Verdict::Contradicted => self.damaged.push(key),
            Verdict::Unknown if value.is_some() => {
                self.unproven.push(KeyChange { key, before: None, after: value });
            }
            _ => {}
        }
    }
}

/// Compares `own` with the sealed sidecars of the same item elsewhere, and with its name.
pub(super) fn judge(own: &Sidecar, sealed: &[&Written], now: Instant) -> Judged {
    let mut judged = Judged::default();
    let any = |is_same: &dyn Fn(&Sidecar) -> bool| match sealed {
        [] => Verdict::Unknown,
        _ if sealed.iter().any(|it| is_same(&it.sidecar)) => Verdict::Vouched,
        _ => Verdict::Contradicted,
    };
    let named = own.repository.instant();
    let ibip = |it: &Sidecar| it.ibip.as_ref().map(ToString::to_string);
    // Old archives issued some with another date.
    let is_adopted = own.origin.contains_key("adopted");
    let is_dated = |date: Instant| is_adopted || date.seconds() == named.seconds();
    let dated = own.ibip.as_ref().is_none_or(|it| it.instant().map_or(true, is_dated));
    let verdict = match any(&|it| ibip(it) == ibip(own)) {
        Verdict::Unknown if !dated => Verdict::Contradicted,
        verdict => verdict,
    };
    judged.add("ibip", ibip(own).map(Value::String), verdict);
    let is_created = own.created == named || own.created == own.timestamp;
    let is_near = own.created.duration_since(named).is_some_and(|it| it < LONGEST_DEPOSIT);
    let verdict = match any(&|it| it.created == own.created) {
        Verdict::Unknown if is_created && is_near => Verdict::Vouched,
        Verdict::Unknown if !is_near => Verdict::Contradicted,
        verdict => verdict,
    };
    judged.add("created", Some(date(own.created)), verdict);
    let verdict = match any(&|it| it.timestamp == own.timestamp) {
        Verdict::Unknown if own.timestamp == own.created => Verdict::Vouched,
        Verdict::Unknown if now < own.timestamp => Verdict::Contradicted,
        verdict => verdict,
    };
    // An Original is never older than its Copies.
    if verdict == Verdict::Vouched && sealed.iter().any(|it| own.changed() < it.sidecar.changed()) {
        judged.damaged.push("described".to_owned());
    }
    judged.add("timestamp", Some(date(own.timestamp)), verdict);
    let keys: BTreeSet<_> = sealed.iter().flat_map(|it| it.sidecar.origin.keys()).collect();
    for key in keys.into_iter().filter(|key| !own.origin.contains_key(*key)) {
        if !HISTORY.iter().any(|it| it == key) {
            judged.damaged.push(format!("origin.{key}"));
        }
    }
    for (key, value) in &own.origin {
        let theirs = sealed.iter().filter_map(|it| it.sidecar.origin.get(key));
        let verdict = theirs.fold(Verdict::Unknown, |verdict, theirs| {
            if verdict == Verdict::Vouched || theirs == value {
                Verdict::Vouched
            } else {
                Verdict::Contradicted
            }
        });
        judged.add(&format!("origin.{key}"), Some(value.clone()), verdict);
    }
    if !has_target(own) {
        judged.damaged.push("target".to_owned());
    }
    judged
}

fn date(instant: Instant) -> Value {
    let text = instant.to_string();
    text.parse().map_or(Value::String(text), Value::Datetime)
}
