//! The catalogue as a list, grouped by operation.

use super::{helper, unnamed};
use std::io::{self, Write};
use vesica_protocols::{Operation, Row};

/// One line of the list.
struct Line {
    row: Row,
    /// When `auto` may choose it; empty if always.
    note: &'static str,
}

/// The rows that compute `operation`: those that `auto` may choose, or `all`.
fn lines(operation: Operation, all: bool) -> Vec<Line> {
    let rows = Row::all().filter(|row| row.operations().contains(&operation));
    rows.filter_map(|row| {
        let [plain, bounded] = match row {
            Row::Helper(row) => [helper::is_chosen(row); 2],
            Row::TwoParties(row) => {
                let chosen = unnamed::questions(row);
                [false, true]
                    .map(|is_bounded| chosen.contains(&unnamed::Question { operation, is_bounded }))
            }
        };
        let note = match (plain, bounded) {
            (true, _) => "",
            (false, true) => " (by auto only with bounds)",
            (false, false) if all => " (only if named)",
            (false, false) => return None,
        };
        Some(Line { row, note })
    })
    .collect()
}

pub(super) fn write(all: bool, out: &mut impl Write) -> io::Result<()> {
    let groups: Vec<(Operation, Vec<Line>)> =
        Operation::ALL.iter().map(|operation| (*operation, lines(*operation, all))).collect();
    let ids = groups.iter().flat_map(|(_, lines)| lines).map(|line| line.row.id().len());
    let width = ids.max().unwrap_or_default();
    for (operation, lines) in &groups {
        writeln!(out, "{operation}")?;
        for Line { row, note } in lines {
            writeln!(
                out,
                "  {:width$}  {:11}  {:11}  {}{note}",
                row.id(),
                row.security().name(),
                row.trust_model().name(),
                row.name(),
            )?;
        }
        writeln!(out)?;
    }
    if !all {
        writeln!(
            out,
            "These are the protocols that `auto` may choose. --all also lists those that run only \
             if an\n\
             agreement names them, such as protocols of the literature for comparison."
        )?;
    }
    writeln!(out, "`vesica protocols ID` shows one in full.")
}
