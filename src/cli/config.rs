//! Settings: command line, then environment, then collection, then the user's and the machine's file.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fmt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use etcetera::BaseStrategy;
use serde::Deserialize;
use urepo::identity::LanguagePreferences;

use super::exit::Exit;
use super::failure::Failure;
use super::human::parse_duration;

/// The keys of a settings file.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    collection: Option<String>,
    jobs: Option<i64>,
    lock_wait: Option<String>,
    peer_wait: Option<String>,
    max_wait: Option<String>,
    color: Option<String>,
    progress: Option<String>,
    /// Languages of translations that the user prefers, the best first.
    languages: Option<String>,
    opener: Option<String>,
    subsystem: Option<String>,
    machine_id: Option<String>,
    state: Option<PathBuf>,
    /// Patterns of files that imports of directories leave out.
    exclude: Option<Vec<String>>,
    /// Names of collections and their paths.
    #[serde(default)]
    collections: BTreeMap<String, PathBuf>,
    #[serde(default)]
    serve: Listening,
    #[serde(default)]
    resolver: Listening,
}

/// `[serve]` and `[resolver]`: where a server listens, and to whom.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Listening {
    /// The address and the port.
    pub(crate) listen: Option<String>,
    /// The networks of proxies in front, which name their clients.
    pub(crate) trust: Option<Vec<String>>,
    /// Limit on connections at a time.
    pub(crate) connections: Option<u32>,
    /// Limit on connections of one address that is not trusted.
    pub(crate) address_connections: Option<u32>,
}

/// The origin of a value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Origin {
    CommandLine,
    Variable(&'static str),
    File(PathBuf),
    Default,
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Origin::CommandLine => f.write_str("command line"),
            Origin::Variable(name) => f.write_str(name),
            Origin::File(path) => path.display().fmt(f),
            Origin::Default => f.write_str("default"),
        }
    }
}

/// A value and its origin.
#[derive(Clone, Debug)]
pub(crate) struct Sourced<T> {
    pub(crate) value: T,
    pub(crate) origin: Origin,
}

/// All settings, merged.
#[derive(Clone, Debug)]
pub(crate) struct Config {
    pub(crate) collection: Option<Sourced<OsString>>,
    pub(crate) jobs: Sourced<usize>,
    pub(crate) lock_wait: Sourced<Duration>,
    /// How long a neighbour may take to answer.
    pub(crate) peer_wait: Sourced<Duration>,
    pub(crate) max_wait: Option<Sourced<Duration>>,
    pub(crate) color: Sourced<Shown>,
    pub(crate) progress: Sourced<Shown>,
    /// Languages of translations that the user prefers, as in `Accept-Language`; those of the locale unless given.
    pub(crate) languages: Option<Sourced<String>>,
    /// The name or prefix of the subsystem that issues identifiers; each in its turn unless given.
    pub(crate) subsystem: Option<Sourced<String>>,
    pub(crate) machine_id: Option<Sourced<String>>,
    /// The directory of the host state.
    pub(crate) state: Sourced<PathBuf>,
    /// The directory of the indexes; `None` for a user without a home.
    pub(crate) cache: Option<PathBuf>,
    /// The program that opens files.
    pub(crate) opener: Option<Sourced<String>>,
    /// Patterns of files that imports of directories leave out.
    pub(crate) exclude: Sourced<Vec<String>>,
    pub(crate) collections: BTreeMap<String, Sourced<PathBuf>>,
    /// `[serve]` and `[resolver]`.
    pub(crate) serve: Listening,
    pub(crate) resolver: Listening,
    /// Why settings files that may exist were not read.
    pub(crate) unreached: Vec<String>,
}

/// The same settings as flags of the command line.
#[derive(Clone, Debug, Default)]
pub(crate) struct Given {
    pub(crate) collection: Option<OsString>,
    pub(crate) jobs: Option<usize>,
}

/// When something is shown that a terminal decides about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Shown {
    /// On a terminal.
    Auto,
    Always,
    Never,
}

impl fmt::Display for Shown {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Shown::Auto => "auto",
            Shown::Always => "always",
            Shown::Never => "never",
        })
    }
}

/// The directory of the host state, where this user may write to it.
const MACHINE_STATE: &str = "/var/lib/urepo";

