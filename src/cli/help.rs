//! Help, written by hand: the screen of `urepo help`, and one for `-h` of each command. `urepo help COMMAND` adds the prose of
//! the definition.

use std::ffi::OsString;

use super::args::{VALUED, definitions};

const HEAD: &str = "\
urepo keeps files as items. Each gets a permanent identifier, which is its path.

  urepo init archive --host archive.example.org        a collection
  urepo -c archive new letter.txt --title 'A letter'   prints the identifier
  urepo -c archive copy --all --to /mnt/mirror         checks every byte

Every day
  init      Create a collection, or take an existing tree in
  new       Deposit files and directories
  import    Deposit many: a drop folder, a table, bags; each only once
  list      List and search
  show      Describe an item: text, files, where it is; cite it
  meta      Correct descriptions and relations
  copy      Make and refresh Copies in another collection
  verify    Read every byte and compare it with its digest
  repair    Mend what is damaged or missing from a good copy
  status    What needs attention, in all collections
Sometimes
  cat, open                 A file to standard output; an item on the desktop
  export                    Directories, tar, bags
  delete, restore, purge    Into the trash; back; for ever
  migrate                   Move items, Originals with them
  log                       Who did what, and when
  mint, resolve             Identifiers alone; follow or explain one
When something is lost
  recover                   After a crash, a restored backup, a lost ledger
  promote                   A Copy becomes the Original
";

/// The services that this program was built with.
const WEB: &str = match (cfg!(feature = "serve"), cfg!(feature = "resolver")) {
    (true, true) => {
        "On the web\n  serve, resolver           Your archive; a resolver of your own\n"
    }
    (true, false) => "On the web\n  serve                     Your archive\n",
    (false, true) => "On the web\n  resolver                  A resolver of your own\n",
    (false, false) => "",
};

const TAIL: &str = "
With every command: -c COLLECTION  -n dry run  -q quiet  -v more  --json  -j N
More: urepo help COMMAND · man 7 urepo: exit codes, settings (colour, progress)";

/// The screens of the commands, by their words.
const SCREENS: &[(&str, &str)] = &[
    ("init", include_str!("help/init.txt")),
    ("new", include_str!("help/new.txt")),
    ("import", include_str!("help/import.txt")),
    ("list", include_str!("help/list.txt")),
    ("show", include_str!("help/show.txt")),
    ("meta", include_str!("help/meta.txt")),
    ("meta set", include_str!("help/meta-set.txt")),
    ("meta edit", include_str!("help/meta-edit.txt")),
    ("meta import", include_str!("help/meta-import.txt")),
    ("meta undo", include_str!("help/meta-undo.txt")),
    ("copy", include_str!("help/copy.txt")),
    ("verify", include_str!("help/verify.txt")),
    ("repair", include_str!("help/repair.txt")),
    ("status", include_str!("help/status.txt")),
    ("cat", include_str!("help/cat.txt")),
    ("open", include_str!("help/open.txt")),
    ("export", include_str!("help/export.txt")),
    ("delete", include_str!("help/delete.txt")),
    ("restore", include_str!("help/restore.txt")),
    ("purge", include_str!("help/purge.txt")),
    ("migrate", include_str!("help/migrate.txt")),
    ("log", include_str!("help/log.txt")),
    ("mint", include_str!("help/mint.txt")),
    ("resolve", include_str!("help/resolve.txt")),
    ("recover", include_str!("help/recover.txt")),
    ("promote", include_str!("help/promote.txt")),
    #[cfg(feature = "serve")]
    ("serve", include_str!("help/serve.txt")),
    #[cfg(feature = "serve")]
    ("serve token", include_str!("help/serve-token.txt")),
    #[cfg(feature = "serve")]
    ("serve token add", include_str!("help/serve-token-add.txt")),
    #[cfg(feature = "serve")]
    ("serve token list", include_str!("help/serve-token-list.txt")),
    #[cfg(feature = "serve")]
    ("serve token remove", include_str!("help/serve-token-remove.txt")),
    #[cfg(feature = "resolver")]
    ("resolver", include_str!("help/resolver.txt")),
    #[cfg(feature = "resolver")]
    ("resolver register", include_str!("help/resolver-register.txt")),
    #[cfg(feature = "resolver")]
    ("resolver list", include_str!("help/resolver-list.txt")),
    #[cfg(feature = "resolver")]
    ("resolver remove", include_str!("help/resolver-remove.txt")),
];

/// Columns of a terminal that shows help whole.
const WIDTH: usize = 80;

