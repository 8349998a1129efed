//! One command a file: its arguments, whose comments are the help, and what it does.

pub(crate) mod cat;
pub(crate) mod completions;
pub(crate) mod config;
pub(crate) mod doctor;
pub(crate) mod id;
pub(crate) mod init;
pub(crate) mod list;
pub(crate) mod man;
pub(crate) mod manifest;
pub(crate) mod mint;
pub(crate) mod new;
pub(crate) mod path;
pub(crate) mod recover;
pub(crate) mod repair;
pub(crate) mod show;
pub(crate) mod verify;
