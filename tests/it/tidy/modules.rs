//! Which module uses which, read from the code: the picture in CONTRIBUTING.md, and no circles.
//!
//! A path counts for the file that defines its last module or name; re-exports are followed. Unit tests
//! and comments do not count.

use std::collections::{BTreeMap, BTreeSet};

use super::{Source, files, none, package};

/// A module by its path below the crate's root: `["disk", "file"]`.
type Module = Vec<String>;

/// The modules of the library and the program, each with the paths that its `use` items import.
struct Modules {
    sources: BTreeMap<Module, Source>,
    imports: BTreeMap<Module, Vec<Module>>,
}

impl Modules {
    fn read(sources: impl IntoIterator<Item = Source>) -> Modules {
        let sources: BTreeMap<_, _> =
            sources.into_iter().map(|source| (module_of(&source.path), source)).collect();
        let mut modules = Modules { sources, imports: BTreeMap::new() };
        for (module, source) in &modules.sources {
            let paths = source.code.split(';').filter_map(|item| {
                let (before, paths) = item.rsplit_once("use ")?;
                before.is_empty().then_some(paths).or_else(|| {
                    before.ends_with(|it: char| !it.is_alphanumeric() && it != '_').then_some(paths)
                })
            });
            let paths = paths.flat_map(leaves).filter_map(|path| modules.absolute(module, &path));
            let paths = paths.collect();
            modules.imports.insert(module.clone(), paths);
        }
        modules
    }

    /// The path below the root of the crate that `path` means in `module`; `None` for other crates.
    fn absolute(&self, module: &Module, path: &str) -> Option<Module> {
        let mut parts = path.split("::").map(str::to_owned).peekable();
        let mut base = module.clone();
        match parts.peek()?.as_str() {
            "crate" | "urepo" => {
                parts.next();
                base.clear();
            }
            "self" => _ = parts.next(),
            "super" => {
                while parts.next_if(|part| part == "super").is_some() {
                    base.pop();
                }
            }
            child => {
                base.push(child.to_owned());
                let is_child = self.sources.contains_key(&base);
                base.pop();
                if !is_child {
                    return None;
                }
            }
        }
        base.extend(parts);
        Some(base)
    }

    /// The module that defines what `path` names.
    fn definer(&self, path: &[String]) -> Module {
        let mut path = path.to_vec();
        // A chain of re-exports is short; a path that names itself would not end.
        for _ in 0..6 {
            let at = (0..=path.len()).rev().find(|at| self.sources.contains_key(&path[..*at]));
            let (module, rest) = path.split_at(at.unwrap_or(0));
            let Some(name) = rest.first() else { break };
            let mut imports = self.imports.get(module).into_iter().flatten();
            let Some(import) = imports.find(|import| import.last() == Some(name)) else {
                return module.to_vec();
            };
            if *import == path {
                return module.to_vec();
            }
            path = [import.as_slice(), &rest[1..]].concat();
        }
        path
    }

    /// The modules that `module` uses.
    fn used_by(&self, module: &Module) -> BTreeSet<Module> {
        let named = inline_paths(&self.sources[module].code);
        let named = named.iter().filter_map(|path| self.absolute(module, path));
        let mut used: BTreeSet<_> = self.imports[module]
            .iter()
            .cloned()
            .chain(named)
            .map(|path| self.definer(&path))
            .collect();
        used.retain(|used| used != module && !used.is_empty());
        used
    }

    /// Each part of the house, a module at the root, with the parts that it uses.
    fn parts(&self) -> BTreeMap<String, BTreeSet<String>> {
        let mut parts: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
        for module in self.sources.keys().filter(|module| !module.is_empty()) {
            let uses = parts.entry(module[0].clone()).or_default();
            uses.extend(self.used_by(module).iter().map(|used| used[0].clone()));
            uses.remove(&module[0]);
        }
        parts
    }
}

