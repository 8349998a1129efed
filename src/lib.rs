//! urepo.
#![forbid(unsafe_code)]
pub mod agent;
pub mod clock;
pub mod collection;
pub mod deposit;
pub mod digest;
pub mod disk;
pub mod distributor;
pub mod identity;
pub mod interrupt;
pub mod item;
pub mod layout;
pub mod progress;
pub mod sidecar;
pub mod verify;
