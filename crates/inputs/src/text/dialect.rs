//! Detects the delimiter of a file.

use super::marks::Marks;
use super::scan::{Scan, scan};

/// Delimiters to try, the likelier first.
const CANDIDATES: [u8; 4] = [b',', b';', b'\t', b'|'];

/// Number of records examined.
const SAMPLE_RECORDS: usize = 64;

/// The delimiter for which most records of `head` have as many cells as the first one, and more
/// than one; a comma if there is none (a file with one column).
///
/// If all records after the first one end with a delimiter that the first one lacks, that is one
/// cell more.
///
/// `head` is the beginning of the file; `at_end` means that it is the whole file.
pub fn detect(head: &[u8], at_end: bool) -> u8 {
    let mut best = (0, 0, b',');
    for delimiter in CANDIDATES {
        let (agreeing, cells) = score(head, at_end, delimiter);
        if cells > 1 && (agreeing, cells) > (best.0, best.1) {
            best = (agreeing, cells, delimiter);
        }
    }
    best.2
}

/// How many records have as many cells as the first, or one more that is empty, and their number of
/// cells.
fn score(head: &[u8], at_end: bool, delimiter: u8) -> (usize, usize) {
    let mut spans = Vec::new();
    let marks = Marks::of(head, delimiter);
    let mut at = 0;
    let mut first = None;
    let (mut agreeing, mut ended, mut records) = (0, 0, 0);
    while records < SAMPLE_RECORDS {
        while let Some(b'\n' | b'\r') = head.get(at) {
            at += 1;
        }
        if at == head.len() {
            break;
        }
        let found = scan(head, &marks, at, at_end, delimiter, &mut spans);
        let Scan::Record { len, .. } = found else { break };
        let cells = *first.get_or_insert(spans.len());
        let is_ended =
            spans.len() == cells + 1 && spans.last().is_some_and(|cell| cell.start == cell.end);
        ended += usize::from(is_ended);
        agreeing += usize::from(spans.len() == cells);
        records += 1;
        at += len;
    }
    // A head shorter than one record is judged by its beginning.
    let cells = first.unwrap_or(spans.len());
    if ended > 0 && ended + 1 == records { (records, cells + 1) } else { (agreeing, cells) }
}