/// The default patterns that imports of directories leave out: what systems and programs keep beside the files of people,
/// and files that are still being written. `*.tmp` is not among them: some programs keep data under that name. Directories
/// end with `/`, so that a file of such a name is taken.
pub(crate) const USUAL_EXCLUDES: [&str; 28] = [
    // macOS: view settings, and AppleDouble files with resource forks and Finder information.
    ".DS_Store",
    "._*",
    // macOS, at the top of a disk: search index, list of changes, trash.
    ".Spotlight-V100/",
    ".fseventsd/",
    ".Trashes/",
    // Windows: previews and the look of a folder.
    "[Tt]humbs.db",
    "[Dd]esktop.ini",
    // Windows, at the top of a disk: trash and restore points.
    "$R[Ee][Cc][Yy][Cc][Ll][Ee].B[Ii][Nn]/",
    "System Volume Information/",
    // Linux, at the top of a disk: trash of each user, and what `fsck` found.
    ".Trash-[0-9]*/",
    "lost+found/",
    // NAS: previews and trash of Synology, previews and trash of QNAP.
    "@eaDir/",
    "\\#recycle/",
    ".@__thumb/",
    "@Recycle/",
    // A file that was deleted while a program had it open, on NFS and on FUSE.
    ".nfs[0-9a-f][0-9a-f][0-9a-f][0-9a-f]*",
    ".fuse_hidden[0-9a-f]*",
    // Editors: swap files of vim and nano, of Kate, and locks and unsaved text of Emacs.
    ".*.sw[m-p]",
    ".*.kate-swp",
    ".#*",
    "\\#*#",
    // Office programs: locks and unsaved parts of open documents.
    "~$*",
    "~*.tmp",
    ".~lock.*#",
    // Downloads and uploads that are not complete.
    "*.part",
    "*.filepart",
    "*.crdownload",
    ".syncthing.*.tmp",
];

/// The default wait for a lock.
const DEFAULT_LOCK_WAIT: Duration = Duration::from_secs(10);

/// The default time that a neighbour may take to answer.
const DEFAULT_PEER_WAIT: Duration = Duration::from_secs(3);

impl Config {
    pub(crate) fn load(
        given: &Given,
        variable: impl Fn(&str) -> Option<OsString>,
        files: &[PathBuf],
    ) -> Result<Config, Failure> {
        type OfFile = fn(&File) -> Option<String>;
        let (files, unreached) = read_all(files)?;
        let collections = collections(&files);
        let layers = Layers { variable: &variable, files: &files };
        let named = variable("UREPO_COLLECTION").filter(|path| !path.is_empty());
        let of_variable = |value| Sourced { value, origin: Origin::Variable("UREPO_COLLECTION") };
        let collection = (given.collection.clone())
            .map(|value| Sourced { value, origin: Origin::CommandLine })
            .or_else(|| named.map(of_variable))
            .or_else(|| collection_of(&files, &collections));
        let jobs =
            layers.find(given.jobs, "UREPO_JOBS", parse_jobs, |it| Some(it.jobs?.to_string()))?;
        let wait = |name, of_file: OfFile| layers.find(None, name, parse_duration, of_file);
        let lock_wait = wait("UREPO_LOCK_WAIT", |it| it.lock_wait.clone())?;
        let peer_wait = wait("UREPO_PEER_WAIT", |it| it.peer_wait.clone())?;
        let max_wait = wait("UREPO_MAX_WAIT", |it| it.max_wait.clone())?;
        let shown = |name, of_file: OfFile| layers.find(None, name, parse_shown, of_file);
        let color = shown("UREPO_COLOR", |it| it.color.clone())?;
        let progress = shown("UREPO_PROGRESS", |it| it.progress.clone())?;
        let languages =
            layers.find(None, "UREPO_LANGUAGES", parse_languages, |it| it.languages.clone())?;
        let text =
            |name, of_file: OfFile| layers.find(None, name, |text| Ok(text.to_owned()), of_file);
        let opener = text("UREPO_OPENER", |it| it.opener.clone())?;
        let subsystem = text("UREPO_SUBSYSTEM", |it| it.subsystem.clone())?;
        let machine_id =
            layers.find(None, "UREPO_MACHINE_ID", parse_machine_id, |it| it.machine_id.clone())?;
        // The path in a file is whole, and need not be UTF-8.
        let chosen = layers.find(None, "UREPO_STATE", parse_state, |_| None)?;
        let chosen = chosen.or_else(|| layers.in_files(|file| file.state.clone()));
        let state = chosen.unwrap_or_else(|| usual(usual_state(&variable)));
        Ok(Config {
            collection,
            jobs: jobs.unwrap_or_else(|| {
                usual(std::thread::available_parallelism().map_or(1, usize::from))
            }),
            lock_wait: lock_wait.unwrap_or(usual(DEFAULT_LOCK_WAIT)),
            peer_wait: peer_wait.unwrap_or(usual(DEFAULT_PEER_WAIT)),
            max_wait,
            color: color.unwrap_or(usual(Shown::Auto)),
            progress: progress.unwrap_or(usual(Shown::Auto)),
            languages,
            subsystem,
            machine_id,
            state,
            cache: own_directory(&variable, "XDG_CACHE_HOME", |base| Some(base.cache_dir())),
            opener,
            exclude: (layers.in_files(|file| file.exclude.clone()))
                .unwrap_or_else(|| usual(USUAL_EXCLUDES.map(str::to_owned).to_vec())),
            collections,
            serve: layers.listening(|file| &file.serve),
            resolver: layers.listening(|file| &file.resolver),
            unreached,
        })
    }
}

