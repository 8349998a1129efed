//! `docs/first-minute.svg`, the picture of a terminal in README.md, shows what the program prints there.
//!
//! The commands are those in the picture, typed again on a terminal as wide as the picture. To change the
//! session, edit the rows that begin with `$ `; `SNAPSHOTS=overwrite cargo test docs` draws the rest.

use std::fmt::Write as _;
use std::path::Path;

use super::shell::Shell;
use super::{Block, ROOT};
use crate::support::World;

const PICTURE: &str = "docs/first-minute.svg";

/// The width of the terminal in characters.
const COLUMNS: u16 = 98;

/// The width of a character in tenths of a pixel; the height of a row and the margin around all, in pixels.
const CHARACTER: usize = 84;
const ROW: usize = 20;
const MARGIN: usize = 16;

/// What stands between the output of a command and the next prompt, in pixels.
const GAP: usize = 6;

#[test]
fn the_picture_of_the_first_minute_is_true() {
    let path = Path::new(ROOT).join(PICTURE);
    let picture = std::fs::read_to_string(&path).unwrap();
    let shown = lines_of(&picture);
    let block = Block { at: 0, lines: shown.iter().map(String::as_str).collect() };
    let steps = block.steps();
    assert!(steps.len() > 5, "{PICTURE} shows no session");
    let world = World::new();
    let Some(mut shell) = Shell::in_colour(&world, COLUMNS) else { return };
    let mut rows = Vec::new();
    let mut differences = String::new();
    for step in steps {
        let (_, output) = shell.types(step.command);
        let plain: Vec<_> = output.iter().map(|line| text_of(&styled(line))).collect();
        if !shell.recognises(&step.output, &plain) {
            differences += &format!("$ {}\n{}\n", step.command, plain.join("\n"));
        }
        let command = format!("\u{1b}[32m$\u{1b}[0m \u{1b}[1m{}\u{1b}[0m", step.command);
        rows.extend(std::iter::once(command).chain(output));
    }
    if differences.is_empty() {
        return;
    }
    let overwrite = std::env::var("SNAPSHOTS").is_ok_and(|value| value == "overwrite");
    assert!(overwrite, "{PICTURE}:\n{differences}`SNAPSHOTS=overwrite cargo test docs` draws it");
    std::fs::write(&path, draw(&rows)).unwrap();
}

/// A character, and the codes of its colour and weight: the parameters of `ESC [ … m`.
type Styled = (char, Vec<String>);

fn styled(line: &str) -> Vec<Styled> {
    let mut pieces = line.split("\u{1b}[");
    let first = pieces.next().unwrap_or_default();
    let mut styled: Vec<_> = first.chars().map(|it| (it, Vec::new())).collect();
    let mut codes = Vec::new();
    for piece in pieces {
        let (code, text) = piece.split_once('m').expect("only colours and weights");
        if code == "0" {
            codes.clear();
        } else {
            codes.extend(code.split(';').map(str::to_owned));
        }
        styled.extend(text.chars().map(|it| (it, codes.clone())));
    }
    styled
}

fn text_of(line: &[Styled]) -> String {
    line.iter().map(|(it, _)| it).collect()
}

/// The lines of a picture. A line that is wider than the terminal has several rows.
fn lines_of(picture: &str) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for row in picture.lines().filter(|row| row.starts_with("<text ")) {
        let mut text = String::new();
        for piece in row.split('<') {
            text += piece.split_once('>').map_or(piece, |(_, text)| text);
        }
        let text = text.replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&");
        match lines.last_mut() {
            Some(line) if row.contains(CONTINUED) => *line += &text,
            _ => lines.push(text),
        }
    }
    lines
}

/// Marks a row that goes on with the line above.
const CONTINUED: &str = "class=\"continued\"";

/// The colours of both schemes have a contrast of 4.5 : 1 and more.
const HEAD: &str = r#"<style>
svg { --page: #f6f8fa; --edge: #d0d7de; --text: #1f2328; --red: #b31d28; --green: #116329; --yellow: #7d4e00; --cyan: #0550ae }
@media (prefers-color-scheme: dark) {
  svg { --page: #0d1117; --edge: #3d444d; --text: #e6edf3; --red: #ff7b72; --green: #56d364; --yellow: #e3b341; --cyan: #79c0ff }
}
rect { fill: var(--page); stroke: var(--edge) }
text { fill: var(--text); font: 14px ui-monospace, SFMono-Regular, Menlo, Consolas, "DejaVu Sans Mono", monospace; white-space: pre }
.c1 { font-weight: 600 } .c2 { opacity: 0.75 } .c4 { text-decoration: underline }
.c31 { fill: var(--red) } .c32 { fill: var(--green) } .c33 { fill: var(--yellow) } .c36 { fill: var(--cyan) }
</style>"#;

/// A picture of `lines`, each row in a line of its own.
fn draw(lines: &[String]) -> String {
    let mut rows = String::new();
    let mut y = MARGIN - GAP;
    for line in lines.iter().map(|line| styled(line)) {
        y += if text_of(&line).starts_with("$ ") { GAP } else { 0 };
        let empty = [line.as_slice()];
        let parts: Vec<_> =
            if line.is_empty() { empty.into() } else { line.chunks(COLUMNS.into()).collect() };
        for (number, part) in parts.into_iter().enumerate() {
            y += ROW;
            let class = if number > 0 { format!("{CONTINUED} ") } else { String::new() };
            // Whatever the font, a row is as wide as on the terminal.
            let tenths = CHARACTER * part.len();
            let length = format!("textLength=\"{}.{}\"", tenths / 10, tenths % 10);
            let place = format!("x=\"{MARGIN}\" y=\"{}\"", y - ROW / 4);
            writeln!(rows, "<text {class}{place} {length}>{}</text>", markup(part)).unwrap();
        }
    }
    let (width, height) =
        ((CHARACTER * usize::from(COLUMNS)).div_ceil(10) + 2 * MARGIN, y + MARGIN);
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" \
         viewBox=\"0 0 {width} {height}\" role=\"img\" xml:space=\"preserve\">\n\
         <title>The first minute with urepo, in a terminal</title>\n{HEAD}\n\
         <rect x=\"0.5\" y=\"0.5\" width=\"{}\" height=\"{}\" rx=\"8\"/>\n{rows}</svg>\n",
        width - 1,
        height - 1
    )
}

fn markup(part: &[Styled]) -> String {
    let mut markup = String::new();
    for run in part.chunk_by(|one, next| one.1 == next.1) {
        let text = text_of(run).replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
        let classes: Vec<_> = run[0].1.iter().map(|code| format!("c{code}")).collect();
        if classes.is_empty() {
            markup += &text;
        } else {
            write!(markup, "<tspan class=\"{}\">{text}</tspan>", classes.join(" ")).unwrap();
        }
    }
    markup
}
