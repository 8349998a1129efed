//! The states of the table of remedies, and how each is made.

/// A state of an item that begins as an Original in `archive`.
pub(super) struct State {
    pub(super) row: &'static str,
    /// How it is made, line by line: `cp`, `mv`, `rm` and `write` as in a shell; `kill`, a migration that is killed when its
    /// receiver has been named (`offered`) or has the item (`arrived`); all else is a command of urepo.
    pub(super) made: &'static str,
    /// The first row and command that are printed, or the collection to wait for. Where another collection comes first, nothing
    /// is printed for the row itself.
    pub(super) prints: &'static str,
    /// What is done next, in the same language, with `or`: the second line is typed. Then the commands are typed that are
    /// printed, until there is none.
    pub(super) ends: &'static [(&'static str, &'static str)],
}

/// A Copy became the Original while that was away, and both were changed.
const FORK: &str = "-c archive copy --all --to mirror
     mv archive away
     -c mirror promote ITEM --lost archive --yes
     -c mirror meta set ITEM title=InMirror
     mv mirror hidden
     mv away archive
     -c archive meta set ITEM title=InArchive
     mv hidden mirror";

pub(super) const STATES: &[State] = &[
    State {
        row: "1",
        made: "cp archive/.urepo old
            -c archive meta set ITEM title=Changed
            rm archive/.urepo
            mv old archive/.urepo",
        prints: "1 -c archive recover --restored",
        ends: &[("", "Original - -")],
    },
    State {
        row: "2a",
        made: "kill archive mirror offered",
        prints: "2a -c archive recover",
        ends: &[("", "Original - -")],
    },
    State {
        row: "2a",
        made: "kill archive mirror arrived",
        prints: "2a -c archive recover",
        ends: &[("", "Elsewhere Original -")],
    },
    State {
        row: "2b",
        made: "kill archive mirror offered
            mv mirror away",
        prints: "2b wait mirror",
        ends: &[("mv away mirror", "Original - -"), ("or\nmv away mirror", "Original - -")],
    },
    State {
        row: "2b",
        made: "kill archive mirror arrived
            mv mirror away",
        prints: "2b wait mirror",
        ends: &[("mv away mirror", "Elsewhere Original -")],
    },
    State {
        row: "2c",
        made: "kill archive mirror offered
            cp archive/ITEM ceded
            -c archive recover
            -c archive migrate ITEM --to mirror
            -c mirror migrate ITEM --to archive
            -c archive meta set ITEM title=Changed
            rm archive/ITEM
            mv ceded archive/ITEM",
        prints: "2c -c archive recover --accept-loss ITEM",
        ends: &[("", "Original Elsewhere -")],
    },
    State {
        row: "2d",
        made: "kill archive mirror arrived
            rm mirror/ITEM",
        prints: "7b -c mirror repair ITEM --from archive",
        ends: &[("", "Elsewhere Original -")],
    },
    State {
        row: "2d",
        made: "kill archive mirror arrived
            -c mirror meta set ITEM title=Changed
            -c mirror copy ITEM --to third
            rm mirror/ITEM",
        prints: "7b -c mirror repair ITEM --from third",
        ends: &[("", "Elsewhere Original Copy")],
    },
    State {
        row: "2e",
        made: "kill archive mirror arrived
            -c mirror meta set ITEM title=Changed
            rm mirror/ITEM",
        prints: "2e -c archive recover --accept-loss ITEM",
        ends: &[("", "Original Copy -")],
    },
    // On a machine that has not written this ledger.
    State {
        row: "3",
        made: "cp archive/.urepo old
            -c archive meta set ITEM title=Changed
            rm archive/.urepo
            mv old archive/.urepo
            rm .state",
        prints: "3 -c archive recover",
        ends: &[("", "Original - -")],
    },
    State {
        row: "4",
        made: "-c archive copy --all --to mirror
            cp archive/.urepo old
            -c archive meta set ITEM title=Changed
            rm archive/.urepo
            mv old archive/.urepo",
        prints: "1 -c archive recover --restored",
        ends: &[("", "Original Copy -")],
    },
    State {
        row: "5a",
        made: FORK,
        prints: "5a -c mirror promote ITEM --discard",
        ends: &[("", "Copy Original -"), ("or", "Original Copy -")],
    },
    // The other line was deleted since.
    State {
        row: "5a",
        made: "-c archive copy --all --to mirror
            mv archive away
            -c mirror promote ITEM --lost archive --yes
            -c mirror delete ITEM --force last --yes
            mv mirror hidden
            mv away archive
            -c archive meta set ITEM title=InArchive
            mv hidden mirror",
        prints: "5a -c archive promote ITEM --discard",
        ends: &[("", "Original Elsewhere -")],
    },
    State {
        row: "5b",
        made: "-c archive copy --all --to mirror
            mv archive away
            -c mirror promote ITEM --lost archive --yes
            -c mirror meta set ITEM title=InMirror
            mv mirror hidden
            mv away archive
            -c archive meta set ITEM title=InArchive
            kill archive third offered
            mv hidden mirror
            mv third away",
        prints: "2b wait third",
        ends: &[("mv away third", "Copy Original -"), ("or\nmv away third", "Copy Original -")],
    },
    State {
        row: "5c",
        made: "-c archive copy --all --to mirror
            -c archive copy --all --to third
            mv archive away
            -c third promote ITEM --lost archive --yes
            -c third meta set ITEM title=First
            -c third copy ITEM --to mirror
            cp mirror/ITEM night
            -c third meta set ITEM title=Second
            -c third copy ITEM --to mirror
            rm mirror/ITEM
            mv night mirror/ITEM
            mv third far
            mv mirror hidden
            mv away archive
            -c archive meta set ITEM title=InArchive
            mv hidden mirror",
        prints: "5c wait third",
        ends: &[
            ("mv far third", "Copy Copy Original"),
            ("or", "Copy Original -"),
            ("or\nmv far third", "Copy Original Copy"),
        ],
    },
    State {
        row: "6a",
        made: "-c archive copy --all --to mirror
            -c archive delete ITEM --yes
            -c archive copy --all --to mirror
            rm archive/ITEM",
        prints: "6a -c archive repair ITEM",
        ends: &[("", "Deleted Deleted -")],
    },
    State {
        row: "6a",
        made: "-c archive delete ITEM --force last --yes
            rm archive/ITEM",
        prints: "6a -c archive repair ITEM",
        ends: &[("", "Deleted - -")],
    },
    State {
        row: "6b",
        made: "-c archive copy --all --to mirror
            cp archive/ITEM night
            -c archive delete ITEM --yes
            -c archive copy --all --to mirror
            rm archive/ITEM
            mv night archive/ITEM
            rm archive/ITEM/item.toml",
        prints: "6b -c archive repair ITEM --from mirror",
        ends: &[("", "Deleted Deleted -")],
    },
    State {
        row: "6b",
        made: "cp archive/ITEM night
            -c archive delete ITEM --force last --yes
            rm archive/ITEM
            mv night archive/ITEM
            rm archive/ITEM/item.toml",
        prints: "6b -c archive repair ITEM",
        ends: &[("", "Deleted - -")],
    },
    State {
        row: "6c",
        made: "-c archive copy --all --to mirror
            cp archive/ITEM night
            -c archive delete ITEM --yes
            rm archive/ITEM
            mv night archive/ITEM",
        prints: "6c -c archive delete ITEM",
        ends: &[("", "Deleted Deleted -"), ("or", "Original Copy -")],
    },
    State {
        row: "6d",
        made: "-c archive copy --all --to mirror
            -c archive delete ITEM --yes
            rm archive/ITEM",
        prints: "6a -c archive repair ITEM",
        ends: &[("", "Deleted Deleted -")],
    },
    State {
        row: "6e",
        made: "-c archive copy --all --to mirror
            -c archive delete ITEM --yes",
        prints: "6e -c mirror copy ITEM --from archive",
        ends: &[("", "Deleted Deleted -")],
    },
    State {
        row: "6f",
        made: "cp archive/ITEM night
            -c archive migrate ITEM --to mirror
            -c mirror delete ITEM --force last --yes
            rm archive/ITEM
            mv night archive/ITEM",
        prints: "6f -c archive recover --with mirror",
        ends: &[("", "Deleted Deleted -")],
    },
    State {
        row: "7a",
        made: "-c archive migrate ITEM --to mirror
            rm archive/ITEM",
        prints: "7a -c archive repair ITEM",
        ends: &[("", "Elsewhere Original -")],
    },
    State {
        row: "7b",
        made: "-c archive copy --all --to mirror
            rm archive/ITEM",
        prints: "7b -c archive repair ITEM --from mirror",
        ends: &[("", "Original Copy -")],
    },
    State {
        row: "7b",
        made: "-c archive copy --all --to mirror
            rm archive/ITEM/doc/a.txt
            write archive/ITEM/doc/a.txt",
        prints: "7b -c archive repair ITEM --from mirror",
        ends: &[("", "Original Copy -")],
    },
    State {
        row: "7c",
        made: "-c archive copy --all --to mirror
            rm archive/ITEM
            mv mirror away
            -c archive recover --accept-loss ITEM --yes
            mv away mirror",
        prints: "7c -c archive repair ITEM --from mirror",
        ends: &[("", "Original Copy -")],
    },
    State {
        row: "7d",
        made: "cp archive/ITEM night
            -c archive meta set ITEM title=Changed
            -c archive copy --all --to mirror
            rm archive/ITEM
            mv night archive/ITEM",
        prints: "7d -c archive repair ITEM --from mirror",
        ends: &[("", "Original Copy -")],
    },
    State {
        row: "7e",
        made: "-c archive migrate ITEM --to mirror
            cp archive/ITEM night
            -c mirror migrate ITEM --to archive
            -c archive migrate ITEM --to third
            rm archive/ITEM
            mv night archive/ITEM",
        prints: "7e -c archive repair ITEM",
        ends: &[("", "Elsewhere Elsewhere Original")],
    },
    State {
        row: "7f",
        made: "cp archive/ITEM night
            -c archive migrate ITEM --to mirror
            rm archive/ITEM
            mv night archive/ITEM",
        prints: "7f -c archive recover --with mirror",
        ends: &[("", "Copy Original -")],
    },
    State {
        row: "7g",
        made: "-c archive copy --all --to mirror
            cp mirror/ITEM night
            -c archive meta set ITEM title=Changed
            -c archive copy --all --to mirror
            rm mirror/ITEM
            mv night mirror/ITEM",
        prints: "7g -c mirror copy ITEM --from archive",
        ends: &[("", "Original Copy -")],
    },
    State {
        row: "8a",
        made: "-c archive migrate ITEM --to mirror
            mv mirror away
            rm archive/ITEM",
        prints: "8a -c archive repair ITEM",
        ends: &[("", "Elsewhere - -"), ("type\nmv away mirror", "Elsewhere Original -")],
    },
    State {
        row: "8b",
        made: "-c archive copy --all --to mirror
            cp mirror/ITEM night
            -c archive meta set ITEM title=Changed
            -c archive copy --all --to mirror
            rm mirror/ITEM
            mv night mirror/ITEM
            mv archive away",
        prints: "8b wait archive",
        ends: &[
            ("mv away archive", "Original Copy -"),
            ("or", "- Original -"),
            ("or\nmv away archive", "Copy Original -"),
        ],
    },
    State {
        row: "9a",
        made: "cp archive/ITEM night
            -c archive meta set ITEM title=Changed
            rm archive/ITEM
            mv night archive/ITEM",
        prints: "9a -c archive recover --accept-loss ITEM",
        ends: &[("", "Original - -")],
    },
    State {
        row: "9b",
        made: "rm archive/ITEM/item.toml",
        prints: "9b -c archive repair ITEM --reseal",
        ends: &[("", "Original - -")],
    },
    State {
        row: "9c",
        made: "rm archive/ITEM",
        prints: "9c -c archive recover --accept-loss ITEM",
        ends: &[("", "- - -")],
    },
    State {
        row: "9d",
        made: "-c archive migrate ITEM --to mirror
            rm mirror/ITEM
            -c mirror recover --accept-loss ITEM --yes
            rm archive/ITEM",
        prints: "9d -c archive repair ITEM",
        ends: &[("", "Elsewhere - -")],
    },
    // The directory of another item, under a name that nobody has issued.
    State {
        row: "9e",
        made: "cp archive/ITEM archive/NEXT",
        prints: "9e -c archive recover --accept-loss NEXT",
        ends: &[("", "Original - -")],
    },
];
