//! Cells in columns: as wide as their contents, and together no wider than the terminal.

use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

use crate::cli::escape;

/// A cell.
#[derive(Clone, Debug)]
pub(crate) struct Cell {
    text: String,
    kind: CellKind,
}

/// The layout of a cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum CellKind {
    /// Cut if there is no room.
    Text,
    /// Never cut, so that it can be copied.
    Whole,
    /// Never cut, but begun with the year if the others would have too little room.
    Identifier,
    /// Aligned to the right, and never cut.
    Number,
}

impl Cell {
    pub(crate) fn text(text: &str) -> Cell {
        Cell { text: escape::one_line(text), kind: CellKind::Text }
    }

    pub(crate) fn whole(text: &str) -> Cell {
        Cell { text: escape::one_line(text), kind: CellKind::Whole }
    }

    pub(crate) fn identifier(text: &str) -> Cell {
        Cell { text: escape::one_line(text), kind: CellKind::Identifier }
    }

    pub(crate) fn number(text: impl Into<String>) -> Cell {
        Cell { text: text.into(), kind: CellKind::Number }
    }

    /// Shortens an identifier to the part that all commands understand if it is unambiguous.
    fn shorten(&mut self) {
        if self.kind == CellKind::Identifier
            && let Some((slash, _)) = self.text.match_indices('/').nth(1)
        {
            self.text.drain(..=slash);
        }
    }
}

/// Minimum width of a column of text, which is never narrower than its heading.
const NARROWEST: usize = 6;

/// The width of a column of text below which identifiers are shortened.
const READABLE: usize = 40;

/// Columns for rows that come a page at a time.
#[derive(Debug)]
pub(crate) struct Grid {
    /// Not yet printed.
    headings: Vec<String>,
    /// The width of the terminal; without one, values are complete and separated by tabs.
    terminal: Option<usize>,
    widths: Vec<usize>,
    /// The least width of each column of text.
    least: Vec<usize>,
    /// Whether identifiers are written from the year on; decided with the first rows.
    is_short: Option<bool>,
}

impl Grid {
    pub(crate) fn new(headings: Vec<String>, terminal: Option<usize>) -> Grid {
        let least = headings.iter().map(|it| it.width().max(NARROWEST)).collect();
        Grid { widths: vec![0; headings.len()], headings, terminal, least, is_short: None }
    }

    /// The same, and identifiers are always whole.
    pub(crate) fn with_whole_identifiers(self) -> Grid {
        Grid { is_short: Some(false), ..self }
    }

    /// Whether a person sees the columns.
    pub(crate) fn is_drawn(&self) -> bool {
        self.terminal.is_some()
    }

    /// The lines of some rows, after the headings if they are the first ones. A single column needs no
    /// heading.
    pub(crate) fn lines(&mut self, mut rows: Vec<Vec<Cell>>) -> Vec<String> {
        let Some(terminal) = self.terminal else {
            let texts = |row: &Vec<Cell>| {
                row.iter().map(|it| it.text.as_str()).collect::<Vec<_>>().join("\t")
            };
            return rows.iter().map(texts).collect();
        };
        if rows.is_empty() {
            return Vec::new();
        }
        if let [_] = self.widths[..] {
            return rows.into_iter().flatten().map(|cell| cell.text).collect();
        }
        let kind_of = |at: usize| {
            let kinds = rows.iter().filter(|row| !row[at].text.is_empty()).map(|row| row[at].kind);
            kinds.reduce(|a, b| if a == b { a } else { CellKind::Whole }).unwrap_or(CellKind::Text)
        };
        let kinds: Vec<_> = (0..self.widths.len()).map(kind_of).collect();
        let mut full = self.full_widths(&rows);
        let mut widths = self.fit(&full, &kinds, terminal);
        let is_cramped = || {
            let columns = widths.iter().zip(&full).zip(&kinds);
            let mut texts = columns.filter(|(_, kind)| **kind == CellKind::Text);
            texts.any(|((width, full), _)| width < full.min(&READABLE))
        };
        if *self.is_short.get_or_insert_with(is_cramped) {
            rows.iter_mut().flatten().for_each(Cell::shorten);
            full = self.full_widths(&rows);
            widths = self.fit(&full, &kinds, terminal);
        }
        self.widths = full;
        let headings = std::mem::take(&mut self.headings);
        let headings = (!headings.is_empty()).then(|| {
            let cells = headings.iter().zip(&kinds);
            cells.map(|(text, kind)| Cell { text: text.clone(), kind: *kind }).collect()
        });
        headings.iter().chain(&rows).map(|row| line(row, &widths, &kinds)).collect()
    }

    /// The widths that show all of `rows`, and are not less than before.
    fn full_widths(&self, rows: &[Vec<Cell>]) -> Vec<usize> {
        let widest = |at: usize| rows.iter().map(|row| row[at].text.width()).max().unwrap_or(0);
        let heading = |at: usize| self.headings.get(at).map_or(0, |it| it.width());
        let before = self.widths.iter().enumerate();
        before.map(|(at, width)| widest(at).max(*width).max(heading(at))).collect()
    }

