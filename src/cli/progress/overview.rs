//! The line with the progress of a run.

use std::time::Duration;

use unicode_width::UnicodeWidthStr;

use crate::cli::human;
use crate::cli::table::cut;

/// The progress of a run.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Overview {
    /// Bytes done, and in total.
    pub bytes: Option<(u64, Option<u64>)>,
    /// Items or files done, and in total.
    pub count: Option<(u64, Option<u64>)>,
    /// The unit of the count.
    pub noun: &'static str,
    /// The number that a scan has found so far.
    pub scanned: Option<u64>,
    /// The speed per second.
    pub rate: Option<u64>,
    /// The remaining time.
    pub left: Option<Duration>,
}

/// Minimum width of the bar.
const NARROWEST: usize = 8;

impl Overview {
    /// The line, in at most `columns`. A narrow one has the essential parts only.
    pub(super) fn line(&self, columns: usize) -> String {
        let mut parts = self.parts();
        let width = |parts: &[(u8, String)]| {
            parts.iter().map(|(_, part)| part.width() + 2).sum::<usize>().saturating_sub(2)
        };
        while parts.len() > 1 && width(&parts) > columns {
            let least = parts.iter().enumerate().max_by_key(|(_, (rank, _))| *rank);
            let Some((least, _)) = least else { break };
            parts.remove(least);
        }
        let room = columns.saturating_sub(width(&parts) + 2);
        if let Some(bar) = self.bar(room) {
            parts.insert(1.min(parts.len()), (0, bar));
        }
        let texts: Vec<_> = parts.into_iter().map(|(_, part)| part).collect();
        cut(&texts.join("  "), columns)
    }

    /// The line while an interrupted run ends.
    pub(super) fn stopping(&self, columns: usize) -> String {
        let done = Overview { scanned: None, rate: None, left: None, ..*self };
        cut(&format!("stopping…  {}", done.text()), columns)
    }

    /// The known numbers, without the bar.
    pub(super) fn text(&self) -> String {
        self.parts().into_iter().map(|(_, part)| part).collect::<Vec<_>>().join(", ")
    }

    /// The parts of the line; those of a higher rank are dropped first.
    fn parts(&self) -> Vec<(u8, String)> {
        let mut parts = Vec::new();
        let of = |done: String, all: Option<String>| match all {
            Some(all) => format!("{done} of {all}"),
            None => done,
        };
        let is_begun = [self.bytes, self.count].iter().flatten().any(|(done, _)| *done > 0);
        if is_begun || self.scanned.is_none() {
            if let Some((done, all)) = self.bytes {
                parts.push((0, of(human::bytes(done), all.map(human::bytes))));
            }
            if let Some(rate) = self.rate {
                let rate = if self.bytes.is_some() { human::bytes(rate) } else { rate.to_string() };
                parts.push((3, format!("{rate}/s")));
            }
            if let Some(left) = self.left {
                parts.push((1, format!("{} left", human::duration(left))));
            }
            if let Some((done, all)) = self.count {
                let counted = match all {
                    Some(all) => format!("{done} of {}", human::count(all, self.noun)),
                    None => human::count(done, self.noun),
                };
                let rank = if self.bytes.is_some() { 2 } else { 0 };
                let at = if self.bytes.is_some() { parts.len() } else { 0 };
                parts.insert(at, (rank, counted));
            }
        }
        if let Some(found) = self.scanned {
            parts.push((4, format!("scanning… {}", human::count(found, self.noun))));
        }
        parts
    }

    fn bar(&self, columns: usize) -> Option<String> {
        let measured = |(done, all): (u64, Option<u64>)| Some((done, all?));
        let (done, all) = self.bytes.and_then(measured).or(self.count.and_then(measured))?;
        if columns < NARROWEST || all == 0 {
            return None;
        }
        let filled = u128::from(done.min(all)) * columns as u128 / u128::from(all);
        let filled = usize::try_from(filled).unwrap_or(columns);
        Some("█".repeat(filled) + &"░".repeat(columns - filled))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MIB: u64 = 1024 * 1024;

    #[test]
    fn a_line_fits_the_terminal_and_says_the_essential_first() {
        let measured = Overview {
            bytes: Some((300 * MIB, Some(1024 * MIB))),
            count: Some((120, Some(4000))),
            noun: "item",
            rate: Some(150 * MIB),
            left: Some(Duration::from_secs(5)),
            ..Overview::default()
        };
        let lines = [80, 60, 48, 30, 12].map(|columns| measured.line(columns));
        assert_eq!(
            lines,
            [
                "300 MiB of 1.0 GiB  █████░░░░░░░░░░░░░░░  150 MiB/s  5 s left  120 of 4000 items",
                "300 MiB of 1.0 GiB  150 MiB/s  5 s left  120 of 4000 items",
                "300 MiB of 1.0 GiB  5 s left  120 of 4000 items",
                "300 MiB of 1.0 GiB  5 s left",
                "300 MiB of …",
            ]
        );
        let scanning = Overview { scanned: Some(7), noun: "item", ..Overview::default() };
        assert_eq!(scanning.line(80), "scanning… 7 items");
        let counted = Overview {
            bytes: Some((MIB, None)),
            count: Some((1, None)),
            rate: Some(0),
            ..scanning
        };
        assert_eq!(counted.line(80), "1.0 MiB  0 B/s  1 item  scanning… 7 items");
        assert_eq!(counted.text(), "1.0 MiB, 0 B/s, 1 item, scanning… 7 items");
    }

    #[test]
    fn items_of_no_bytes_have_a_bar_too() {
        let empty = Overview { count: Some((5, Some(10))), noun: "item", ..Overview::default() };
        assert_eq!(empty.line(32), "5 of 10 items  ████████░░░░░░░░░");
    }
}
