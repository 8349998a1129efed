//! A terminal, to see what is drawn on it.

use std::fs::File;

use rustix::io::Errno;
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};

/// A terminal: its own side, and the side of programs. Nothing where there are no terminals, as in some
/// containers.
pub(crate) fn terminal() -> Option<(File, File)> {
    let flags = OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC;
    let own = match openpt(flags) {
        Err(Errno::NOENT | Errno::NODEV | Errno::NXIO | Errno::ACCESS) => return None,
        opened => opened.unwrap(),
    };
    grantpt(&own).unwrap();
    unlockpt(&own).unwrap();
    let path = ptsname(&own, Vec::new()).unwrap().into_string().unwrap();
    Some((own.into(), File::options().read(true).write(true).open(path).unwrap()))
}
