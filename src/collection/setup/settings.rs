//! `urepo.toml`: the name of a collection and the subsystems that issue its identifiers.

use std::net::IpAddr;

use serde::{Deserialize, Deserializer};

use super::archive::ArchiveSettings;
use crate::collection::issue::spatial::{Spread, Takes};
use crate::distributor::Setting;
use crate::identity::{Host, IbipPrefix, ParseError, Prefix};

/// The version of the format that is written.
const FORMAT: u32 = 1;

/// The settings in `urepo.toml`. Unknown keys are refused: a misspelt setting must not pass unnoticed.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Settings {
    #[expect(dead_code, reason = "judged before the rest is read")]
    format: u32,
    /// The unique id of the collection, wherever it is copied or mounted.
    pub id: String,
    /// Its name for people.
    pub name: String,
    /// Whether names may be issued on a network file system.
    #[serde(default)]
    pub network: Network,
    /// How many Copies each Original of this collection should have in other collections.
    ///
    /// A wish, not a rule: `status` reports missing Copies, but nothing is refused.
    #[serde(default)]
    pub copies: u32,
    /// The choice among several subsystems that take an item.
    #[serde(default)]
    pub spread: Spread,
    /// The collection as an archive on the web.
    #[serde(default)]
    pub archive: ArchiveSettings,
    /// The subsystems that issue names here, the first one by preference.
    #[serde(default, rename = "subsystem")]
    pub subsystems: Vec<Subsystem>,
}

/// Keys of the collection that people may add at the end of the file, and so to its last subsystem by
/// mistake.
const KEYS: [&str; 3] = ["network", "copies", "spread"];

/// The key that decides whether the rest can be understood.
#[derive(Deserialize)]
struct FormatOnly {
    format: u32,
}

/// Whether names may be issued on a network file system, where locks may not reach far enough.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Network {
    /// No.
    #[default]
    Refuse,
    /// Yes: its locks are known to work between machines.
    Trusted,
}

/// An identification subsystem: a host and port, and its rules for issuing.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Subsystem {
    /// Its name for `--subsystem`; its prefix by default.
    pub name: Option<String>,
    /// The fully qualified host name.
    #[serde(deserialize_with = "host")]
    pub host: Host,
    /// The port; 80 is not written in names.
    #[serde(default = "http_port")]
    pub port: u16,
    /// The address that the IBIps of names are built from.
    pub ip: Option<IpAddr>,
    /// The port that they are built from; 800 is not written.
    #[serde(default = "ibip_port")]
    pub ip_port: u16,
    /// The granularity of dates.
    #[serde(default)]
    pub granularity: Setting,
    /// The machine that issues by it, if several share the collection.
    pub machine: Option<String>,
    /// The items that it issues names for; by default all that no other subsystem takes.
    pub takes: Option<Takes>,
}

fn host<'de, D: Deserializer<'de>>(input: D) -> Result<Host, D::Error> {
    let text = String::deserialize(input)?;
    text.parse().map_err(|error: ParseError| {
        serde::de::Error::custom(format!("{error}: {}", error.expected()))
    })
}

fn http_port() -> u16 {
    80
}

fn ibip_port() -> u16 {
    800
}

impl Subsystem {
    /// The subsystem of `host` with defaults.
    pub fn new(host: Host) -> Subsystem {
        Subsystem {
            name: None,
            host,
            port: http_port(),
            ip: None,
            ip_port: ibip_port(),
            granularity: Setting::Auto,
            machine: None,
            takes: None,
        }
    }

    /// The prefix of its names [Alg. 1].
    pub fn prefix(&self) -> Result<Prefix, ParseError> {
        Prefix::new(&self.host, self.port)
    }

    /// Whether it is the `wanted` one, by name or prefix, or none in particular is wanted.
    pub(crate) fn is_wanted(&self, wanted: Option<&str>) -> Result<bool, ParseError> {
        let Some(wanted) = wanted else { return Ok(true) };
        let by_name = self.name.as_deref() == Some(wanted);
        Ok(by_name || self.prefix()?.to_string().eq_ignore_ascii_case(wanted))
    }

