//! Tokens: who may have labels of an archive, of which prefix, and how many in a day.

use serde::{Deserialize, Serialize};

use crate::digest::Digest;
use crate::disk::random_hex;
use crate::identity::{Instant, Prefix};
use crate::web::private_file::{PrivateFile, PrivateFileError};

/// The file of tokens, in the state directory of a collection.
pub const TOKENS: &str = "tokens.toml";
/// The comment at its begin.
pub const TOKENS_HEADER: &str =
    "Who may have labels. `urepo serve token add`, `list` and `remove` change and show it.";

/// The file of tokens.
pub type TokensFile = PrivateFile<Tokens>;

/// The tokens of an archive.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Tokens {
    /// The tokens, in the order in which they were added.
    #[serde(default, rename = "token", skip_serializing_if = "Vec::is_empty")]
    pub tokens: Vec<Token>,
}

/// A token. Only its digest is stored: 256 random bits need no slow one.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Token {
    /// Its name, for its administrator.
    pub name: String,
    digest: String,
    /// The prefix of its labels, if it has no others.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub prefix: Option<Prefix>,
    /// The labels that it has in a day of UTC at most.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub daily: Option<u64>,
    /// When it was added.
    pub since: Instant,
}

/// Why tokens cannot be changed.
#[derive(Debug, thiserror::Error)]
pub enum TokenError {
    /// Their file cannot be read or changed.
    #[error(transparent)]
    File(#[from] PrivateFileError),
    /// There is a token of this name.
    #[error("there is a token `{0}` already")]
    Known(String),
    /// There is none.
    #[error("there is no token `{0}`")]
    Unknown(String),
}

impl Token {
    /// A new token, and its secret, which is shown once.
    pub fn draw(
        name: &str,
        prefix: Option<Prefix>,
        daily: Option<u64>,
        now: Instant,
    ) -> std::io::Result<(Token, String)> {
        let secret = random_hex::<32>()?;
        let digest = Digest::of(secret.as_bytes()).to_string();
        Ok((Token { name: name.to_owned(), digest, prefix, daily, since: now }, secret))
    }
}

impl Tokens {
    /// The token with this secret. Digests are compared: the time says nothing about a secret.
    pub fn with_secret(&self, secret: &str) -> Option<&Token> {
        let digest = Digest::of(secret.as_bytes()).to_string();
        self.tokens.iter().find(|token| token.digest == digest)
    }

    /// Adds a token.
    pub fn add(&mut self, token: Token) -> Result<(), TokenError> {
        if self.tokens.iter().any(|other| other.name == token.name) {
            return Err(TokenError::Known(token.name));
        }
        self.tokens.push(token);
        Ok(())
    }

    /// Removes a token, which counts at once.
    pub fn remove(&mut self, name: &str) -> Result<(), TokenError> {
        let at = self.tokens.iter().position(|token| token.name == name);
        self.tokens.remove(at.ok_or_else(|| TokenError::Unknown(name.to_owned()))?);
        Ok(())
    }
}