/// The help that the command line `words` asks for; `None` for a command without a screen.
pub(super) fn asked(words: &[OsString]) -> Option<String> {
    let mut command = &definitions();
    let mut path = Vec::new();
    let mut is_long = words.iter().any(|word| word == "--help");
    let mut words = words.iter().skip(1);
    while let Some(word) = words.next() {
        if VALUED.iter().any(|valued| word == valued) {
            words.next();
        } else if word == "help" && path.is_empty() {
            is_long = true;
        } else if let Some(found) = command.find_subcommand(word) {
            path.push(found.get_name());
            command = found;
        } else if !word.as_encoded_bytes().starts_with(b"-") {
            break;
        }
    }
    if path.is_empty() {
        return Some([HEAD, WEB, TAIL].concat());
    }
    let path = path.join(" ");
    let (_, screen) = SCREENS.iter().find(|(of, _)| *of == path)?;
    let (usage, _) = screen.rsplit_once("\n\n")?;
    let prose = command.get_long_about().map(ToString::to_string).unwrap_or_default();
    Some(match prose.split_once("\n\n").filter(|_| is_long) {
        Some((_, prose)) => format!("{usage}\n\n{}", wrapped(prose)),
        None => screen.trim_end().to_owned(),
    })
}

/// The paragraphs of `prose` in lines that fit.
fn wrapped(prose: &str) -> String {
    let page = clap::Command::new("prose").help_template("{about}").term_width(WIDTH);
    let text = page.about(prose.to_owned()).render_help().to_string();
    text.lines().map(str::trim_end).collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    fn help(line: &str) -> String {
        let words: Vec<_> = line.split(' ').map(OsString::from).collect();
        asked(&words).unwrap_or_else(|| panic!("{line}"))
    }

    #[track_caller]
    fn fits(line: &str, most: usize) {
        let text = help(line);
        assert!(text.lines().all(|it| it.chars().count() <= WIDTH), "{line}\n{text}");
        assert!(text.lines().count() <= most, "{line}: {} lines", text.lines().count());
    }

    #[test]
    fn the_screen_has_every_command_once_and_fits() {
        fits("urepo -h", 40);
        let screen = help("urepo help");
        let mut named = BTreeSet::new();
        for line in screen.lines() {
            let words = line.strip_prefix("  ").unwrap_or_default();
            let words = words.split("  ").next().unwrap_or_default();
            for word in words.split(", ").filter(|it| !it.is_empty() && !it.contains(' ')) {
                assert!(named.insert(word.to_owned()), "{word} stands twice");
            }
        }
        let definitions = definitions();
        let commands = definitions.get_subcommands().filter(|it| !it.is_hide_set());
        let commands: BTreeSet<_> =
            commands.map(|it| it.get_name().to_owned()).filter(|it| it != "help").collect();
        assert_eq!(named, commands);
    }

    /// The options that a text names. Those of examples may be global ones.
    fn options(text: &str) -> BTreeSet<String> {
        let words = text.split(|it: char| !(it.is_ascii_alphanumeric() || it == '-'));
        words.filter_map(|it| it.strip_prefix("--")).map(str::to_owned).collect()
    }

    #[test]
    fn each_screen_has_the_options_of_its_command_and_fits() {
        let definitions = definitions();
        let common = ["json".to_owned(), "all".to_owned(), "help".to_owned()];
        for (path, screen) in SCREENS {
            fits(&format!("urepo {path} -h"), 40);
            fits(&format!("urepo help {path}"), 100);
            let mut command = &definitions;
            for word in path.split(' ') {
                command = command.find_subcommand(word).unwrap_or_else(|| panic!("{path}"));
            }
            let own = command.get_arguments().filter(|it| !it.is_hide_set() && !it.is_global_set());
            let own: BTreeSet<_> = own.filter_map(|it| it.get_long()).map(str::to_owned).collect();
            let usage = &screen[screen.find("\nUsage: ").unwrap_or_default()..];
            let named = options(usage);
            for option in &own {
                assert!(named.contains(option), "{path} -h lacks --{option}");
            }
            for option in &named {
                assert!(own.contains(option) || common.contains(option), "{path}: --{option}");
            }
        }
        let screens: BTreeSet<_> = SCREENS.iter().map(|(path, _)| path.to_string()).collect();
        assert_eq!(screens.len(), SCREENS.len());
        fn paths(command: &clap::Command, above: &str, all: &mut BTreeSet<String>) {
            let visible = |it: &&clap::Command| !it.is_hide_set() && it.get_name() != "help";
            for part in command.get_subcommands().filter(visible) {
                let path = format!("{above} {}", part.get_name()).trim_start().to_owned();
                paths(part, &path, all);
                all.insert(path);
            }
        }
        let mut all = BTreeSet::new();
        paths(&definitions, "", &mut all);
        assert_eq!(screens, all);
    }

    #[test]
    fn the_line_says_which_help_is_meant() {
        assert_eq!(help("urepo -c archive new -h"), help("urepo add -h"));
        assert_eq!(help("urepo meta set --help"), help("urepo help meta set"));
        assert!(help("urepo help new").starts_with(help("urepo new -h").lines().next().unwrap()));
        assert!(!help("urepo help new").contains("More:"));
    }
}