    /// The prefix of the IBIps, if it has an address [Alg. 5].
    pub fn ibip_prefix(&self) -> Result<Option<IbipPrefix>, ParseError> {
        self.ip.map(|address| IbipPrefix::new(address, self.ip_port)).transpose()
    }
}

impl Settings {
    /// The settings of a new collection.
    pub fn new(id: String, name: String, subsystems: Vec<Subsystem>) -> Settings {
        Settings {
            format: FORMAT,
            id,
            name,
            network: Network::Refuse,
            copies: 0,
            spread: Spread::First,
            archive: ArchiveSettings::default(),
            subsystems,
        }
    }

    /// Reads `urepo.toml`; an error says line and column.
    pub fn read(text: &str) -> Result<Settings, String> {
        // A later format may have keys that this version does not know.
        if let Ok(FormatOnly { format }) = toml::from_str(text)
            && format != FORMAT
        {
            return Err(format!("it has format {format}; this urepo reads format {FORMAT}"));
        }
        let settings: Settings = toml::from_str(text).map_err(|error| {
            let start = error.span().map_or(0, |span| span.start.min(text.len()));
            let line = text[..start].matches('\n').count() + 1;
            match KEYS.iter().find(|key| error.message().contains(&format!("unknown field `{key}`"))) {
                Some(key) => format!(
                    "line {line}: `{key}` belongs above the first `[[subsystem]]`, as all below that is the subsystem's"
                ),
                None => format!("line {line}: {}", error.message().trim().replace('\n', ", ")),
            }
        })?;
        let id_is_hex = settings.id.bytes().all(|byte| byte.is_ascii_hexdigit());
        if settings.id.len() != 32 || !id_is_hex {
            return Err("`id` is not 32 hexadecimal digits".to_owned());
        }
        let (mut seen, mut addresses) = (Vec::new(), Vec::new());
        for subsystem in &settings.subsystems {
            let prefix = subsystem.prefix().map_err(|error| {
                format!("subsystem of {}: {}", subsystem.host, error.expected())
            })?;
            subsystem.ibip_prefix().map_err(|error| {
                format!("subsystem of {}: {}", subsystem.host, error.expected())
            })?;
            if seen.contains(&prefix) {
                return Err(format!("two subsystems have the prefix `{prefix}`"));
            }
            seen.push(prefix);
            if let Some(ip) = subsystem.ip {
                let address = (ip, subsystem.ip_port);
                if addresses.contains(&address) {
                    return Err(format!(
                        "two subsystems have the address {ip} and `ip_port` {}: their IBIps would \
                         be the same",
                        subsystem.ip_port
                    ));
                }
                addresses.push(address);
            }
        }
        let take_all = settings.subsystems.iter().filter(|it| it.takes.is_none()).count();
        if take_all == 0 && !settings.subsystems.is_empty() {
            return Err(
                "every subsystem has `takes`: one without it names all other items".to_owned()
            );
        }
        Ok(settings)
    }

    /// Prints a new `urepo.toml`, for people to edit.
    pub fn to_text(&self) -> String {
        use std::fmt::Write as _;
        use toml_writer::ToTomlValue as _;
        let mut text = format!(
            "# A collection of urepo. Edit with care, but do edit.\n\
             format = {FORMAT}\nid = \"{}\"  # never changes, wherever the collection goes\nname = {}\n",
            self.id,
            self.name.to_toml_value(),
        );
        let (comment, copies) = if self.copies > 0 { ("", self.copies) } else { ("# ", 1) };
        let _ =
            writeln!(text, "{comment}copies = {copies}  # of each Original, in other collections");
        if self.subsystems.is_empty() {
            text += "# Without a [[subsystem]] with a `host`, no identifiers are issued here.\n";
        }
        for subsystem in &self.subsystems {
            let Subsystem { host, port, ip, ip_port, granularity, .. } = subsystem;
            let _ = write!(text, "\n[[subsystem]]  # issues identifiers\nhost = \"{host}\"\n");
            let _ = writeln!(text, "port = {port}");
            if let Some(ip) = ip {
                let _ = writeln!(text, "ip = \"{ip}\"  # for the opaque twin, the IBIp");
                let _ = writeln!(text, "ip_port = {ip_port}");
            }
            let _ = writeln!(text, "granularity = \"{granularity}\"");
        }
        text
    }
}
