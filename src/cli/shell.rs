//! Words that a person can type or paste, as a POSIX shell reads them.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::sync::OnceLock;

use super::escape;

/// Characters that a shell takes literally, besides letters and digits; `…` stands for more to be typed.
const PLAIN: &str = "-_./+@%:,=…";

/// `word` in typed form: quoted if a shell would interpret it, on one line, and with every byte.
pub(crate) fn word(word: impl AsRef<OsStr>) -> String {
    let word = word.as_ref();
    let Some(text) = word.to_str().filter(|text| escape::one_line(text) == **text) else {
        return octal(word.as_bytes());
    };
    // Not a flag; and zsh reads `=ls` as a path.
    let is_plain = |c: char| c.is_alphanumeric() || PLAIN.contains(c);
    match text {
        _ if text.starts_with('-') => self::word(format!("./{text}")),
        _ if !text.is_empty() && !text.starts_with('=') && text.chars().all(is_plain) => {
            text.to_owned()
        }
        _ => format!("'{}'", text.replace('\'', r"'\''")),
    }
}

/// The collection of this run as a word, if it was named on the command line.
static COLLECTION: OnceLock<String> = OnceLock::new();

/// The beginning of a command in a text; in two parts, because this literal is not one.
const PROGRAM: &str = concat!("`", "urepo ");

/// The commands that work without a collection, or name theirs as an argument.
const WITHOUT: [&str; 2] = ["help", "init"];

/// From now on, commands in texts name the collection `typed`.
pub(crate) fn set_collection(typed: &OsStr) {
    // There is only one command line.
    let _ = COLLECTION.set(word(typed));
}

/// A command of this program in the collection `at`, or in that of this run.
pub(crate) fn command(at: Option<&str>, words: &str) -> String {
    match at.or(COLLECTION.get().map(String::as_str)) {
        Some(at) => format!("urepo -c {at} {words}"),
        None => format!("urepo {words}"),
    }
}

/// `text` in which each command names the collection of this run, so that it can be pasted.
pub(crate) fn pasted(text: &str) -> String {
    COLLECTION.get().map_or_else(|| text.to_owned(), |collection| pasted_in(text, collection))
}

/// `text` in which each command names `collection`, unless it needs none or names its own.
pub(crate) fn pasted_in(text: &str, collection: &str) -> String {
    let mut parts = text.split(PROGRAM);
    let mut pasted = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        pasted += PROGRAM;
        let command = part.split('`').next().unwrap_or_default();
        let mut words = command.split_whitespace();
        let needs_one = match words.next() {
            None => false,
            // The roots to compare.
            Some("verify") => !words.next().is_some_and(|it| it.starts_with(['/', '\'', '$'])),
            Some("status") => words.next() != Some("--settings"),
            Some(name) => !name.starts_with('-') && !WITHOUT.contains(&name),
        };
        if needs_one && !command.contains(" -c ") {
            pasted += &format!("-c {collection} ");
        }
        pasted += part;
    }
    pasted
}

/// Quotes that can contain control characters.
fn octal(bytes: &[u8]) -> String {
    let lead = if bytes.starts_with(b"-") { "./" } else { "" };
    let byte = |byte: &u8| match byte {
        b'\'' | b'\\' => format!("\\{}", char::from(*byte)),
        b' '..=b'~' => char::from(*byte).to_string(),
        _ => format!("\\{byte:03o}"),
    };
    format!("$'{lead}{}'", bytes.iter().map(byte).collect::<String>())
}

#[cfg(test)]
mod tests {
    use std::os::unix::ffi::OsStrExt;
    use std::path::Path;
    use std::process::Command;

    use clap::error::{ContextKind, ContextValue, ErrorKind};

    use super::*;
    use crate::cli::args::definitions;

    #[test]
    fn a_shell_reads_what_was_meant() {
        let words: [(&[u8], &str); 12] = [
            (b"/a/b-c_d.e+f@g%h:i,j=k", "/a/b-c_d.e+f@g%h:i,j=k"),
            ("/à/ação".as_bytes(), "/à/ação"),
            (b"a b", "'a b'"),
            (b"it's", r"'it'\''s'"),
            (b"", "''"),
            (b"~", "'~'"),
            (b"$(id) \"`*", "'$(id) \"`*'"),
            (b"-rf", "./-rf"),
            (b"-a b", "'./-a b'"),
            (b"a\nb'\\", r"$'a\012b\'\\'"),
            (b"-\x1b[2J", r"$'./-\033[2J'"),
            (b"col\xff", r"$'col\377'"),
        ];
        for (meant, typed) in words {
            assert_eq!(word(OsStr::from_bytes(meant)), typed);
            let script = format!("printf %s {typed}");
            let read = Command::new("bash").args(["-c", &script]).output().unwrap().stdout;
            let read = read.strip_prefix(b"./").unwrap_or(&read);
            assert_eq!(read, meant, "{typed}");
        }
        assert_eq!(word("gpj.\u{202e}exe"), r"$'gpj.\342\200\256exe'");
    }

