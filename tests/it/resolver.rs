//! The resolver: persistent URLs over connections, against scripted archives and our own.

mod both;
mod conversation;
mod front;
mod hostile;
mod inclusion;
mod scenarios;
mod scripted;
