//! urepo keeps files in *uniform repositories* on ordinary file systems.
//!
//! Every deposited item gets a permanent identifier that needs no registry and no server, the IBI of
//! the ABNT/INPE standard: host name, port and UTC instant, which is also the item's path. This library
//! does all the work; the program `urepo` is a thin layer over it. The library has access to the clock, the
//! terminal and the environment only through its arguments.
//!
//! # Glossary
//!
//! - **item**: a deposited unit. **payload**: its files. **sidecar**: its `item.toml`.
//! - **collection**: a root directory with `urepo.toml`, which holds items.
//! - **identifier**: the name of an item; `name` in code. **IBIp**: its opaque form.
//! - **prefix**: the beginning of identifiers. **subsystem**: the issuer of the identifiers of a prefix.
//! - **Original**, **Copy**, **stub**, **tombstone**: the four states of an item. A stub is the sidecar of an item that is
//!   elsewhere, a tombstone that of a deleted one.
//! - **stage**: build beside the destination; also the directory for that. **draft**: an item being built there.
//!   **publish**: make visible in one step.
//! - **fixity**: being unchanged. **manifest**: the digests of a payload as text. **seal**: the digest of a
//!   sidecar, at its end.
//! - **ledger**: the record of what a collection should hold. **trash**: deleted and replaced items, whole, until they
//!   are purged.
//! - **memory**: the last date that a subsystem issued. **index**: a database of all items, derived from the
//!   sidecars.
//! - **version**: an opaque value that changes when a file or directory does.
//!
//! # The modules, in reading order
//!
//! The picture in `CONTRIBUTING.md` is drawn from the code.
//!
//! | module | subject | uses |
//! |---|---|---|
//! | [`identity`] | identifiers, instants, IBIp, and finding them in text | |
//! | [`digest`], [`progress`], [`interrupt`] | SHA-256 and checksums, progress reports, the stop flag | |
//! | [`clock`], [`wait`] | the time, waiting with a limit | identity, interrupt |
//! | [`item`] | entries of a payload, states, the manifest | digest, identity |
//! | [`custody`] | which collection has the Original: one rule; pure | identity |
//! | [`sidecar`] | `item.toml`: typed, sealed | custody, item |
//! | [`layout`] | paths in a collection | identity |
//! | [`disk`] | descriptors, locks, syncs: the only user of the file system | digest, progress, wait |
//! | `flow` | pipelines of many small jobs | disk |
//! | [`agent`] | who runs urepo, for logs and locks | disk |
//! | [`distributor`] | dates that are never issued twice | agent, layout |
//! | [`index`] | the database of items, and queries | disk, layout, sidecar |
//! | [`collection`] | open, init, list, find, issue, lock, recover | distributor, index |
//! | [`catalog`] | the index follows the ledger; answers from it | collection |
//! | [`export`] | writes items as directories, tar or bags, and their descriptions | collection, flow |
//! | [`holdings`] | which collections hold an item, and whether their Copies are current | collection |
//! | [`resolve`] | from persistent URLs to items, their metadata and their files | export, holdings |
//! | [`adopt`] | turns an existing tree into a collection | flow, holdings |
//! | [`verify`] | compares items with their sidecars, and collections with each other | flow, holdings |
//! | [`deposit`] | files become items | verify |
//! | [`import`] | many sources become items, each once | deposit |
//! | [`transfer`] | copies and migrates items between collections | verify |
//! | [`relation`] | relates items to each other, at both ends | amend |
//! | [`correction`] | corrects the descriptions of many items by the rows of a document | relation |
//! | [`removal`] | deletes items, leaves tombstones, restores | verify |
//! | [`promotion`] | a Copy becomes the Original of a lost collection, and back | verify |
//! | [`amend`] | changes the description of items | holdings |
//! | [`repair`] | repairs damaged items from good copies | verify |
//! | `web` | HTTP within limits; pages | resolve |
//! | `resolver` | persistent URLs lead to the archive that has the item | web |
//! | `serve` | collections on the web, as archives of the resolution standard | deposit, resolve, web |
//!
//! # On disk
//!
//! ```text
//! <root>/
//!   README                                  explains the layout without urepo
//!   urepo.toml                              the collection: id, name, subsystems
//!   .urepo/
//!     memory/<prefix>                       lock and memory of one prefix, in one file
//!     lock                                  shared by writers, held alone by recovery
//!     staging/<run>/                        items being built; locked while the run lives
//!     reserve/                              freed to delete on a full disk; may be removed
//!     partial/                              large items that are partly copied
//!     trash/                                deleted and replaced items, until they are purged
//!     ledger/000001.jsonl                   what happened, and so what should be here
//!     change.lock                           held while items change, and their lines are appended
//!     round                                 how far `verify` came; may be removed
//!   example.org/archive/2026/11.21.02.13/   an item: always four levels
//!     item.toml                             its sidecar
//!     doc/…                                 its payload, names kept
//! ```
//!
//! # Invariants
//!
//! - An identifier is issued after its date is synced, and printed after its item is synced.
//! - An item's directory appears whole and in one step. A new one replaces nothing; a replacement is
//!   exchanged with the old one, under the change lock.
//! - An existing item is changed only through a `LockedItem`, which was opened under the change lock.
//! - At every instant one collection holds the Original of an item, by the rule for readers.
//! - No path passes a symbolic link: everything is opened beneath an open descriptor.
//! - An I/O error never counts as absence. Data whose sync failed is discarded.

#![forbid(unsafe_code)]

pub mod adopt;
pub mod agent;
pub mod amend;
pub mod catalog;
pub mod clock;
pub mod collection;
pub mod correction;
pub mod custody;
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
pub mod relation;
pub mod removal;
pub mod repair;
pub mod resolve;
#[cfg(feature = "resolver")]
pub mod resolver;
#[cfg(feature = "serve")]
pub mod serve;
pub mod sidecar;
pub mod transfer;
pub mod verify;
pub mod wait;
#[cfg(feature = "web")]
pub mod web;
