//! The user of the command, for records.

use std::path::Path;

use urepo::agent::Agent;
use urepo::disk::{StoredFile, Watcher};

/// The users of the machine that are in a file.
const USERS: &str = "/etc/passwd";

/// Limit on the file; a larger one is not read.
const MAX_BYTES: u64 = 16 * 1024 * 1024;

/// The person and the machine: `archivist@vault`.
pub(crate) fn user_at_machine(agent: &Agent) -> String {
    format!("{}@{}", agent.user, agent.machine)
}

/// This process: who runs it, where, and as which command.
pub(crate) fn this_process(command: &str, machine_id: Option<String>) -> Agent {
    let user_id = rustix::process::geteuid().as_raw();
    let machine = rustix::system::uname().nodename().to_string_lossy().into_owned();
    let machine_id =
        machine_id.or_else(|| read_line("/etc/machine-id")).unwrap_or_else(|| machine.clone());
    Agent {
        process: std::process::id(),
        user: name_of(user_id),
        user_id,
        machine_id,
        machine,
        command: format!("urepo {command}"),
    }
}

/// The name of user `number`, or the number without a name.
fn name_of(number: u32) -> String {
    let users = StoredFile::open(Path::new(USERS), Watcher::default())
        .and_then(|mut file| file.read_all(MAX_BYTES))
        .unwrap_or_default();
    let name = find_name(&String::from_utf8_lossy(&users), number);
    name.unwrap_or_else(|| format!("user {number}"))
}

/// The name of user `number` in the text of [`USERS`].
fn find_name(users: &str, number: u32) -> Option<String> {
    users.lines().find_map(|line| {
        let mut fields = line.split(':');
        let name = fields.next()?;
        let is_meant = fields.nth(1)?.parse() == Ok(number);
        is_meant.then(|| name.to_owned())
    })
}

/// The text of a file of one line.
fn read_line(path: &str) -> Option<String> {
    let mut file = StoredFile::open(Path::new(path), Watcher::default()).ok()?;
    let text = String::from_utf8(file.read_all(4096).ok()?).ok()?;
    let line = text.trim();
    (!line.is_empty()).then(|| line.to_owned())
}

#[cfg(test)]
mod tests {
    #[test]
    fn names_of_users() {
        let users = "root:x:0:0::/root:/bin/sh\n# odd\nann:x:1000:100:Ann,,:/home/ann:/bin/sh\n";
        assert_eq!(super::find_name(users, 1000).as_deref(), Some("ann"));
        assert_eq!(super::find_name(users, 0).as_deref(), Some("root"));
        assert_eq!(super::find_name(users, 100), None);
    }
}
