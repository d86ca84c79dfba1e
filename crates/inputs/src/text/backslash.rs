//! Quotes that are written with a backslash, `"a \"b\" c"`, as Spark does it: CSV doubles them.
//!
//! A reader of CSV takes the first such quote for the end of its cell, or, before the closing
//! quote, for a doubled one that swallows what follows. Nearly always that is an error in the same
//! record. Its cause is looked for here, so that the error names it, and so that no record with the
//! right number of cells by chance is taken for a row.

use super::scan::Span;

/// The first quote of `cell` after a backslash that a delimiter or a line end follows when its twin
/// is taken for the closing quote: its offset in `cell`, the text of a quoted cell with doubled
/// quotes.
pub(super) fn closed_by_twin(cell: &[u8], delimiter: u8) -> Option<usize> {
    let is_end = |byte: u8| byte == delimiter || matches!(byte, b'\n' | b'\r');
    let found = |four: &[u8]| four.starts_with(b"\\\"\"") && is_end(four[3]);
    cell.windows(4).position(found).map(|at| at + 1)
}

/// The offset of the first quote after a backslash in a record of `cells` that shows how its quotes
/// are written: it ends a cell, or is taken for a doubled quote before the end of one; and a later
/// cell without an opening quote has a closing one.
pub(super) fn first_in(record: &[u8], cells: &[Span], delimiter: u8) -> Option<usize> {
    let text = |span: &Span| &record[span.start as usize..span.end as usize];
    let is_quoted = |span: &Span| span.start > 0 && record[span.start as usize - 1] == b'"';
    let last = cells.iter().rposition(|span| !is_quoted(span) && text(span).ends_with(b"\""))?;
    cells[..last].iter().filter(|span| is_quoted(span)).find_map(|span| match text(span) {
        [.., b'\\'] => Some(span.end as usize),
        cell if span.escaped => closed_by_twin(cell, delimiter).map(|at| span.start as usize + at),
        _ => None,
    })
}
