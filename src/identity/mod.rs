//! Identifiers: reading, comparing and making them. Pure: no clock, no disk.
//!
//! An identifier is issued once, to one item, permanently. It names the *identification subsystem* (a host
//! and port) that issued it, and the instant at which it did, so it is unique without a registry. It comes in
//! two forms, stored side by side:
//!
//! - the uniform repository name ([`RepositoryName`]), which is also a path of four directories;
//! - the `IBIp` ([`Ibip`]), made of the subsystem's IP address, port and the seconds.
//!
//! ```
//! use urepo::identity::{Host, Ibip, IbipPrefix, Identifier, Instant, Prefix, RepositoryName};
//!
//! let date: Instant = "2009-02-16T17:46:00Z".parse()?;
//! let prefix = Prefix::new(&"mtc-m18.sid.inpe.br".parse::<Host>()?, 80)?;
//! let name = RepositoryName::new(&prefix, date)?;
//! assert_eq!(name.to_string(), "sid.inpe.br/mtc-m18/2009/02.16.17.46");
//!
//! let prefix = IbipPrefix::new("150.163.34.243".parse()?, 800)?;
//! let ibip = Ibip::new(&prefix, date).expect("a date after July 1995");
//! assert_eq!(ibip.to_string(), "8JMKD3MGP8W/34PGRBS");
//! assert_eq!(ibip.instant()?, name.instant());
//!
//! // People paste URLs and references; case does not matter.
//! let pasted = Identifier::read("<http://urlib.net/rep/sid.INPE.br/MTC-m18/2009/02.16.17.46>.")?;
//! assert_eq!(pasted, Identifier::from(name));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Files, in reading order
//!
//! | file | subject |
//! |---|---|
//! | `name`, `prefix`, `host` | the repository name and its parts |
//! | `host_port` | the address of a service on the web |
//! | `grammar`, `oddity` | Table 6.1, and how real names depart from it |
//! | `cursor`, `calendar` | dates: their digits, and whether they exist |
//! | `instant`, `rfc3339` | exact instants, and their text |
//! | `ibip`, `ibip_prefix`, `numeral` | the `IBIp`, and numbers in base 27 |
//! | `legacy` | labels from before 2009 |
//! | `identifier`, `pasted`, `scan` | any form, out of any text |
//! | `url` | persistent URLs, their verbs and modifiers |
//! | `language` | language tags, and choosing one by preference |
//! | `error`, `escape` | what is wrong with a text, and where |
//! | `folding`, `serial` | comparing without case; serde |
//!
//! # Errata of the standard
//!
//! - The dots inside the subdomain are kept [Alg. 1]: `prefix`.
//! - The leading zero of an address is kept [Alg. 5], and those of a fraction [Alg. 6], each as
//!   one leading `2`: `numeral`.
//! - `urepo` refuses port 0, years of more than nine digits, and parts of more than 255 bytes:
//!   `grammar`.

mod calendar;
mod cursor;
mod error;
mod escape;
mod exact_date;
mod folding;
mod grammar;
mod host;
mod host_port;
mod ibip;
mod ibip_prefix;
mod identifier;
mod instant;
mod language;
mod legacy;
mod name;
mod numeral;
mod oddity;
mod pasted;
mod prefix;
mod rfc3339;
mod scan;
mod serial;
mod url;

pub use calendar::Civil;
pub use error::ParseError;
pub use exact_date::ExactDate;
pub use host::Host;
pub use host_port::HostPort;
pub use ibip::Ibip;
pub use ibip_prefix::IbipPrefix;
pub use identifier::Identifier;
pub use instant::{Instant, MILLISECOND, SECOND};
pub use language::{Language, LanguagePreferences};
pub use legacy::LegacyLabel;
pub use name::{RepositoryName, is_suffix_leaf, parse_suffix};
pub use oddity::Oddity;
pub use pasted::Pasted;
pub use prefix::{Prefix, Separator};
pub use url::{
    FormatName, PersistentUrl, RequiredStatus, Selection, Verb, Verbs, decode_path, decode_value,
    encode_path, encode_value,
};