/// The default `value`.
fn usual<T>(value: T) -> Sourced<T> {
    Sourced { value, origin: Origin::Default }
}

fn parse_languages(text: &str) -> Result<String, String> {
    let read = text.parse::<LanguagePreferences>();
    read.map(|_| text.to_owned()).map_err(|error| error.expected().to_owned())
}

fn parse_shown(text: &str) -> Result<Shown, String> {
    let all = [Shown::Auto, Shown::Always, Shown::Never];
    let meant = all.into_iter().find(|it| it.to_string() == text);
    meant.ok_or_else(|| "expected auto, always or never".to_owned())
}

pub(crate) fn parse_jobs(text: &str) -> Result<usize, String> {
    match text.parse() {
        Ok(jobs @ 1..=1024) => Ok(jobs),
        _ => Err("expected a number from 1 to 1024".to_owned()),
    }
}

/// Reads an identity that is valid in memories.
fn parse_machine_id(text: &str) -> Result<String, String> {
    match text.len() {
        1..=40 if text.bytes().all(|byte| byte.is_ascii_graphic()) => Ok(text.to_owned()),
        _ => Err("expected 1 to 40 printable ASCII characters without spaces".to_owned()),
    }
}

/// Reads the directory of the host state. With one for each current directory, two collections could issue the same
/// name.
fn parse_state(text: &str) -> Result<PathBuf, String> {
    let path = PathBuf::from(text);
    if path.is_absolute() { Ok(path) } else { Err("expected an absolute path".to_owned()) }
}

/// The default directory of the host state: that of the machine where this user may write to it, so that all users
/// share it, else the user's own.
fn usual_state(variable: impl Fn(&str) -> Option<OsString>) -> PathBuf {
    let machine = PathBuf::from(MACHINE_STATE);
    let is_root = rustix::process::geteuid().is_root();
    if is_root || urepo::disk::may_write_into(&machine) {
        return machine;
    }
    // Users without a home are warned when they issue.
    own_directory(variable, "XDG_STATE_HOME", BaseStrategy::state_dir).unwrap_or(machine)
}

/// The directory of urepo in the one that the variable `name` names, or in the usual one of the user.
fn own_directory(
    variable: impl Fn(&str) -> Option<OsString>,
    name: &str,
    usual: impl FnOnce(&etcetera::base_strategy::Xdg) -> Option<PathBuf>,
) -> Option<PathBuf> {
    let named = variable(name).map(PathBuf::from).filter(|home| home.is_absolute());
    let own = || usual(&etcetera::base_strategy::Xdg::new().ok()?);
    named.or_else(own).filter(|home| home.is_absolute()).map(|home| home.join("urepo"))
}

/// Where a setting is looked for after the command line.
struct Layers<'a, V> {
    variable: V,
    files: &'a [(PathBuf, File)],
}

impl<V: Fn(&str) -> Option<OsString>> Layers<'_, V> {
    /// The value that was given, or that of the variable `name`, or that of the first file that has it. A
    /// variable with an invalid value is never ignored.
    fn find<T>(
        &self,
        given: Option<T>,
        name: &'static str,
        parse: impl Fn(&str) -> Result<T, String>,
        of_file: impl Fn(&File) -> Option<String>,
    ) -> Result<Option<Sourced<T>>, Failure> {
        if let Some(value) = given {
            return Ok(Some(Sourced { value, origin: Origin::CommandLine }));
        }
        if let Some(text) = (self.variable)(name).filter(|text| !text.is_empty()) {
            let parsed = text.to_str().ok_or("it is not UTF-8".to_owned()).and_then(parse);
            let value = parsed.map_err(|reason| {
                let message = format!("the variable {name} says `{}`", text.display());
                Failure::usage(message).caused_by(reason)
            })?;
            return Ok(Some(Sourced { value, origin: Origin::Variable(name) }));
        }
        let Some(Sourced { value: text, origin }) = self.in_files(of_file) else { return Ok(None) };
        let value = parse(&text).map_err(|reason| {
            let key = name.trim_start_matches("UREPO_").to_lowercase();
            unusable(&origin, format!("`{key}` is `{text}`: {reason}"))
        })?;
        Ok(Some(Sourced { value, origin }))
    }

    fn listening(&self, of: fn(&File) -> &Listening) -> Listening {
        fn first<T>(mut values: impl Iterator<Item = Option<T>>) -> Option<T> {
            values.find_map(|value| value)
        }
        let all = || self.files.iter().map(|(_, file)| of(file));
        Listening {
            listen: first(all().map(|it| it.listen.clone())),
            trust: first(all().map(|it| it.trust.clone())),
            connections: first(all().map(|it| it.connections)),
            address_connections: first(all().map(|it| it.address_connections)),
        }
    }

    fn in_files<T>(&self, value: impl Fn(&File) -> Option<T>) -> Option<Sourced<T>> {
        self.files.iter().find_map(|(path, file)| {
            Some(Sourced { value: value(file)?, origin: Origin::File(path.clone()) })
        })
    }
}

