//! Errors of sidecars.

/// Why a sidecar cannot be used. Lines and columns count from 1.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SidecarError {
    /// It is not UTF-8.
    #[error("byte {offset} is not UTF-8")]
    NotUtf8 {
        /// The offset of the first invalid byte, from 0.
        offset: usize,
    },
    /// It is not TOML, or a value has the wrong type.
    #[error("line {line}, column {column}: {message}")]
    Malformed {
        /// The line.
        line: usize,
        /// The column, in characters.
        column: usize,
        /// The fault.
        message: String,
    },
    /// It was written by a later urepo.
    #[error("it has format {found}; this urepo reads up to format {}", super::FORMAT)]
    NewerFormat {
        /// Its format.
        found: u32,
    },
    /// It is long, and not in the form that urepo writes.
    #[error("line {line}: a sidecar of more than 4 MiB is read only as urepo writes it")]
    TooLong {
        /// The first line in another form.
        line: usize,
    },
    /// No date is later than the last change, so none orders the next one.
    #[error("no date is later than {date}, its last change")]
    LastDate {
        /// The last change.
        date: crate::identity::Instant,
    },
    /// It has no custody that can be read again.
    #[error("`custody`: {0}")]
    Custody(#[from] crate::custody::CustodyError),
    /// A value breaks a rule beyond TOML.
    #[error("`{key}`: {reason}")]
    Value {
        /// The key.
        key: &'static str,
        /// The fault.
        reason: String,
    },
}

impl SidecarError {
    pub(super) fn value(key: &'static str, reason: impl std::fmt::Display) -> SidecarError {
        SidecarError::Value { key, reason: reason.to_string() }
    }

    /// The place and the fault of an error in `text`.
    pub(crate) fn malformed(text: &str, error: &toml::de::Error) -> SidecarError {
        let start = error.span().map_or(0, |span| span.start.min(text.len()));
        let before = &text.as_bytes()[..start];
        let line_start = before.iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
        SidecarError::Malformed {
            line: before.iter().filter(|byte| **byte == b'\n').count() + 1,
            column: String::from_utf8_lossy(&before[line_start..]).chars().count() + 1,
            message: error.message().trim().replace('\n', ", "),
        }
    }
}