    /// Narrows the widest columns of text until all fit.
    fn fit(&self, full: &[usize], kinds: &[CellKind], terminal: usize) -> Vec<usize> {
        let mut widths = full.to_vec();
        let between = 2 * widths.len().saturating_sub(1);
        let mut excess = (widths.iter().sum::<usize>() + between).saturating_sub(terminal);
        while excess > 0 {
            let columns = widths.iter_mut().zip(kinds).zip(&self.least);
            let wide = columns
                .filter(|((width, kind), least)| **kind == CellKind::Text && **width > **least);
            let Some(((widest, _), _)) = wide.max_by_key(|((width, _), _)| **width) else { break };
            *widest -= 1;
            excess -= 1;
        }
        widths
    }
}

fn line(row: &[Cell], widths: &[usize], kinds: &[CellKind]) -> String {
    let mut line = String::new();
    for ((cell, width), kind) in row.iter().zip(widths).zip(kinds) {
        let text =
            if *kind == CellKind::Text { cut(&cell.text, *width) } else { cell.text.clone() };
        let pad = " ".repeat(width.saturating_sub(text.width()));
        line += &match kind {
            CellKind::Number => pad + &text,
            CellKind::Text | CellKind::Whole | CellKind::Identifier => text + &pad,
        };
        line += "  ";
    }
    line.truncate(line.trim_end().len());
    line
}

/// The beginning of `text`, in at most `columns`.
pub(crate) fn cut(text: &str, columns: usize) -> String {
    if text.width() <= columns {
        return text.to_owned();
    }
    let mut width = 0;
    let fits = |it: &char| {
        width += it.width().unwrap_or(0);
        width < columns
    };
    text.chars().take_while(fits).collect::<String>() + "…"
}

/// The end of `text`, in at most `columns`.
pub(crate) fn cut_start(text: &str, columns: usize) -> String {
    if text.width() <= columns {
        return text.to_owned();
    }
    let mut width = 0;
    let fits = |(_, it): &(usize, char)| {
        width += it.width().unwrap_or(0);
        width < columns
    };
    let start = text.char_indices().rev().take_while(fits).last();
    format!("…{}", start.map_or("", |(at, _)| &text[at..]))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn headings() -> Vec<String> {
        ["SIZE", "IDENTIFIER", "TITLE"].map(str::to_owned).into()
    }

    fn rows() -> Vec<Vec<Cell>> {
        let row =
            |id, bytes: &str, title| vec![Cell::number(bytes), Cell::whole(id), Cell::text(title)];
        vec![
            row("example.org/a/2026/11.21.02.13", "41 B", "Relatório anual de atividades"),
            row("example.org/a/2026/11.21.02.14", "1.4 MiB", "年次報告書\tde atividades\u{1b}[2J"),
            row("example.org/a/2026/11.21.02.15", "", ""),
        ]
    }

    #[test]
    fn identifiers_make_room_for_text_and_headings_stay_whole() {
        let headings: Vec<_> = ["IDENTIFIER", "COLLECTION", "TITLE"].map(str::to_owned).into();
        let rows = |title: &str| {
            let row = [
                Cell::identifier("example.org/a/2026/11.21.02.13"),
                Cell::text("m"),
                Cell::text(title),
            ];
            vec![row.into()]
        };
        let title = "Photographs of the expedition to the upper Xingu";
        let mut grid = Grid::new(headings.clone(), Some(80));
        let lines = grid.lines(rows(title));
        assert_eq!(lines[1], format!("2026/11.21.02.13  m           {title}"));
        // All pages are alike.
        assert!(grid.lines(rows("short"))[0].starts_with("2026/"));
        // If the text has room, or a person has chosen the columns, identifiers stay whole.
        let whole = "example.org/a/2026/11.21.02.13";
        let mut grid = Grid::new(headings.clone(), Some(80));
        assert!(grid.lines(rows("short"))[1].starts_with(whole));
        assert!(grid.lines(rows(title))[0].starts_with(whole));
        let mut grid = Grid::new(headings.clone(), Some(80)).with_whole_identifiers();
        assert!(grid.lines(rows(title))[1].starts_with(whole));
        let mut narrow = Grid::new(headings, Some(20));
        assert!(narrow.lines(rows(title))[0].contains("  COLLECTION  TITLE"));
    }

    #[test]
    fn columns_fit_the_terminal_and_the_identifier_stays_whole() {
        let mut grid = Grid::new(headings(), Some(56));
        let lines = grid.lines(rows());
        assert_eq!(
            lines,
            [
                "   SIZE  IDENTIFIER                      TITLE",
                "   41 B  example.org/a/2026/11.21.02.13  Relatório anua…",
                "1.4 MiB  example.org/a/2026/11.21.02.14  年次報告書\\tde…",
                "         example.org/a/2026/11.21.02.15",
            ]
        );
        assert!(lines.iter().all(|line| line.width() <= 56));
        // The next page has no headings, and is not narrower.
        let next = grid.lines(vec![vec![Cell::number("1 B"), Cell::whole("a"), Cell::text("b")]]);
        assert_eq!(next, [format!("    1 B  {:<30}  b", "a")]);
        let mut narrow = Grid::new(headings(), Some(10));
        assert!(narrow.lines(rows())[1].ends_with("11.21.02.13  Relat…"));
    }

    #[test]
    fn in_a_pipe_values_are_whole_and_one_a_field() {
        let mut grid = Grid::new(headings(), None);
        let lines = grid.lines(rows());
        assert_eq!(lines[0], "41 B\texample.org/a/2026/11.21.02.13\tRelatório anual de atividades");
        assert!(lines.iter().all(|line| line.matches('\t').count() == 2), "{lines:?}");
    }
}
