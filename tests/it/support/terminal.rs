//! A terminal, to see what is drawn on it.

use std::fs::File;

use rustix::io::Errno;
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{OptionalActions, OutputModes, Winsize, tcgetattr, tcsetattr, tcsetwinsize};

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

/// The same, so many columns wide, and without a change of what programs write.
pub(crate) fn wide_terminal(columns: u16) -> Option<(File, File)> {
    let (own, programs) = terminal()?;
    let size = Winsize { ws_row: 50, ws_col: columns, ws_xpixel: 0, ws_ypixel: 0 };
    tcsetwinsize(&programs, size).unwrap();
    let mut attributes = tcgetattr(&programs).unwrap();
    attributes.output_modes.remove(OutputModes::OPOST);
    tcsetattr(&programs, OptionalActions::Now, &attributes).unwrap();
    Some((own, programs))
}
