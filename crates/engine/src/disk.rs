//! The disk space of an intersection for intermediate data.

use crate::error::ConfigFault;
use std::path::Path;
use vesica_agreement::Agreement;
use vesica_core::{Item, Operation};
use vesica_partitions::DISK_BYTES_PER_ROW;
use vesica_scratch::FolderScratch;
use vesica_tables::{Codec, Format, Source};

/// The folder for intermediate data of a run between two parties, unless the caller names one.
pub const SCRATCH_DEFAULT: &str = ".";

/// Fewest bytes of a row of text: a field of one byte and the end of the line.
const LEAST_ROW_BYTES: u64 = 2;

/// Upper bound on the bytes on disk for `rows` rows within `memory_bytes` of memory; 0 if all stays
/// in memory. `is_split` says whether the set runs in partitions.
pub fn disk_bytes(rows: u64, is_split: bool, memory_bytes: u64) -> u64 {
    let item = Item::LEN as u64;
    let (in_memory, on_disk) =
        if is_split { (DISK_BYTES_PER_ROW, item + DISK_BYTES_PER_ROW) } else { (item, item) };
    // A quarter of the memory is for the items as they are read, and a quarter for the grouped
    // items.
    let fits = rows.saturating_mul(in_memory) <= memory_bytes / 4;
    if fits { 0 } else { rows.saturating_mul(on_disk) }
}

/// Refuses a folder for intermediate data in which no file can be created. Leaves no file there.
///
/// The default folder is refused only if the rows of `source` may need it: most runs do not, and
/// their current folder may be read-only. The number of rows of a text is not known yet, so its
/// length and the agreement bound them. With a helper the default is the folder of the run's state,
/// whose own check is separate. `party` is this side's name, if it is known.
///
/// # Errors
/// [`ConfigFault::Scratch`].
pub fn check_scratch(
    agreement: &Agreement,
    party: Option<&str>,
    source: &Source,
    memory_bytes: u64,
    scratch: Option<&Path>,
) -> Result<(), ConfigFault> {
    let is_needed = match (scratch, party) {
        _ if agreement.operation() != Operation::Intersection => false,
        (Some(_), _) => true,
        (None, Some(party)) if agreement.helper.is_none() => {
            let terms = agreement.terms_of(party);
            let items = most_rows(source).min(terms.max_rows).saturating_mul(terms.items_per_row);
            disk_bytes(items, items > agreement.partition_rows, memory_bytes) > 0
        }
        _ => false,
    };
    if !is_needed {
        return Ok(());
    }
    let folder = scratch.unwrap_or(SCRATCH_DEFAULT.as_ref()).to_path_buf();
    let tried = FolderScratch::new(folder.clone()).try_out();
    tried.map_err(|error| ConfigFault::Scratch { folder, kind: error.kind() })
}

/// Upper bound on the rows of `source`, as far as known before it is read.
fn most_rows(source: &Source) -> u64 {
    let of_text = match (source.format(), source.codec()) {
        (Format::Csv | Format::Tsv, Codec::Plain) => source.len_bytes().div_ceil(LEAST_ROW_BYTES),
        _ => u64::MAX,
    };
    source.rows().unwrap_or(of_text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use vesica_tables::ReadOptions;

    #[test]
    fn small_sets_stay_in_memory() {
        assert_eq!(disk_bytes(1000, false, 64_000), 0);
        assert_eq!(disk_bytes(1001, false, 64_000), 16_016);
        let split = 1000 * (16 + DISK_BYTES_PER_ROW);
        assert_eq!(disk_bytes(1000, true, 4 * 1000 * DISK_BYTES_PER_ROW), 0);
        assert_eq!(disk_bytes(1000, true, 4 * 1000 * DISK_BYTES_PER_ROW - 4), split);
        assert_eq!(disk_bytes(u64::MAX, true, u64::MAX), u64::MAX);
    }

    #[test]
    fn the_length_of_a_plain_text_bounds_its_rows() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("rows.csv");
        std::fs::write(&path, "k\na\nb\nc\n").unwrap();
        let source = Source::open(&path, &ReadOptions::default()).unwrap();
        assert_eq!(most_rows(&source), 4);
    }
}
