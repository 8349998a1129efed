//! The file system: the only part that uses `std::fs`.
//!
//! [`Dir`] is a directory held open; everything below it is reached through its descriptor, and no operation
//! follows a link ([`openat2`][man] where the kernel has it). [`StoredFile`] is a file held open, [`Lock`] a
//! kernel lock, [`copy`] reads each byte once and takes its digest on the way, [`SourceWalk`] walks the
//! sources of deposits. [`Dir::sync_trees`] decides how written data becomes durable. A [`Watch`] sees every
//! operation beforehand; the tests use it to make the n-th one fail.
//!
//! [man]: https://man7.org/linux/man-pages/man2/openat2.2.html
//!
//! # Limitations
//!
//! Written for Linux. A port to another system changes this folder only.

mod beneath;
pub mod copy;
mod descriptors;
mod dir;
mod durable;
mod entries;
mod error;
mod exclusion;
mod fidelity;
mod file;
mod holes;
mod lock;
mod magic;
mod names;
mod new_file;
mod page_cache;
mod paths;
mod publish;
mod random;
mod sharing;
mod source;
mod space;
mod stage;
mod stat;
mod stream;
mod synced_names;
mod tree;
mod umask;
mod version;
mod walk;
mod watch;

pub(crate) use descriptors::open_at_most;
pub use descriptors::raise_descriptor_limit;
pub use dir::Dir;
pub use entries::DirEntry;
pub(crate) use error::IoContext;
pub use error::{PathError, Shortage};
pub use exclusion::{Exclusion, ExclusionRule, PATTERN_FILE, Pattern, PatternError};
pub use fidelity::{Fidelity, ShownModes};
pub use file::StoredFile;
pub(crate) use holes::HoleWriter;
pub use lock::{DirLock, HeldBy, Holder, Lock, LockError, LockMode};
pub use new_file::NewFile;
pub(crate) use page_cache::{PageCacheDropper, WriteBack};
pub use paths::{NoPath, Paths};
pub(crate) use random::{random_bytes, random_hex};
pub(crate) use source::split;
pub use source::{BrokenLink, Links, SourceEntry, SourceWalk, resolved, stat_of};
pub(crate) use space::listed;
pub use space::{Room, panic_becomes_error, size_of_tree};
pub(crate) use stage::{Access, Stage, StageLock};
pub(crate) use stat::READ_ATTEMPTS;
pub use stat::{Attributes, FileFault, FileStat, Kind, may_write_into};
pub use stream::Stream;
pub(crate) use tree::TreeSize;
pub use umask::{take_umask, with_umask};
pub(crate) use version::Version;
pub(crate) use walk::Met;
pub use watch::{Feature, Operation, Watch, Watcher};