    #[test]
    fn a_command_names_the_collection_that_was_typed() {
        for (text, expected) in [
            ("`urepo list` lists them", "`urepo -c 'a b' list` lists them"),
            (
                "`urepo show a`; `urepo restore a`",
                "`urepo -c 'a b' show a`; `urepo -c 'a b' restore a`",
            ),
            ("`urepo verify a --quick`", "`urepo -c 'a b' verify a --quick`"),
            (
                "repeat with `--force last`, then `urepo`",
                "repeat with `--force last`, then `urepo`",
            ),
            ("`urepo -c other show a`", "`urepo -c other show a`"),
            ("`urepo show -c other a`", "`urepo show -c other a`"),
            ("`urepo verify /a /b`", "`urepo verify /a /b`"),
            ("`urepo verify '/a b' /c`", "`urepo verify '/a b' /c`"),
            ("`urepo --help`, `urepo help new`", "`urepo --help`, `urepo help new`"),
            ("`urepo init PATH --host FQDN`", "`urepo init PATH --host FQDN`"),
        ] {
            assert_eq!(pasted_in(text, "'a b'"), expected);
            assert_eq!(pasted_in(expected, "'a b'"), expected, "only once");
        }
        let definitions = definitions();
        let is_command =
            |name: &&str| *name == "help" || definitions.find_subcommand(name).is_some();
        assert!(WITHOUT.iter().all(is_command));
    }

    /// Every command in backquotes: in the messages and the help, in the gallery of errors, in the pages for users.
    #[test]
    fn every_command_that_is_named_can_be_typed() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR"));
        let mut counts = Vec::new();
        let mut wrong = Vec::new();
        for place in ["src/cli", "tests/it/errors", "docs"] {
            let entries = walkdir::WalkDir::new(root.join(place)).into_iter().map(Result::unwrap);
            // A picture of a terminal breaks its lines anywhere; a test of its own types its commands.
            let is_text = |entry: &walkdir::DirEntry| {
                let is_picture = entry.path().extension().is_some_and(|it| it == "svg");
                entry.file_type().is_file() && !is_picture
            };
            let files = entries.filter(is_text);
            let mut count = 0;
            for file in files {
                let text = text_of(file.path());
                for command in text.split('`').skip(1).filter(|it| it.starts_with("urepo ")) {
                    count += 1;
                    let is_prose = place == "docs";
                    if let Err(why) = parse(command, is_prose) {
                        wrong.push(format!("{}: {command}\n    {why}", file.path().display()));
                    }
                }
            }
            counts.push(count);
        }
        assert!(counts.iter().all(|count| *count > 15), "they are not found: {counts:?}");
        assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    }

    /// A file in which each comment and each literal is one line.
    #[expect(clippy::disallowed_methods, reason = "a file of the source")]
    fn text_of(path: &Path) -> String {
        let text = std::fs::read_to_string(path).unwrap();
        let mut joined = String::new();
        for line in text.lines() {
            let line = line.trim_start();
            let line = line.trim_start_matches("///").trim_start_matches("//!");
            match line.strip_suffix('\\') {
                Some(line) => joined += line,
                None => joined = joined + line + "\n",
            }
        }
        joined
    }

    /// Whether the program accepts a command. If only its name, or in prose its flag, is mentioned, the rest
    /// may be missing.
    fn parse(command: &str, is_prose: bool) -> Result<(), String> {
        let mut words = split(command);
        if words.get(1).is_some_and(|word| word == "-c") {
            words.drain(1..3);
        }
        let named = words.len() - 1;
        let commands = definitions();
        // A command of a group has a name of two words.
        let group = words.get(1).and_then(|name| commands.find_subcommand(name));
        let part = group.zip(words.get(2)).and_then(|(it, name)| it.find_subcommand(name));
        let is_mention = is_prose || named == 1 || named == 2 && part.is_some();
        let Err(error) = definitions().try_get_matches_from(&words) else { return Ok(()) };
        let is_placeholder = |value: &str| value.chars().all(|c| c.is_uppercase() || c == '…');
        let found =
            [ContextKind::InvalidValue, ContextKind::InvalidSubcommand].map(|it| error.get(it));
        match (error.kind(), found) {
            (ErrorKind::DisplayHelp, _) => Ok(()),
            (
                ErrorKind::MissingRequiredArgument
                | ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand,
                _,
            ) if is_mention => Ok(()),
            // A placeholder in the source may be a flag.
            (ErrorKind::UnknownArgument, _)
                if error.get(ContextKind::InvalidArg)
                    == Some(&ContextValue::String("VALUE".to_owned())) =>
            {
                Ok(())
            }
            (_, [Some(ContextValue::String(it)), _] | [None, Some(ContextValue::String(it))])
                if is_placeholder(it) =>
            {
                Ok(())
            }
            _ => Err(error.to_string()),
        }
    }

    /// The words of a command. A placeholder in the source is one word, already quoted.
    fn split(command: &str) -> Vec<String> {
        let (mut words, mut word) = (Vec::new(), None::<String>);
        let mut characters = command.chars().peekable();
        while let Some(character) = characters.next() {
            let word_or_new = word.get_or_insert_default();
            match character {
                ' ' | '\n' => words.extend(word.take().filter(|word| !word.is_empty())),
                '\'' => word_or_new.extend(characters.by_ref().take_while(|it| *it != '\'')),
                '\\' => word_or_new.extend(characters.next()),
                '{' => {
                    characters.by_ref().take_while(|it| *it != '}').for_each(drop);
                    word_or_new.push_str("VALUE");
                }
                _ => word_or_new.push(character),
            }
        }
        words.extend(word);
        words
    }
}
