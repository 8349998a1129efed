//! Instants in TOML.

use serde::Deserialize;
use serde::de::{Deserializer, Error as _};

use crate::identity::{Instant, SECOND};

/// Years of TOML date-times: 0000 to 9999.
const SAYABLE: std::ops::Range<i128> = -62_167_219_200 * SECOND..253_402_300_800 * SECOND;

/// The instant as a TOML value: a date-time, or a string outside the years 0000 to 9999.
pub(super) fn to_value(instant: Instant) -> String {
    if SAYABLE.contains(&instant.nanoseconds()) {
        instant.to_string()
    } else {
        format!("\"{instant}\"")
    }
}

/// Reads a TOML date-time, or a string that holds one.
pub(super) fn deserialize<'de, D: Deserializer<'de>>(input: D) -> Result<Instant, D::Error> {
    let text = match toml::Value::deserialize(input)? {
        toml::Value::Datetime(datetime) => datetime.to_string(),
        toml::Value::String(text) => text,
        other => {
            let message = format!("expected a date and time in UTC, found {}", other.type_str());
            return Err(D::Error::custom(message));
        }
    };
    text.parse().map_err(|_| {
        D::Error::custom(format!(
            "expected a date and time in UTC, such as 2026-11-21T02:13:00Z, found \"{text}\""
        ))
    })
}

/// The same for a key that may be missing.
pub(super) fn deserialize_option<'de, D: Deserializer<'de>>(
    input: D,
) -> Result<Option<Instant>, D::Error> {
    deserialize(input).map(Some)
}
