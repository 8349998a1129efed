//! Input that is read from front to end: a file, a pipe, or standard input.

use std::fs::File;
use std::io::{self, Read};
use std::os::fd::OwnedFd;
use std::path::Path;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::{Mode, OFlags};
use rustix::io::{Errno, retry_on_intr};

use super::{IoContext, PathError};
use crate::interrupt::Interrupt;
use crate::wait::{Interrupted, LONGEST_PAUSE};

/// Reads a file or pipe; a request to stop ends the wait for its next bytes.
///
/// After a signal, a plain `read` of a pipe is restarted (`SA_RESTART`), and would wait until the other side
/// ends. So each read polls first, for a short time.
#[derive(Debug)]
pub struct Stream {
    file: File,
    interrupt: Interrupt,
}

impl Stream {
    /// Opens the file or pipe `path`, such as `<(find …)`.
    pub fn open(path: &Path, interrupt: &Interrupt) -> Result<Stream, PathError> {
        // Without NONBLOCK, opening a named pipe waits until somebody writes to it.
        let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
        let fd = retry_on_intr(|| rustix::fs::open(path, flags, Mode::empty())).on("open", path)?;
        Ok(Stream::of(fd, interrupt))
    }

    /// Reads an open file, such as standard input.
    pub fn of(fd: OwnedFd, interrupt: &Interrupt) -> Stream {
        Stream { file: File::from(fd), interrupt: interrupt.clone() }
    }

    /// Waits for bytes, or for the end.
    fn wait(&self) -> io::Result<()> {
        let timeout = Timespec::try_from(LONGEST_PAUSE).map_err(io::Error::other)?;
        loop {
            if self.interrupt.requested() {
                return Err(io::Error::other(Interrupted));
            }
            match poll(&mut [PollFd::new(&self.file, PollFlags::IN)], Some(&timeout)) {
                Ok(0) | Err(Errno::INTR) => {}
                Ok(_) => return Ok(()),
                Err(error) => return Err(error.into()),
            }
        }
    }
}

impl Read for Stream {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        loop {
            self.wait()?;
            match self.file.read(buffer) {
                // Another reader of the same pipe was quicker.
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                outcome => return outcome,
            }
        }
    }
}
