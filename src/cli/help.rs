//! The screen of `urepo help`, written by hand: the commands by what they are for.

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

/// The screen.
pub(super) fn screen() -> String {
    [HEAD, WEB, TAIL].concat()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::cli::args::definitions;

    #[test]
    fn the_screen_has_every_command_once_and_fits() {
        let screen = screen();
        let mut named = BTreeSet::new();
        for line in screen.lines() {
            assert!(line.chars().count() <= 80, "{line}");
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
        assert!(screen.lines().count() <= 40);
    }
}
