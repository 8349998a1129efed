//! One command a file: its arguments, whose comments are the help, and what it does.

pub(crate) mod cat;
pub(crate) mod copy;
pub(crate) mod delete;
mod description;
pub(crate) mod export;
mod file;
pub(crate) mod generate;
mod given_up;
pub(crate) mod import;
pub(crate) mod init;
pub(crate) mod list;
pub(crate) mod log;
pub(crate) mod meta;
pub(crate) mod migrate;
pub(crate) mod mint;
pub(crate) mod new;
pub(crate) mod open;
pub(crate) mod promote;
pub(crate) mod purge;
pub(crate) mod recover;
pub(crate) mod relations;
mod removal;
pub(crate) mod repair;
pub(crate) mod resolve;
#[cfg(feature = "resolver")]
pub(crate) mod resolver;
pub(crate) mod restore;
#[cfg(feature = "serve")]
pub(crate) mod serve;
#[cfg(feature = "web")]
mod server;
pub(crate) mod show;
pub(crate) mod status;
mod table;
mod transfer;
pub(crate) mod verify;
