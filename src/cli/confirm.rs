//! Asking before a change that cannot be undone, or not easily.

use std::io::{self, BufRead, IsTerminal};

use super::Done;
use super::context::Context;
use super::exit::Exit;
use super::failure::Failure;
use super::printer::Verbosity;

/// Limit on the subjects of a question that are listed.
const SHOWN: usize = 5;

/// Asks `question`, which begins with the infinitive of what would be done, on the terminal, unless the answer was given: `yes`.
///
/// Without a terminal to ask, nothing is done, and the error says what would be.
pub(crate) fn confirm(context: &Context, yes: bool, question: &str) -> Done {
    confirm_listed(context, yes, std::iter::empty(), question)
}

/// The same, with lines that list the subjects of the question: a few, as many as fit above it.
pub(crate) fn confirm_listed(
    context: &Context,
    yes: bool,
    lines: impl IntoIterator<Item = String>,
    question: &str,
) -> Done {
    if yes {
        return Ok(());
    }
    let can_ask = io::stdin().is_terminal();
    // A program only reads the error.
    if can_ask || !context.printer.json {
        let is_whole = context.printer.verbosity > Verbosity::Normal;
        let shown = if is_whole { usize::MAX } else { SHOWN };
        let mut lines = lines.into_iter();
        lines.by_ref().take(shown).for_each(|line| context.printer.note(&line));
        if let more @ 1.. = lines.count() {
            context.printer.note(&format!("{more} more; `-v` names each"));
        }
    }
    if !can_ask {
        let what = super::escape::one_line(question.trim_end_matches('?'));
        return Err(Failure::usage(format!("would {what}: add `--yes`")));
    }
    context.printer.say(&format!("{} [y/N]", super::escape::one_line(question)));
    let mut answer = String::new();
    let read = io::BufReader::new(context.stdin()?).read_line(&mut answer);
    match answer.trim().to_ascii_lowercase().as_str() {
        _ if context.interrupt.requested() => {
            Err(Failure::new(Exit::Interrupted, "interrupted; nothing was done"))
        }
        "y" | "yes" if read.is_ok() => Ok(()),
        _ => Err(Failure::new(Exit::Failure, "nothing was done")),
    }
}
