//! A terminal, to see what is drawn on it.

use std::fs::File;

use rustix::io::Errno;
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{OptionalActions, OutputModes, Winsize, tcgetattr, tcsetattr, tcsetwinsize};

/// A terminal: its own side, and the side of programs. Nothing where there are no terminals, as in some
/// containers; on a CI, which sets `CI`, the test fails.
pub(crate) fn terminal() -> Option<(File, File)> {
    let flags = OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC;
    let own = match openpt(flags) {
        Err(Errno::NOENT | Errno::NODEV | Errno::NXIO | Errno::ACCESS)
            if std::env::var_os("CI").is_none() =>
        {
            return None;
        }
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

/// The lines that are on a terminal of so many columns after `text` was written to it.
pub(crate) fn screen(columns: usize, text: &str) -> Vec<String> {
    let mut rows: Vec<Vec<char>> = vec![Vec::new()];
    let (mut row, mut column) = (0, 0);
    let mut characters = text.chars();
    while let Some(character) = characters.next() {
        match character {
            '\r' => column = 0,
            '\n' => (row, column) = (row + 1, 0),
            '\u{1b}' => {
                let sequence = characters.by_ref().skip(1);
                let mut number = String::new();
                for end in sequence {
                    match end {
                        '0'..='9' => number.push(end),
                        'A' => row -= number.parse::<usize>().unwrap(),
                        'B' => row += number.parse::<usize>().unwrap(),
                        'K' => rows[row].clear(),
                        _ => panic!("an unknown sequence in {text:?}"),
                    }
                    if !end.is_ascii_digit() {
                        break;
                    }
                }
            }
            _ => {
                if column == columns {
                    (row, column) = (row + 1, 0);
                    rows.resize(rows.len().max(row + 1), Vec::new());
                }
                let line = &mut rows[row];
                line.resize(line.len().max(column + 1), ' ');
                line[column] = character;
                column += 1;
            }
        }
        rows.resize(rows.len().max(row + 1), Vec::new());
    }
    let lines = rows.into_iter().map(|row| row.into_iter().collect::<String>());
    lines.map(|line| line.trim_end().to_owned()).filter(|line| !line.is_empty()).collect()
}
