//! Exit codes: documented, stable, each one tested.

/// The end of a command. The closing JSON record has the same number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Exit {
    Success = 0,
    Failure = 1,
    Usage = 2,
    Partial = 3,
    NoCollection = 10,
    Locked = 11,
    Damage = 20,
    NoItem = 21,
    Deleted = 22,
    Conflict = 23,
    WouldWait = 24,
    Interrupted = 130,
}

impl Exit {
    /// The number.
    pub(crate) fn code(self) -> u8 {
        self as u8
    }
}

#[cfg(test)]
mod tests {
    /// The page is written by hand.
    #[test]
    fn every_code_stands_in_the_manual() {
        let page = include_str!("../../man/urepo.7");
        let codes = include_str!("exit.rs").lines().filter_map(|line| {
            line.strip_prefix("    ")?.strip_suffix(',')?.split_once(" = ").map(|(_, code)| code)
        });
        let mut count = 0;
        for code in codes {
            count += 1;
            assert!(page.contains(&format!("\n.TP\n.B {code}\n")), "{code}");
        }
        assert!(count > 10, "{count}");
    }
}
