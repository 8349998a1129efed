//! Settings: command line, then environment, then collection, then the user's and the machine's file.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fmt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use etcetera::BaseStrategy;
use serde::Deserialize;

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
    max_wait: Option<String>,
    machine_id: Option<String>,
    state: Option<PathBuf>,
    /// Patterns of files that imports of directories leave out.
    exclude: Option<Vec<String>>,
    /// Names of collections and their paths.
    #[serde(default)]
    collections: BTreeMap<String, PathBuf>,
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
    pub(crate) max_wait: Option<Sourced<Duration>>,
    pub(crate) machine_id: Option<Sourced<String>>,
    /// The directory of the host state.
    pub(crate) state: Sourced<PathBuf>,
    /// The directory of the indexes; `None` for a user without a home.
    pub(crate) cache: Option<PathBuf>,
    /// The program that opens files.
    pub(crate) opener: Option<OsString>,
    /// Patterns of files that imports of directories leave out.
    pub(crate) exclude: Sourced<Vec<String>>,
    pub(crate) collections: BTreeMap<String, Sourced<PathBuf>>,
}

/// The same settings as flags of the command line.
#[derive(Clone, Debug, Default)]
pub(crate) struct Given {
    pub(crate) collection: Option<OsString>,
    pub(crate) jobs: Option<usize>,
    pub(crate) lock_wait: Option<Duration>,
}

/// The directory of the host state, where this user may write to it.
const MACHINE_STATE: &str = "/var/lib/urepo";

/// The default patterns that imports of directories leave out: files of systems and programs, and files that
/// are still being written. `*.tmp` is not among them: some programs keep data under that name.
pub(crate) const USUAL_EXCLUDES: [&str; 10] = [
    // macOS: view settings, and AppleDouble files with resource forks and Finder information.
    ".DS_Store",
    "._*",
    // Windows: previews and the look of a folder.
    "[Tt]humbs.db",
    "[Dd]esktop.ini",
    // Office programs: locks and unsaved parts of open documents.
    "~$*",
    "~*.tmp",
    ".~lock.*#",
    // Downloads and uploads that are not complete.
    "*.part",
    "*.filepart",
    "*.crdownload",
];

/// The default wait for a lock.
const DEFAULT_LOCK_WAIT: Duration = Duration::from_secs(10);

impl Config {
    pub(crate) fn load(
        given: &Given,
        variable: impl Fn(&str) -> Option<OsString>,
        files: &[PathBuf],
    ) -> Result<Config, Failure> {
        let files = read_all(files)?;
        let collections = collections(&files);
        let layers = Layers { variable: &variable, files: &files };
        let named = variable("UREPO_COLLECTION").filter(|path| !path.is_empty());
        let of_variable = |value| Sourced { value, origin: Origin::Variable("UREPO_COLLECTION") };
        let collection = (given.collection.clone())
            .map(|value| Sourced { value, origin: Origin::CommandLine })
            .or_else(|| named.map(of_variable))
            .or_else(|| collection_of(&files, &collections));
        let (jobs, lock_wait) = (given.jobs, given.lock_wait);
        let jobs = layers.find(jobs, "UREPO_JOBS", parse_jobs, |it| Some(it.jobs?.to_string()))?;
        let lock_wait =
            layers.find(lock_wait, "UREPO_LOCK_WAIT", parse_duration, |it| it.lock_wait.clone())?;
        let max_wait =
            layers.find(None, "UREPO_MAX_WAIT", parse_duration, |it| it.max_wait.clone())?;
        let machine_id =
            layers.find(None, "UREPO_MACHINE_ID", parse_machine_id, |it| it.machine_id.clone())?;
        // The path in a file is whole, and need not be UTF-8.
        let chosen = layers.find(None, "UREPO_STATE", parse_state, |_| None)?;
        let chosen = chosen.or_else(|| layers.in_files(|file| file.state.clone()));
        let usual = || Sourced { value: usual_state(&variable), origin: Origin::Default };
        let state = chosen.unwrap_or_else(usual);
        Ok(Config {
            collection,
            jobs: jobs.unwrap_or_else(|| Sourced {
                value: std::thread::available_parallelism().map_or(1, usize::from),
                origin: Origin::Default,
            }),
            lock_wait: lock_wait
                .unwrap_or(Sourced { value: DEFAULT_LOCK_WAIT, origin: Origin::Default }),
            max_wait,
            machine_id,
            state,
            cache: own_directory(&variable, "XDG_CACHE_HOME", |base| Some(base.cache_dir())),
            opener: variable("UREPO_OPENER").filter(|program| !program.is_empty()),
            exclude: layers.in_files(|file| file.exclude.clone()).unwrap_or_else(|| Sourced {
                value: USUAL_EXCLUDES.map(str::to_owned).to_vec(),
                origin: Origin::Default,
            }),
            collections,
        })
    }
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

fn read_all(paths: &[PathBuf]) -> Result<Vec<(PathBuf, File)>, Failure> {
    let mut files = Vec::new();
    for path in paths {
        let opened = urepo::disk::StoredFile::open(path, urepo::disk::Watcher::default());
        let bytes = match opened.and_then(|mut file| file.read_all(1024 * 1024)) {
            Ok(bytes) => bytes,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => continue,
            Err(error) => return Err(error.into()),
        };
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
    Ok(files)
}

/// The destination of a path in the file `settings`.
fn beside(settings: &Path, path: &Path) -> PathBuf {
    settings.parent().unwrap_or(Path::new("/")).join(path)
}

fn unusable(file: impl fmt::Display, reason: String) -> Failure {
    Failure::new(Exit::Failure, format!("cannot use the settings `{file}`")).caused_by(reason).hint(
        "the keys are collection, jobs, lock_wait, max_wait, machine_id, state, exclude and the \
             table [collections]",
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
