//! How much code there is: a number for each part, which only falls.

use super::{Source, files};

/// Parts of `src`, and the lines of code in each, at most: without blank lines, comments and unit tests. A file belongs to the
/// first part whose path it begins with. Whoever removes code lowers the number; a commit that raises one says why.
const PARTS: &[(&str, usize, &[&str])] = &[
    (
        "the services",
        7_300,
        &[
            "src/serve",
            "src/resolver",
            "src/web",
            "src/cli/command/serve",
            "src/cli/command/resolver",
            "src/cli/explain/serve",
            "src/cli/explain/resolver",
            "src/cli/records/web",
            "src/cli/command/status/access",
            "src/cli/trace",
            "src/collection/kept_sidecars",
            "src/collection/setup/archive",
            "src/collection/setup/serving",
            "src/identity/host_port",
        ],
    ),
    ("identity", 2_659, &["src/identity"]),
    (
        "values",
        1_008,
        &[
            "src/item",
            "src/digest",
            "src/layout",
            "src/clock",
            "src/wait",
            "src/progress",
            "src/interrupt",
            "src/agent",
        ],
    ),
    ("sidecar", 3_310, &["src/sidecar"]),
    ("custody", 1_951, &["src/custody"]),
    (
        "describe",
        4_356,
        &[
            "src/amend",
            "src/correction",
            "src/relation",
            "src/import/described",
            "src/export/metadata",
        ],
    ),
    ("disk", 3_720, &["src/disk", "src/flow"]),
    ("distributor", 1_118, &["src/distributor"]),
    ("collection", 7_012, &["src/collection"]),
    ("index", 2_131, &["src/index", "src/catalog"]),
    ("holdings", 987, &["src/holdings"]),
    ("verify", 3_153, &["src/verify"]),
    ("deposit", 9_950, &["src/deposit", "src/import", "src/adopt"]),
    ("transfer", 2_776, &["src/transfer", "src/promotion"]),
    ("removal", 3_600, &["src/removal", "src/repair"]),
    ("export", 1_634, &["src/export"]),
    ("resolve", 1_130, &["src/resolve"]),
    ("cli", 18_397, &["src/cli", "src/lib.rs", "src/main.rs"]),
];

fn code_lines(source: &Source) -> usize {
    source.code.lines().filter(|line| !line.trim().is_empty()).count()
}

#[test]
fn no_part_grows() {
    let mut lines = vec![0; PARTS.len()];
    for (path, text) in files("src") {
        let is_in = |(_, _, paths): &(_, _, &[&str])| paths.iter().any(|it| path.starts_with(it));
        let part = PARTS.iter().position(is_in);
        let part = part.unwrap_or_else(|| panic!("{path} belongs to no part"));
        lines[part] += code_lines(&Source::new(&path, &text));
    }
    let grown = PARTS.iter().zip(lines).filter(|((_, most, _), lines)| lines > most);
    let grown: Vec<_> = grown
        .map(|((part, most, _), lines)| format!("{part}: {lines} lines, {most} at most"))
        .collect();
    assert!(grown.is_empty(), "{grown:#?}");
}

#[test]
fn only_code_is_counted() {
    let text =
        "//! About.\n\nuse a::b;\n/// One.\nfn one() {}\n\n#[cfg(test)]\nmod tests {\n    x\n}\n";
    assert_eq!(code_lines(&Source::new("src/a.rs", text)), 2);
}
