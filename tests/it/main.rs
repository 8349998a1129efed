//! The one integration binary: a module a command or subject.

#![expect(clippy::unwrap_used, clippy::disallowed_methods, reason = "a test may fail by a panic")]

mod adopt;
mod amend;
mod cli;
mod concurrency;
mod deposit;
mod disk;
mod displaced;
mod distributor;
mod docs;
mod errors;
mod export;
mod faults;
mod file_systems;
mod histories;
mod holdings;
mod hostile;
mod identity;
mod import;
mod index;
mod ledger;
mod log;
mod manual;
mod memory;
mod own;
mod power;
mod promotion;
mod relation;
mod removal;
mod repair;
mod resolve;
mod resolver;
mod serve;
mod sidecar;
mod stages;
mod stopped;
mod storage_rules;
mod support;
mod tidy;
mod transfer;
mod unread;
mod users;
mod verify;
mod verify_roots;
mod waits;
