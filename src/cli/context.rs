//! The context of every command: settings, streams, clock, interrupt, agent.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsStr;
use std::path::{Component, Path, PathBuf};
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex, PoisonError};

use anstream::ColorChoice;
use signal_hook::SigId;
use urepo::agent::{Agent, Caller};
use urepo::clock::SystemClock;
use urepo::collection::{
    Collection, CollectionError, Founder, IssueOptions, IssuePurpose, LedgerStanding, NoteFault,
    StoredItem, Writer, discover,
};
use urepo::disk::{PathError, Watcher, resolved};
use urepo::distributor::{ClockTrust, HostState, Notice, Patience};
use urepo::identity::RepositoryName;
use urepo::interrupt::Interrupt;
use urepo::item::State;
use urepo::progress::Progress;
use urepo::transfer::RunMode;
use urepo::wait::Waiter;

use super::config::{self, Config, Given, Shown};
use super::escape;
use super::exit::Exit;
use super::explain::Explain as _;
use super::failure::Failure;
use super::global::Global;
use super::nearest::nearest;
use super::printer::{Printer, Purpose, Verbosity};
use super::progress::{self, Total, Unit};
use super::{agent, shell, typed};

/// The context of every command.
pub(crate) struct Context {
    pub(crate) printer: Printer,
    pub(crate) global: Global,
    pub(crate) config: Config,
    pub(crate) clock: SystemClock,
    pub(crate) interrupt: Interrupt,
    pub(crate) agent: Agent,
    pub(crate) current: PathBuf,
    ctrl_c: Mutex<CtrlC>,
    /// The number of items of the run, once it is known.
    total: Total,
    /// The roots of collections with two ids, the damaged notes about ledgers, and the places that cannot be read, that a
    /// warning has named.
    warned: Mutex<BTreeSet<PathBuf>>,
    /// Texts that mean no item, and why; without a text, a list or a place that could not be read.
    unresolved: Mutex<Vec<(String, Failure)>>,
    /// The names of collections of the settings that could not be opened.
    missing: Mutex<BTreeSet<String>>,
    /// The roots of the collections that the command line names: what is advised knows them as well.
    named: Mutex<Vec<PathBuf>>,
    /// Listed items without a payload, which are left out.
    left_out: Mutex<BTreeMap<RepositoryName, State>>,
}

impl Context {
    pub(crate) fn new(
        global: Global,
        config: Config,
        printer: Printer,
        command: &str,
    ) -> Result<Context, Failure> {
        let stop = catch_signals().map_err(|error| deaf(&error))?;
        let current = std::env::current_dir().map_err(|error| {
            Failure::new(Exit::Failure, "cannot find the current directory")
                .caused_by(error.to_string())
        })?;
        let machine_id = config.machine_id.as_ref().map(|found| found.value.clone());
        Ok(Context {
            printer,
            global,
            config,
            clock: SystemClock,
            interrupt: Interrupt::from_flag(Arc::clone(&stop)),
            ctrl_c: Mutex::new(CtrlC::catch(stop).map_err(|error| deaf(&error))?),
            agent: agent::this_process(command, machine_id),
            current,
            total: Total::default(),
            unresolved: Mutex::default(),
            missing: Mutex::default(),
            named: Mutex::default(),
            left_out: Mutex::default(),
            warned: Mutex::default(),
        })
    }

    /// Calls `work` while another program has the terminal, whose Ctrl-C is then not meant for urepo.
    pub(crate) fn without_ctrl_c<T>(&self, work: impl FnOnce() -> T) -> Result<T, Failure> {
        let mut ctrl_c = self.ctrl_c.lock().unwrap_or_else(PoisonError::into_inner);
        ctrl_c.ignore();
        let done = work();
        *ctrl_c = CtrlC::catch(Arc::clone(&ctrl_c.stop)).map_err(|error| deaf(&error))?;
        Ok(done)
    }

    /// Notes that `text` means no item, for the report of the run.
    pub(crate) fn note_unresolved(&self, text: &str, failure: Failure) {
        let mut unresolved = self.unresolved.lock().unwrap_or_else(PoisonError::into_inner);
        unresolved.push((text.to_owned(), failure));
    }

