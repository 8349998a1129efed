//! One command a file: its arguments, whose comments are the help, and what it does.

pub(crate) mod cat;
pub(crate) mod completions;
pub(crate) mod config;
pub(crate) mod copy;
pub(crate) mod delete;
pub(crate) mod doctor;
pub(crate) mod id;
pub(crate) mod import;
pub(crate) mod init;
pub(crate) mod list;
pub(crate) mod man;
pub(crate) mod manifest;
pub(crate) mod migrate;
pub(crate) mod mint;
pub(crate) mod new;
pub(crate) mod path;
pub(crate) mod purge;
pub(crate) mod recover;
pub(crate) mod refresh;
pub(crate) mod repair;
pub(crate) mod show;
pub(crate) mod status;
mod transfer;
pub(crate) mod verify;
pub(crate) mod whereis;
