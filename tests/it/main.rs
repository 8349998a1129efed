//! The one integration binary: a module a command or subject.

#![expect(clippy::unwrap_used, clippy::disallowed_methods, reason = "a test may fail by a panic")]

mod cli;
mod concurrency;
mod deposit;
mod distributor;
mod errors;
mod faults;
mod identity;
mod manual;
mod memory;
mod power;
mod readme;
mod repair;
mod sidecar;
mod support;
mod tidy;
mod verify;