    /// Notes that a place cannot be read, for the report of the run: nothing is concluded from that. Each is named once.
    pub(crate) fn note_unread(&self, error: &PathError) {
        // A link is no error of the disk, and `verify` reports it.
        if !error.is_link() && self.is_first_warning_of(error.path()) {
            self.note_unresolved("", error.explain().in_common("places that cannot be read"));
        }
    }

    /// The notes since the last time.
    pub(crate) fn take_unresolved(&self) -> Vec<(String, Failure)> {
        std::mem::take(&mut *self.unresolved.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Notes that the collection `name` of the settings is out of sight, for the report of the run.
    pub(crate) fn note_missing(&self, name: &str) {
        let mut missing = self.missing.lock().unwrap_or_else(PoisonError::into_inner);
        missing.insert(name.to_owned());
    }

    /// The collections that were noted so far.
    pub(crate) fn missing(&self) -> Vec<String> {
        let missing = self.missing.lock().unwrap_or_else(PoisonError::into_inner);
        missing.iter().cloned().collect()
    }

    /// Notes that a list names an item that has no payload, for the report of the run.
    pub(crate) fn note_left_out(&self, name: RepositoryName, state: State) {
        let mut left_out = self.left_out.lock().unwrap_or_else(PoisonError::into_inner);
        left_out.insert(name, state);
    }

    /// The notes since the last time.
    pub(crate) fn take_left_out(&self) -> BTreeMap<RepositoryName, State> {
        std::mem::take(&mut *self.left_out.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// The collection in use: named, or around the current directory.
    pub(crate) fn collection(&self) -> Result<Collection, Failure> {
        match &self.config.collection {
            Some(named) => self.open_named(&named.value),
            None => Ok(self.open(&discover::enclosing(&self.current)?)?),
        }
    }

    /// Opens a collection by its name in the settings, or by its path.
    pub(crate) fn open_named(&self, named: impl AsRef<OsStr>) -> Result<Collection, Failure> {
        let named = named.as_ref();
        let opened = self.open(&self.collection_path(named)).map_err(|error| match error {
            CollectionError::NotACollection { .. } => self.with_names(named, error.into()),
            error => Failure::from(error),
        })?;
        let mut roots = self.named.lock().unwrap_or_else(PoisonError::into_inner);
        if !roots.iter().any(|root| root == opened.path()) {
            roots.push(opened.path().to_path_buf());
        }
        Ok(opened)
    }

    /// The roots of the collections that the command line names.
    pub(crate) fn named_roots(&self) -> Vec<PathBuf> {
        self.named.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// A text that is not a path may be a mistyped name. At a path, a disk may not be mounted.
    fn with_names(&self, named: &OsStr, failure: Failure) -> Failure {
        let names: Vec<&str> = self.config.collections.keys().map(String::as_str).collect();
        let is_name = |text: &&str| !text.contains('/') && !names.contains(text);
        let Some(text) = named.to_str().filter(|it| is_name(it) && !names.is_empty()) else {
            return failure;
        };
        let known: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
        let known = format!("`urepo status --settings` knows {}", known.join(", "));
        failure.hint(match nearest(text, &names) {
            Some(near) => format!("did you mean `{near}`? {known}"),
            None => known,
        })
    }

    /// The path of a collection named on the command line: a name from the settings, or a path.
    pub(crate) fn collection_path(&self, named: impl AsRef<OsStr>) -> PathBuf {
        let named = named.as_ref();
        match named.to_str().and_then(|name| self.config.collections.get(name)) {
            Some(known) => known.value.clone(),
            None => self.absolute(Path::new(named)),
        }
    }

    /// The name that the settings give to the collection at `path`, if it can be typed.
    pub(crate) fn name_of(&self, path: &Path) -> Option<&str> {
        let mut named = self.config.collections.iter();
        let (name, _) = named.find(|(_, known)| *known.value == *path)?;
        Some(name.as_str()).filter(|name| shell::word(name) == *name)
    }

    /// A word for the collection at `path` in a command.
    pub(crate) fn word_of(&self, path: &Path) -> String {
        self.name_of(path).map_or_else(|| shell::word(path), str::to_owned)
    }

    /// What people call `collection`: by the settings, or by its own name if no other one of `all` has that, or by its path.
    pub(crate) fn called<'c>(
        &self,
        collection: &Collection,
        all: impl IntoIterator<Item = &'c Collection>,
    ) -> String {
        let own = &collection.settings().name;
        let is_other =
            |it: &Collection| it.path() != collection.path() && it.settings().name == *own;
        match self.name_of(collection.path()) {
            Some(name) => name.to_owned(),
            None if self.config.collections.contains_key(own) || all.into_iter().any(is_other) => {
                collection.path().display().to_string()
            }
            None => own.clone(),
        }
    }

    /// What people call the collection with this id, which may be one of `all`.
    pub(crate) fn called_by_id<'c>(
        &self,
        id: &str,
        all: impl IntoIterator<Item = &'c Collection> + Clone,
    ) -> String {
        match all.clone().into_iter().find(|it| it.id() == id) {
            Some(found) => self.called(found, all),
            None => format!("a collection not in sight, id {}…", id.get(..6).unwrap_or(id)),
        }
    }

    /// The item that `text` refers to.
    pub(crate) fn item(&self, collection: &Collection, text: &str) -> Result<StoredItem, Failure> {
        Ok(collection.find(&typed::item(&self.current, text))?)
    }

    /// Opens the collection at `path`.
    pub(crate) fn open(&self, path: &Path) -> Result<Collection, CollectionError> {
        Ok(self.checked(Collection::open(path, &self.watcher())?))
    }

    /// The collection, as this run uses it, with a warning if its settings state another id than its ledger.
    pub(crate) fn checked(&self, collection: Collection) -> Collection {
        let collection = self.attended(collection);
        if let Some(stated) = collection.stated_id() {
            self.warn_of_id(&collection, stated);
        }
        collection
    }

    /// Says once that the ledger of `collection` has another id than its settings state.
    fn warn_of_id(&self, collection: &Collection, stated: &str) {
        if self.is_first_warning_of(collection.path()) {
            let (settings, root) = (collection.settings_path(), self.word_of(collection.path()));
            self.printer.warning(&format!(
                "`{}` has the id {stated}, the ledger beside it {}, which counts; nothing can be changed until `urepo \
                 -c {root} recover` has mended it",
                settings.display(),
                collection.id()
            ));
        }
    }

    /// The collection with the waiting and the warnings of this run.
    pub(crate) fn attended(&self, collection: Collection) -> Collection {
        let printer = self.printer.clone();
        let collection = match &self.config.cache {
            Some(cache) => collection.with_cache(cache),
            None => collection,
        };
        collection
            .with_waiter(self.waiter())
            .with_host_state(&self.host_state())
            .on_rebuild(move |rebuilt| printer.warning(&rebuilt.to_string()))
    }

    /// The watcher of file operations: outside of tests there is none.
    pub(crate) fn watcher(&self) -> Watcher {
        Watcher::default()
    }

    /// Warns of a language that the standard does not list.
    pub(crate) fn warn_of_language(&self, language: &str) {
        let language = escape::one_line(language);
        self.printer.warning(&format!(
            "`{language}` is kept, but it is not a language of ISO 639-1, such as `pt` or `pt-BR`: nothing \
             leads to it as a translation"
        ));
    }

    /// Waits for locks as long as `lock_wait` allows; signals end the wait.
    pub(crate) fn waiter(&self) -> Waiter<'static> {
        Waiter::new(&SystemClock, &self.interrupt, self.config.lock_wait.value)
    }

    /// The right to write in `collection`.
    pub(crate) fn writer(&self, collection: &Collection) -> Result<Writer, Failure> {
        self.check_twins(collection)?;
        if collection.has_ledger()? && self.is_put_back(collection)? {
            self.printer.warning(&put_back(collection));
        }
        Ok(collection.writer(&self.agent, &self.waiter())?)
    }

    /// The right to change items that are in `collection`. A ledger that was put back does not tell which changes of them are
    /// missing.
    pub(crate) fn writer_to_change(&self, collection: &Collection) -> Result<Writer, Failure> {
        self.check_ledger(collection)?;
        self.writer(collection)
    }

    /// Makes sure that the ledger of `collection` is the one that this machine wrote.
    pub(crate) fn check_ledger(&self, collection: &Collection) -> Result<(), Failure> {
        if collection.has_ledger()? && self.is_put_back(collection)? {
            return Err(Failure::new(Exit::Conflict, put_back(collection)).hint(format!(
                "`urepo -c {} recover --restored` accepts a backup that was put back",
                self.word_of(collection.path())
            )));
        }
        Ok(())
    }

    /// Whether no warning has named `path` yet.
    pub(crate) fn is_first_warning_of(&self, path: &Path) -> bool {
        let mut warned = self.warned.lock().unwrap_or_else(PoisonError::into_inner);
        warned.insert(path.to_path_buf())
    }

    /// Whether the ledger of `collection` was put back since this machine wrote it. Warns, once, where nothing shows that.
    pub(crate) fn is_put_back(&self, collection: &Collection) -> Result<bool, Failure> {
        let NoteFault { note, unread } = match collection.ledger_standing()? {
            LedgerStanding::Known => return Ok(false),
            LedgerStanding::PutBack => return Ok(true),
            LedgerStanding::Unknown(fault) => fault,
        };
        if self.is_first_warning_of(&note) {
            let what = unread
                .as_ref()
                .map_or("is damaged".to_owned(), |cause| format!("cannot be read ({cause})"));
            self.printer.warning(&format!(
                "`{}` {what}, in which this machine noted the end of the ledger: whether the ledger was put back is not known",
                note.display()
            ));
            // An error is no reason to accept anything.
            if unread.is_some() {
                return Ok(false);
            }
            self.printer.hint(&format!(
                "`urepo -c {} recover --restored` accepts the ledger as it is",
                self.word_of(collection.path())
            ));
        }
        Ok(false)
    }

    /// Warns of what a distributor noticed.
    pub(crate) fn warn_of(&self, notices: &[Notice]) {
        for notice in notices {
            self.printer.warning(&notice.to_string());
        }
    }

    /// Whether the run only plans.
    pub(crate) fn run_mode(&self) -> RunMode {
        if self.global.dry_run { RunMode::Plan } else { RunMode::Act }
    }

    /// The caller for engines, with `progress`.
    pub(crate) fn caller<'a>(&'a self, progress: &'a dyn Progress) -> Caller<'a> {
        Caller {
            agent: &self.agent,
            clock: &self.clock,
            wait: self.config.lock_wait.value,
            progress,
            interrupt: &self.interrupt,
        }
    }

    pub(crate) fn patience(&self) -> Patience {
        Patience {
            lock: self.config.lock_wait.value,
            date: self.config.max_wait.as_ref().map(|found| found.value),
        }
    }

    /// Options for issuing identifiers of any subsystem.
    pub(crate) fn issue_options(&self, trust: ClockTrust) -> IssueOptions {
        IssueOptions {
            subsystem: None,
            granularity: None,
            patience: self.patience(),
            trust,
            interrupt: self.interrupt.clone(),
            host_state: self.host_state(),
            purpose: if self.global.dry_run { IssuePurpose::Plan } else { IssuePurpose::Issue },
        }
    }

    /// The same for inspecting and raising memories.
    pub(crate) fn care_options(&self, trust: ClockTrust) -> IssueOptions {
        IssueOptions { purpose: IssuePurpose::Care, ..self.issue_options(trust) }
    }

    /// What this machine remembers of the prefixes that it issues.
    fn host_state(&self) -> HostState {
        HostState { dir: Some(self.state_dir()) }
    }

    /// The directory of the host state.
    pub(crate) fn state_dir(&self) -> PathBuf {
        self.absolute(&self.config.state.value)
    }

    /// The collections at `roots`, by path or name.
    pub(crate) fn opened(&self, roots: &[String]) -> Result<Vec<Collection>, Failure> {
        let open = |root: &String| self.open_named(root);
        roots.iter().map(open).collect()
    }

    /// The creator of a collection.
    pub(crate) fn founder<'a>(&'a self, names_from: &'a [Collection]) -> Founder<'a> {
        Founder {
            agent: &self.agent,
            clock: &self.clock,
            patience: self.patience(),
            host_state: self.host_state(),
            names_from,
            // One disk is no archive.
            copies: 1,
        }
    }

    /// Progress, as requested or by the kind of stderr.
    pub(crate) fn progress(&self) -> Box<dyn Progress> {
        self.progress_in(Unit::Bytes)
    }

    /// The same, in items or bytes.
    pub(crate) fn progress_in(&self, unit: Unit) -> Box<dyn Progress> {
        let terminal = self.printer.stderr_is_terminal();
        let dumb = std::env::var("TERM").is_ok_and(|term| term == "dumb");
        self.total.announce(Total::UNKNOWN);
        let total = self.total.clone();
        let shown = self.config.progress.value;
        if shown == Shown::Never || self.printer.verbosity == Verbosity::Quiet {
            Box::new(total)
        } else if terminal && !dumb && !self.printer.json {
            Box::new(progress::Shown::on_terminal(unit, total, &self.interrupt))
        } else if shown == Shown::Always {
            Box::new(progress::Shown::in_lines(self.printer.clone(), total))
        } else {
            Box::new(total)
        }
    }

    /// The number of items of the run, if it is known.
    pub(crate) fn total(&self) -> Option<u64> {
        self.total.get()
    }

    /// A path on the command line, made absolute and without `..`.
    ///
    /// Links in it stay as typed, unless a `..` has to be followed through them.
    pub(crate) fn absolute(&self, path: &Path) -> PathBuf {
        let path = self.current.join(path);
        if !path.components().any(|component| component == Component::ParentDir) {
            return path;
        }
        let of_parent = || Some(resolved(path.parent()?).ok()?.join(path.file_name()?));
        resolved(&path).ok().or_else(of_parent).unwrap_or(path)
    }
}

/// The words for a ledger of `collection` that is not the one this machine wrote.
pub(crate) fn put_back(collection: &Collection) -> String {
    let path = collection.path().display();
    format!(
        "`.urepo/ledger` of `{path}` was cut or put back, so that changes of its items may be missing"
    )
}

/// The settings, for the flags of a run.
pub(crate) fn config(global: &Global) -> Result<Config, Failure> {
    let given = Given { collection: global.collection.clone(), jobs: global.jobs };
    Config::load(&given, |name| std::env::var_os(name), &config::files())
}

pub(crate) fn printer(global: &Global, color: Shown, purpose: Purpose) -> Printer {
    let verbosity = match global {
        Global { quiet: true, .. } => Verbosity::Quiet,
        Global { verbose: 0, .. } => Verbosity::Normal,
        _ => Verbosity::Verbose,
    };
    let color = match color {
        Shown::Auto => ColorChoice::Auto,
        Shown::Always => ColorChoice::Always,
        Shown::Never => ColorChoice::Never,
    };
    Printer::new(verbosity, global.json, color, purpose)
}

/// The first signal requests a stop at the next safe point, the second ends the process at once. Returns the
/// flag that the first one sets.
fn catch_signals() -> std::io::Result<Arc<AtomicBool>> {
    use signal_hook::consts::{SIGHUP, SIGTERM, SIGXFSZ};
    // A write beyond the limit on file sizes should fail with its file name, instead of killing the process
    // silently.
    signal_hook::flag::register(SIGXFSZ, Arc::default())?;
    let stop = Arc::new(AtomicBool::new(false));
    for signal in [SIGTERM, SIGHUP] {
        catch(signal, &stop)?;
    }
    Ok(stop)
}

fn catch(signal: i32, stop: &Arc<AtomicBool>) -> std::io::Result<[SigId; 2]> {
    let code = i32::from(Exit::Interrupted.code());
    let second = signal_hook::flag::register_conditional_shutdown(signal, code, Arc::clone(stop))?;
    Ok([second, signal_hook::flag::register(signal, Arc::clone(stop))?])
}

fn deaf(error: &std::io::Error) -> Failure {
    Failure::new(Exit::Failure, "cannot listen for signals").caused_by(error.to_string())
}

/// The handler of Ctrl-C.
struct CtrlC {
    stop: Arc<AtomicBool>,
    actions: [SigId; 2],
}

impl CtrlC {
    fn catch(stop: Arc<AtomicBool>) -> std::io::Result<CtrlC> {
        Ok(CtrlC { actions: catch(signal_hook::consts::SIGINT, &stop)?, stop })
    }

    /// Without actions the signal does nothing. Programs that urepo starts have the default handler.
    fn ignore(&self) {
        for action in self.actions {
            signal_hook::low_level::unregister(action);
        }
    }
}

/// The name of the item that `text` refers to: one that is here, or vanished.
pub(crate) fn name_of_item(
    collection: &Collection,
    text: &str,
) -> Result<RepositoryName, CollectionError> {
    match collection.find(text) {
        Ok(item) => Ok(item.name().clone()),
        Err(CollectionError::Vanished { line, .. }) => Ok(line.id),
        Err(error) => Err(error),
    }
}