fn module_of(path: &str) -> Module {
    let path = path.trim_start_matches("src/").trim_end_matches(".rs");
    let path = path.trim_end_matches("/mod");
    if path == "lib" { Vec::new() } else { path.split('/').map(str::to_owned).collect() }
}

/// The paths of one `use` item: `a::b` and `a::c::d` of `a::{b, c::d as e}`.
fn leaves(tree: &str) -> Vec<String> {
    let Some((root, group)) = tree.split_once('{') else {
        let path = tree.split(" as ").next().unwrap_or_default();
        return vec![path.split_whitespace().collect()];
    };
    let group = group.rsplit_once('}').map_or(group, |(group, _)| group);
    let mut depth = 0;
    let branches = group.split(|it| {
        depth += i32::from(it == '{') - i32::from(it == '}');
        it == ',' && depth == 0
    });
    let branches = branches.filter(|branch| !branch.trim().is_empty());
    let root: String = root.split_whitespace().collect();
    branches.flat_map(|branch| leaves(&format!("{root}{}", branch.trim()))).collect()
}

/// The paths from `crate`, `self`, `super` or `urepo` that code names without a `use`.
fn inline_paths(code: &str) -> Vec<String> {
    let in_path = |it: char| it.is_alphanumeric() || it == '_' || it == ':';
    let words = code.split(|it| !in_path(it)).map(|word| word.trim_end_matches(':'));
    let roots = ["crate::", "self::", "super::", "urepo::"];
    words
        .filter(|word| roots.iter().any(|root| word.starts_with(root)))
        .map(str::to_owned)
        .collect()
}

/// What can be reached from `from`.
fn reached<'a, N: Ord>(
    uses: &'a BTreeMap<N, BTreeSet<N>>,
    from: &'a BTreeSet<N>,
) -> BTreeSet<&'a N> {
    let mut found: BTreeSet<&N> = BTreeSet::new();
    let mut next: Vec<&N> = from.iter().collect();
    while let Some(node) = next.pop() {
        if found.insert(node) {
            next.extend(uses.get(node).into_iter().flatten());
        }
    }
    found
}

/// The arrows of `uses` that are part of a circle.
fn circles<N: Ord>(uses: &BTreeMap<N, BTreeSet<N>>) -> Vec<(&N, &N)> {
    let reached: BTreeMap<&N, _> =
        uses.iter().map(|(node, used)| (node, reached(uses, used))).collect();
    let arrows = uses.iter().flat_map(|(node, used)| used.iter().map(move |used| (node, used)));
    let leads_back = |(from, to): &(&N, &N)| reached.get(to).is_some_and(|all| all.contains(from));
    arrows.filter(leads_back).collect()
}

/// The picture of the parts: each above those it uses, and no arrow to what another arrow leads to.
fn picture(parts: &BTreeMap<String, BTreeSet<String>>) -> String {
    fn level(parts: &BTreeMap<String, BTreeSet<String>>, of: &str) -> usize {
        parts[of].iter().map(|used| level(parts, used) + 1).max().unwrap_or(0)
    }
    let mut order: Vec<_> = parts.keys().map(|part| (level(parts, part), part.as_str())).collect();
    order.sort_by(|a, b| b.0.cmp(&a.0).then(a.1.cmp(b.1)));
    let mut lines = vec!["flowchart TD".to_owned()];
    for (_, part) in order {
        let indirect: BTreeSet<_> =
            parts[part].iter().flat_map(|used| reached(parts, &parts[used])).collect();
        let direct = parts[part].iter().filter(|used| !indirect.contains(used));
        let direct: Vec<_> = direct.cloned().collect();
        if !direct.is_empty() {
            lines.push(format!("    {part} --> {}", direct.join(" & ")));
        }
    }
    lines.join("\n") + "\n"
}

fn house() -> Modules {
    let sources = files("src").into_iter().filter(|(path, _)| path != "src/main.rs");
    Modules::read(sources.map(|(path, text)| Source::new(&path, &text)))
}

