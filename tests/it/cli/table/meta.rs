//! The rows of `meta` and `relate`.

use super::rows::{Json, Purpose, Row};
use crate::support::World;

/// How many items of the archive have `line` in their sidecars.
fn with_line(world: &World, line: &str) -> usize {
    let entries = walkdir::WalkDir::new(world.path("archive")).into_iter().map(Result::unwrap);
    let sidecars = entries.filter(|entry| entry.file_name() == "item.toml");
    let texts = sidecars.map(|entry| std::fs::read_to_string(entry.path()).unwrap());
    texts.filter(|text| text.lines().any(|it| it == line)).count()
}

/// Whether an item has a next edition.
fn is_related(world: &World) -> bool {
    let entries = walkdir::WalkDir::new(world.path("archive")).into_iter().map(Result::unwrap);
    let mut sidecars = entries.filter(|entry| entry.file_name() == "item.toml");
    sidecars.any(|entry| std::fs::read_to_string(entry.path()).unwrap().contains("next_edition"))
}

pub(super) const ROWS: &[Row] = &[
    Row {
        command: "meta-set",
        before: &[],
        well: "-c archive meta set A next_edition=B",
        bad: &[
            ("-c archive meta set NONE next_edition=A", 21),
            ("-c archive meta set A metadata=A", 23),
            ("-c archive meta set -y A B metadata=A", 3),
            ("-c archive meta set A metadata-=", 2),
        ],
        json: Json::Run,
        purpose: Purpose::Work(is_related),
    },
    Row {
        command: "meta-set",
        before: &[],
        well: "-c archive meta set -y A B title=Letter",
        bad: &[
            ("-c archive meta set -y A NONE title=Letter", 3),
            ("-c archive meta set NONE title=Letter", 21),
        ],
        json: Json::Run,
        purpose: Purpose::Work(|world| with_line(world, "title = \"Letter\"") == 2),
    },
    Row {
        command: "meta-set",
        before: &["-c archive meta set -y A B title=Letter"],
        well: "-c archive meta set -y A B title= creator+=Ana",
        bad: &[("-c archive meta set -y A NONE title= creator+=Ana", 3)],
        json: Json::Run,
        purpose: Purpose::Work(|world| {
            with_line(world, "creator = [\"Ana\"]") == 2
                && with_line(world, "title = \"Letter\"") == 0
        }),
    },
    Row {
        command: "meta-edit",
        before: &[],
        well: "-c archive meta edit A --file about",
        bad: &[
            ("-c archive meta edit NONE --file about", 21),
            ("-c archive meta edit A --file in/f", 1),
        ],
        json: Json::Run,
        purpose: Purpose::Work(|world| with_line(world, "title = \"Letter\"") == 1),
    },
    Row {
        command: "meta-import",
        before: &[],
        well: "-c archive meta import letters.toml",
        bad: &[
            ("-c archive meta import in/f --format csv", 1),
            ("-c archive meta import missing.csv", 1),
            ("-c archive meta import in/f", 2),
        ],
        json: Json::Run,
        purpose: Purpose::Work(|world| with_line(world, "title = \"Letter\"") == 2),
    },
    Row {
        command: "meta-undo",
        before: &["-c archive meta set -y A B title=Letter"],
        well: "-c archive meta undo -y A B",
        bad: &[
            ("-c archive meta undo -y A NONE", 3),
            ("-c archive meta undo NONE", 21),
            ("-c archive meta undo", 2),
        ],
        json: Json::Run,
        purpose: Purpose::Work(|world| with_line(world, "title = \"Letter\"") == 0),
    },
];
