//! The rows: how every command is run, and how it ends.

use crate::support::{World, tree};

/// A command, as it is run, and how it ends.
pub(super) struct Row {
    pub(super) command: &'static str,
    /// Lines that are run beforehand, `damage` to `A`, an `edit` of its sidecar, and `lose` or `find` the archive.
    pub(super) before: &'static [&'static str],
    /// Arguments with which all goes well. `A` and `B` are items, `NONE` is none.
    pub(super) well: &'static str,
    /// Arguments of which some are bad, and the exit code.
    pub(super) bad: &'static [(&'static str, i32)],
    pub(super) json: Json,
    pub(super) purpose: Purpose,
}

/// What `--json` gives.
pub(super) enum Json {
    /// A run over items: the last record is a summary.
    Run,
    /// Records.
    Records,
    /// What is asked for is no JSON: a payload, a script, a page.
    No,
}

/// What stdout is to it.
pub(super) enum Purpose {
    /// Without a reader there is nothing left to do.
    Answer,
    /// It is finished without a reader. Whether it was is told by what it leaves.
    Work(fn(&World) -> bool),
    /// The exit code is the answer: it is never one of success without a reader.
    Judgement,
}

use Json::{No, Records, Run};
use Purpose::{Answer, Judgement, Work};

/// How many items a collection holds.
fn items(world: &World, root: &str) -> usize {
    tree(&world.path(root)).iter().filter(|line| line.contains("/item.toml ")).count()
}

/// How many items of a collection are Originals.
fn originals(world: &World, root: &str) -> usize {
    let entries = walkdir::WalkDir::new(world.path(root)).into_iter().map(Result::unwrap);
    let sidecars = entries.filter(|entry| entry.file_name() == "item.toml");
    let texts = sidecars.map(|entry| std::fs::read_to_string(entry.path()).unwrap());
    texts.filter(|text| text.contains("\nstate = \"Original\"\n")).count()
}

fn trashed(world: &World) -> bool {
    tree(&world.path("archive/.urepo/trash")).iter().any(|line| line.ends_with("a.txt 5"))
}

/// The rows of all commands.
pub(super) fn rows() -> impl Iterator<Item = &'static Row> {
    ROWS.iter().chain(super::reading::ROWS).chain(super::meta::ROWS)
}