#[test]
fn the_picture_in_contributing_is_that_of_the_code() {
    let house = house();
    let parts = house.parts();
    assert_eq!(circles(&parts), [], "the arrows go round");
    let drawn = picture(&parts);
    let path = package().join("CONTRIBUTING.md");
    let page = std::fs::read_to_string(&path).unwrap();
    let (before, rest) = page.split_once("```mermaid\n").expect("a picture");
    let (shown, after) = rest.split_once("```").unwrap();
    if std::env::var("SNAPSHOTS").is_ok_and(|value| value == "overwrite") {
        std::fs::write(path, format!("{before}```mermaid\n{drawn}```{after}")).unwrap();
    } else {
        assert_eq!(shown, drawn, "`SNAPSHOTS=overwrite cargo test tidy` draws it again");
    }
}

#[test]
fn no_files_use_each_other_but_parent_and_child() {
    let house = house();
    let mut uses = BTreeMap::new();
    for module in house.sources.keys() {
        let mut used = house.used_by(module);
        used.retain(|used| !used.starts_with(module) && !module.starts_with(used));
        uses.insert(module.clone(), used);
    }
    let tell =
        |(from, to): &(&Module, &Module)| format!("{} uses {}", from.join("::"), to.join("::"));
    none(&circles(&uses).iter().map(tell).collect::<Vec<_>>());
}

/// The rules find what they are for.
mod rules {
    use super::*;

    fn uses(sources: &[(&str, &str)]) -> Vec<String> {
        let modules = Modules::read(sources.iter().map(|(path, text)| Source::new(path, text)));
        let last = module_of(sources.last().unwrap().0);
        modules.used_by(&last).iter().map(|module| module.join("::")).collect()
    }

    #[test]
    fn a_use_is_found_however_it_is_written() {
        let file = ("src/disk/file.rs", "pub struct File;");
        let disk = ("src/disk/mod.rs", "mod file;\npub use file::File;");
        for text in [
            "use crate::disk::File;",
            "use crate::disk::{self, File as F};",
            "use super::super::disk::{\n    File,\n};",
            "fn f() -> crate::disk::File { g() }",
            "pub(crate) use urepo::disk::{Dir, file::File};",
            "use crate::{digest::Digest, disk::{File, Kind}};",
        ] {
            let found = uses(&[file, disk, ("src/item/a.rs", text)]);
            assert!(found.contains(&"disk::file".to_owned()), "{text}: {found:?}");
        }
        for text in ["// use crate::disk::File;", "use disk::File;", "use my_crate::disk::File;"] {
            let found = uses(&[file, disk, ("src/item/a.rs", text)]);
            assert_eq!(found, [""; 0], "{text}");
        }
        let test = "\n#[cfg(test)]\nmod tests {\n    use crate::disk::File;\n}";
        assert_eq!(uses(&[file, disk, ("src/item/a.rs", test)]), [""; 0]);
    }

    #[test]
    fn arrows_that_lead_back_are_found() {
        let graph = |arrows: &[(&str, &str)]| {
            let mut uses: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
            for (from, to) in arrows {
                uses.entry((*from).to_owned()).or_default().insert((*to).to_owned());
                uses.entry((*to).to_owned()).or_default();
            }
            circles(&uses)
                .iter()
                .map(|(from, to)| format!("{from}{to}"))
                .collect::<Vec<_>>()
                .join(" ")
        };
        assert_eq!(graph(&[("a", "b"), ("b", "c"), ("a", "c")]), "");
        assert_eq!(graph(&[("a", "b"), ("b", "c"), ("c", "b"), ("c", "d")]), "bc cb");
    }

    #[test]
    fn the_picture_has_no_arrow_twice() {
        let used = |uses: &[&str]| uses.iter().map(|it| (*it).to_owned()).collect();
        let parts = BTreeMap::from([
            ("top".to_owned(), used(&["middle", "low"])),
            ("middle".to_owned(), used(&["low"])),
            ("low".to_owned(), used(&[])),
        ]);
        assert_eq!(picture(&parts), "flowchart TD\n    top --> middle\n    middle --> low\n");
    }
}