/// The collection in a settings file: a name, or a path relative to the file.
fn collection_of(
    files: &[(PathBuf, File)],
    collections: &BTreeMap<String, Sourced<PathBuf>>,
) -> Option<Sourced<OsString>> {
    files.iter().find_map(|(path, file)| {
        let name = file.collection.as_deref()?;
        let is_name = collections.contains_key(name);
        let value = if is_name { name.into() } else { beside(path, Path::new(name)).into() };
        Some(Sourced { value, origin: Origin::File(path.clone()) })
    })
}

fn collections(files: &[(PathBuf, File)]) -> BTreeMap<String, Sourced<PathBuf>> {
    let mut collections = BTreeMap::new();
    for (path, file) in files.iter().rev() {
        for (name, root) in &file.collections {
            let found = Sourced { value: root.clone(), origin: Origin::File(path.clone()) };
            collections.insert(name.clone(), found);
        }
    }
    collections
}

/// Settings files with their paths, and warnings about others.
type ReadFiles = (Vec<(PathBuf, File)>, Vec<String>);

/// The files at `paths` that can be opened, and warnings about those that may exist nevertheless.
///
/// Settings are optional, and the reasons why a path leads nowhere are many: the home of a daemon is `/dev/null`, belongs
/// to root under `sudo -u`, or was on a file server that is down. A file that opens has to be correct.
fn read_all(paths: &[PathBuf]) -> Result<ReadFiles, Failure> {
    use std::io::ErrorKind::{NotADirectory, NotFound};
    let (mut files, mut unreached) = (Vec::new(), Vec::new());
    for path in paths {
        let opened = urepo::disk::StoredFile::open(path, urepo::disk::Watcher::default());
        let mut opened = match opened {
            Ok(opened) => opened,
            // Both prove that there is no such file.
            Err(error) if matches!(error.kind(), NotFound | NotADirectory) => continue,
            Err(error) => {
                let cause = std::error::Error::source(&error).map(ToString::to_string);
                let (path, cause) = (path.display(), cause.unwrap_or_default());
                unreached.push(format!("the settings `{path}` are not used: {cause}"));
                continue;
            }
        };
        let bytes = opened.read_all(1024 * 1024)?;
        let text = String::from_utf8(bytes).map_err(|error| {
            unusable(path.display(), format!("it is not UTF-8: {}", error.utf8_error()))
        })?;
        let mut file: File = toml::from_str(&text).map_err(|error: toml::de::Error| {
            let start = error.span().map_or(0, |span| span.start.min(text.len()));
            let line = text[..start].matches('\n').count() + 1;
            unusable(path.display(), format!("line {line}: {}", error.message()))
        })?;
        if file.state.as_ref().is_some_and(|state| state.as_os_str().is_empty()) {
            return Err(unusable(path.display(), "`state` is empty".to_owned()));
        }
        let paths = file.collections.values_mut();
        paths.chain(&mut file.state).for_each(|found| *found = beside(path, found));
        files.push((path.clone(), file));
    }
    Ok((files, unreached))
}

/// The destination of a path in the file `settings`.
fn beside(settings: &Path, path: &Path) -> PathBuf {
    settings.parent().unwrap_or(Path::new("/")).join(path)
}

fn unusable(file: impl fmt::Display, reason: String) -> Failure {
    Failure::new(Exit::Failure, format!("cannot use the settings `{file}`")).caused_by(reason).hint(
        "the keys are collection, jobs, lock_wait, peer_wait, max_wait, color, progress, languages, opener, subsystem, \
             machine_id, state, exclude and the tables [collections], [serve] and [resolver]",
    )
}

/// The user's file, then the machine's.
pub(crate) fn files() -> Vec<PathBuf> {
    use etcetera::BaseStrategy;
    let own = etcetera::choose_base_strategy().ok().map(|base| base.config_dir());
    own.into_iter()
        .map(|dir| dir.join("urepo/config.toml"))
        .chain([PathBuf::from("/etc/urepo/config.toml")])
        .collect()
}
