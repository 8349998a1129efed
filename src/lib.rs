//! urepo keeps files in *uniform repositories* on ordinary file systems.
//!
//! Every deposited item gets a permanent identifier that needs no registry and no server, the IBI of
//! the ABNT/INPE standard: host name, port and UTC instant, which is also the item's path. This library
//! does all the work; the program `urepo` is a thin layer over it. It touches neither terminal, nor
//! clock, nor environment, nor current directory, but through what it is handed.
//!
//! # The modules, in reading order
//!
//! | module | subject | knows |
//! |---|---|---|
//! | [`identity`] | names, instants, opaque twins, and reading them out of text | nothing |
//! | [`digest`], [`progress`], [`interrupt`], [`clock`], [`wait`], [`agent`] | what everyone needs | identity |
//! | [`item`] | entries of a payload, states, the manifest | identity, digest |
//! | [`sidecar`] | `item.toml`: typed, sealed | item |
//! | [`layout`] | where things are in a collection | identity |
//! | `flow` | many small jobs in two stages | nothing |
//! | [`disk`] | descriptors, locks, syncs: the only user of the file system | identity, digest |
//! | [`distributor`] | dates that are never given twice | disk |
//! | [`index`] | records of items in a database, and queries | sidecar, disk |
//! | [`collection`] | open, init, list, find, issue, lock, recover | all above |
//! | [`catalog`] | the index brought up to what is there, and its answers | collection |
//! | [`holdings`] | which collections hold an item, and are its Copies current? | collection |
//! | [`adopt`] | a tree that is there already becomes a collection | holdings |
//! | [`verify`] | is a collection what its sidecars say, do several agree? | collection |
//! | [`deposit`] | files become items | verify |
//! | [`import`] | many sources become items, each once | deposit |
//! | [`transfer`] | copy and migrate between collections | verify, holdings |
//! | [`export`] | items leave: directories, tar, bags, and their descriptions | collection |
//! | [`removal`] | items go, leave tombstones, and come back | verify, holdings |
//! | [`promotion`] | a Copy becomes the Original of a lost collection, and back | verify, holdings |
//! | [`repair`] | damaged items are mended from good copies | verify |
//!
//! # On disk
//!
//! ```text
//! <root>/
//!   README                                  all of this, for somebody without urepo
//!   urepo.toml                              the collection: id, name, subsystems
//!   .urepo/
//!     distributor/<prefix>.lock             lock and memory of one prefix, in one file
//!     lock                                  shared by writers, held alone by recovery
//!     locks/00…ff                           on items that exist, while they are changed
//!     staging/<run>/                        items in the making; locked while the run lives
//!     reserve/                              given up to delete on a full disk; may be removed
//!     partial/                              large items of which a part has been copied
//!     journal/                              hand-overs and deletions under way
//!     trash/                                what was deleted or mended, until it is purged
//!     import/ledger                         which source became which item
//!     inventory/<prefix>+<year>             what should be here, and where what left has gone
//!     log/YYYY-MM.jsonl                     what happened; may be removed
//!     index.sqlite                          what is known of all items; may be removed
//!     index.lock  index.making              for who uses it, and who makes it
//!     index.stale                           it has missed something
//!     rebuild.lock                          for who rebuilds what is missing here
//!     verified/<prefix>+<year>              when each item was last verified; may be removed
//!   example.org/archive/2026/11.21.02.13/   an item: four levels, always
//!     item.toml                             its sidecar
//!     doc/…                                 its payload, names kept
//! ```
//!
//! # Invariants
//!
//! - A name leaves the distributor after its date is synced, and is printed after its item is.
//! - An item's directory appears in one step, whole. A new one replaces nothing; one that takes the
//!   place of another is swapped with it, under the lock of the item.
//! - At every instant one collection holds the Original of an item, by the rule for readers.
//! - Nothing is reached by a path that could pass a link: everything is beneath an open descriptor.
//! - An I/O error is an error, never absence; a failed sync condemns what it was to sync.

#![forbid(unsafe_code)]

pub mod adopt;
pub mod agent;
pub mod catalog;
pub mod clock;
pub mod collection;
pub mod deposit;
pub mod digest;
pub mod disk;
pub mod distributor;
pub mod export;
mod flow;
pub mod holdings;
pub mod identity;
pub mod import;
pub mod index;
pub mod interrupt;
pub mod item;
pub mod layout;
pub mod progress;
pub mod promotion;
pub mod removal;
pub mod repair;
pub mod sidecar;
pub mod transfer;
pub mod verify;
pub mod wait;
