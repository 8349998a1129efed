//! The rows of the commands that show items and what is in them.

use super::rows::Json::{No, Run};
use super::rows::Purpose::Answer;
use super::rows::Row;

pub(super) const ROWS: &[Row] = &[
    Row {
        command: "list",
        before: &[],
        well: "-c archive list",
        bad: &[("-c nowhere list", 10)],
        json: Run,
        purpose: Answer,
    },
    Row {
        command: "show",
        before: &[],
        well: "-c archive show A B",
        bad: &[("-c archive show A NONE", 3), ("-c archive show NONE", 21)],
        json: Run,
        purpose: Answer,
    },
    Row {
        command: "list",
        before: &["-c archive recover --index -q"],
        well: "-c archive list txt --state Original",
        bad: &[("-c archive list nothing", 21), ("-c archive list file:", 2)],
        json: Run,
        purpose: Answer,
    },
    Row {
        command: "show",
        before: &[],
        well: "-c archive show --path A B",
        bad: &[("-c archive show --path A NONE", 3), ("-c archive show --path NONE", 21)],
        json: Run,
        purpose: Answer,
    },
    Row {
        command: "cat",
        before: &[],
        well: "-c archive cat A B",
        bad: &[("-c archive cat A NONE", 3), ("-c archive cat NONE", 21)],
        json: No,
        purpose: Answer,
    },
    Row {
        command: "open",
        before: &[],
        well: "-c archive open -n A B",
        bad: &[("-c archive open -n A NONE", 3), ("-c archive open NONE", 21)],
        json: No,
        purpose: Answer,
    },
    Row {
        command: "resolve",
        before: &[],
        well: "-c archive resolve A B",
        bad: &[
            ("-c archive resolve A NONE", 3),
            ("-c archive resolve NONE", 21),
            ("-c archive resolve nonsense", 1),
        ],
        json: Run,
        purpose: Answer,
    },
    Row {
        command: "show",
        before: &[],
        well: "-c archive show --as csv A B",
        bad: &[
            ("-c archive show --as csv A NONE", 3),
            ("-c archive show --as csv NONE", 21),
            ("-c archive show --as csv", 2),
        ],
        json: No,
        purpose: Answer,
    },
    Row {
        command: "show",
        before: &[],
        well: "-c archive show --as manifest A B",
        bad: &[
            ("-c archive show --as manifest A NONE", 3),
            ("-c archive show --as manifest NONE", 21),
        ],
        json: Run,
        purpose: Answer,
    },
];