const ROWS: &[Row] = &[
    Row {
        command: "init",
        before: &[],
        well: "init other --host other.example.org",
        bad: &[("init archive --host other.example.org", 23)],
        json: Records,
        purpose: Work(|world| world.path("other/urepo.toml").exists()),
    },
    Row {
        command: "init",
        before: &[],
        well: "init tree --adopt --host sid.example.org",
        bad: &[("init missing --adopt --host sid.example.org", 1)],
        json: Run,
        purpose: Work(|world| items(world, "tree") == 1),
    },
    Row {
        command: "new",
        before: &[],
        well: "-c archive new --each in/f in/g",
        bad: &[
            ("-c archive new --each in/f missing", 3),
            ("-c archive new --each missing lost", 3),
            ("-c archive new missing", 1),
        ],
        json: Run,
        purpose: Work(|world| items(world, "archive") == 4),
    },
    Row {
        command: "import",
        before: &[],
        well: "-c archive import in",
        bad: &[("-c archive import missing", 1), ("-c archive import rows.csv", 3)],
        json: Run,
        purpose: Work(|world| items(world, "archive") == 4),
    },
    Row {
        command: "verify",
        before: &[],
        well: "-c archive verify",
        bad: &[
            ("-c archive verify A NONE", 3),
            ("-c archive verify NONE", 21),
            ("-c nowhere verify", 10),
        ],
        json: Run,
        purpose: Judgement,
    },
    Row {
        command: "verify",
        before: &["damage"],
        well: "-c archive verify B",
        bad: &[
            ("-c archive verify", 20),
            ("-c archive verify --dry-run", 20),
            ("-c archive verify A", 20),
        ],
        json: Run,
        purpose: Judgement,
    },
    Row {
        command: "status",
        before: &[],
        well: "-c archive status",
        bad: &[("-c nowhere status", 10)],
        json: Run,
        purpose: Judgement,
    },
    Row {
        command: "status",
        before: &["-c archive copy --all --to mirror -q", "lose"],
        well: "-c lost status",
        bad: &[("-c mirror status", 3)],
        json: Run,
        purpose: Judgement,
    },
    Row {
        command: "status",
        before: &[],
        well: "-c archive status A B",
        bad: &[("-c archive status A NONE", 3), ("-c archive status NONE", 21)],
        json: Run,
        purpose: Judgement,
    },
    Row {
        command: "copy",
        before: &[],
        well: "-c archive copy A B --to mirror -v",
        bad: &[("-c archive copy A NONE --to mirror", 3), ("-c archive copy NONE --to mirror", 21)],
        json: Run,
        purpose: Work(|world| items(world, "mirror") == 2),
    },
    Row {
        command: "migrate",
        before: &[],
        well: "-c archive migrate A B --to mirror -v",
        bad: &[
            ("-c archive migrate A NONE --to mirror", 3),
            ("-c archive migrate NONE --to mirror", 21),
        ],
        json: Run,
        purpose: Work(|world| originals(world, "mirror") == 2 && originals(world, "archive") == 0),
    },
    Row {
        command: "export",
        before: &[],
        well: "-c archive export A B --to out",
        bad: &[("-c archive export A NONE --to out", 3), ("-c archive export NONE --to out", 21)],
        json: Run,
        purpose: Work(|world| {
            tree(&world.path("out")).iter().any(|line| line.ends_with("b.txt 4"))
        }),
    },
    Row {
        command: "delete",
        before: &[],
        well: "-c archive delete -y --force last A B",
        bad: &[
            ("-c archive delete -y --force last A NONE", 3),
            ("-c archive delete -y --force last NONE", 21),
        ],
        json: Run,
        purpose: Work(trashed),
    },
    Row {
        command: "restore",
        before: &["-c archive delete -q -y --force last A B"],
        well: "-c archive restore A B",
        bad: &[("-c archive restore A NONE", 3), ("-c archive restore NONE", 21)],
        json: Run,
        purpose: Work(|world| !trashed(world)),
    },
    Row {
        command: "purge",
        before: &["-c archive delete -q -y --force last A B"],
        well: "-c archive purge -y",
        bad: &[
            ("-c archive purge -y A NONE", 3),
            ("-c archive purge -y NONE", 21),
            ("-c archive purge", 2),
        ],
        json: Run,
        purpose: Work(|world| !trashed(world)),
    },
    Row {
        command: "repair",
        before: &["-c archive copy --all --to mirror -q", "damage"],
        well: "-c archive repair --from mirror",
        bad: &[
            ("-c archive repair A NONE --from mirror", 3),
            ("-c archive repair NONE --from mirror", 21),
        ],
        json: Run,
        purpose: Work(|world| {
            !tree(&world.path("archive/example.org")).iter().any(|line| line.ends_with("a.txt 6"))
        }),
    },
    Row {
        command: "repair",
        before: &["edit"],
        well: "-c archive repair A --accept -y",
        bad: &[
            ("-c archive repair A NONE --accept -y", 3),
            ("-c archive repair NONE --accept", 21),
            ("-c archive repair A --accept", 2),
            ("-c archive repair A --accept --from mirror", 2),
        ],
        json: Run,
        purpose: Work(|world| world.run("-c archive verify").code == 0),
    },
    Row {
        command: "promote",
        before: &["-c archive copy --all --to mirror -q", "lose"],
        well: "-c mirror promote A B --lost ./archive --reason fire -y",
        bad: &[
            ("-c mirror promote A NONE --lost ./archive --reason fire -y", 3),
            ("-c mirror promote NONE --lost ./archive --reason fire -y", 21),
        ],
        json: Run,
        purpose: Work(|world| originals(world, "mirror") == 2),
    },
    Row {
        command: "status",
        before: &["-c archive recover --index -q"],
        well: "-c archive status --counts",
        bad: &[("-c nowhere status --counts", 10)],
        json: Records,
        purpose: Answer,
    },
    Row {
        command: "log",
        before: &[],
        well: "-c archive log",
        bad: &[("-c archive log A NONE", 3), ("-c archive log NONE", 21), ("-c nowhere log", 10)],
        json: Run,
        purpose: Answer,
    },
    Row {
        command: "resolve",
        before: &[],
        well: "resolve --explain A B",
        bad: &[("resolve --explain A nonsense B", 3), ("resolve --explain nonsense", 1)],
        json: Run,
        purpose: Answer,
    },
    Row {
        command: "mint",
        before: &[],
        well: "-c archive mint --count 2",
        bad: &[("-c archive mint --subsystem maps", 1), ("-c archive mint --count 0", 2)],
        json: Run,
        purpose: Work(|world| world.path("archive/.urepo/memory").exists()),
    },
    Row {
        command: "recover",
        before: &[],
        well: "-c archive recover",
        bad: &[("-c nowhere recover", 10)],
        json: Run,
        purpose: Work(|_| true),
    },
    Row {
        command: "status",
        before: &[],
        well: "-c archive status --machine",
        bad: &[("-c nowhere status --machine", 10)],
        json: Records,
        purpose: Answer,
    },
    Row {
        command: "status",
        before: &[],
        well: "-c archive status --settings",
        bad: &[("status --settings --what", 2)],
        json: Records,
        purpose: Answer,
    },
    Row {
        command: "resolver-register",
        before: &[KEY],
        well: "resolver register NONE --registry registry.toml --key-file key",
        bad: &[
            ("resolver register NONE --registry registry.toml --key-file missing", 1),
            ("resolver register NONE --registry missing/registry.toml --key-file key", 1),
            ("resolver register nonsense --registry registry.toml --key-file key", 2),
        ],
        json: No,
        purpose: Work(|world| registered(world) == 1),
    },
    Row {
        command: "resolver-list",
        before: &[KEY, REGISTER],
        well: "resolver list --registry registry.toml",
        bad: &[("resolver list --registry missing/registry.toml", 1)],
        json: Records,
        purpose: Answer,
    },
    Row {
        command: "resolver-remove",
        before: &[KEY, REGISTER],
        well: "resolver remove NONE --registry registry.toml",
        bad: &[("resolver remove A --registry registry.toml", 21)],
        json: Records,
        purpose: Work(|world| registered(world) == 0),
    },
    Row {
        command: "serve-token-add",
        before: &[],
        well: "-c archive serve token add scanner --daily 5",
        bad: &[
            ("-c archive serve token add maps --prefix example.org/maps", 2),
            ("-c nowhere serve token add scanner", 10),
        ],
        json: No,
        purpose: Work(|world| tokens(world) == 1),
    },
    Row {
        command: "serve-token-list",
        before: &[TOKEN],
        well: "-c archive serve token list",
        bad: &[("-c nowhere serve token list", 10)],
        json: Records,
        purpose: Answer,
    },
    Row {
        command: "serve-token-remove",
        before: &[TOKEN],
        well: "-c archive serve token remove scanner",
        bad: &[("-c archive serve token remove other", 21)],
        json: Records,
        purpose: Work(|world| tokens(world) == 0),
    },
];

const TOKEN: &str = "-c archive serve token add scanner --daily 5";

/// How many tokens there are.
fn tokens(world: &World) -> usize {
    let files = walkdir::WalkDir::new(world.path(".state")).into_iter().map(Result::unwrap);
    let files = files.filter(|entry| entry.file_name() == "tokens.toml");
    let texts = files.map(|entry| std::fs::read_to_string(entry.path()).unwrap());
    texts.map(|text| text.matches("[[token]]").count()).sum()
}

/// Makes a registration key.
const KEY: &str = "-c archive serve --print-registration --key-file key";
const REGISTER: &str = "resolver register NONE --registry registry.toml --key-file key";

/// How many archives a registry has.
fn registered(world: &World) -> usize {
    let text = std::fs::read_to_string(world.path("registry.toml")).unwrap();
    text.matches("[[archive]]").count()
}
