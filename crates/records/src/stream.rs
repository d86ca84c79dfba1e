//! Streaming pass: the item of every row, in the order of the rows; keeps nothing.

use crate::counts::{KeyCounts, KeyLimits, RuleCounts};
use crate::key::{KeyColumn, key_cells};
use crate::key_items::{KeyItems, NO_ITEM};
use crate::key_pass::{KeyPass, Outcome};
use crate::refused_list::RefusedList;
use crate::rule::KeyRule;
use crate::survey::Survey;
use crate::tally::Tally;
use std::ops::ControlFlow;
use vesica_core::Item;
use vesica_inputs::error::{InFile, InputError};
use vesica_tables::{CellColumn, Meter, Progress, Row, Source, Visit, visit};

/// Entries that are passed to the sink together, or as many as the next row has more.
const BLOCK_ENTRIES: usize = 1 << 13;

/// The result of [`stream_items`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Streamed {
    /// Counts of the rows. This pass does not see repeated keys: `duplicates`, `distinct` and
    /// `without_value` are 0.
    pub counts: KeyCounts,
    /// Number of rows, each of which has an item or [`NO_ITEM`]: one, or one for each rule.
    pub rows: u64,
    /// Rows with a usable key.
    pub keyed: u64,
    /// Items, repeated ones included: as many as `keyed` without rules.
    pub items: u64,
}

/// A streaming pass that ended early.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum StreamError<E> {
    /// The input cannot be used, or the pass was interrupted.
    #[error(transparent)]
    Input(#[from] InputError),
    /// The sink failed.
    #[error("the items could not be stored")]
    Sink(#[source] E),
}

/// Streams the item of every row, in the order of the rows: `sink` receives some thousands at a
/// time. Under rules a row has as many as it can have keys, in the order of the rules. A row
/// without a usable key, empty or refused, is counted as in [`crate::read_keys`] and has
/// [`NO_ITEM`].
///
/// Memory is fixed buffers, for any size of the file. `hash` should return digests: the integer 0
/// without a mark is [`NO_ITEM`] too. `progress` is called at most some tens of times a second;
/// `Break` ends the pass with [`InputError::Interrupted`]. After an error `sink` may have received
/// the items of some rows.
///
/// # Errors
/// Any error of the file, an exceeded limit, no rows, or no row with a key; and the error of
/// `sink`.
pub fn stream_items<E>(
    source: &Source,
    columns: &[KeyColumn],
    hash: &KeyItems,
    limits: &KeyLimits,
    sink: &mut dyn FnMut(&[Item]) -> Result<(), E>,
    progress: &mut dyn FnMut(Progress) -> ControlFlow<()>,
) -> Result<Streamed, StreamError<E>> {
    stream_items_with(source, columns, None, hash, limits, sink, progress)
}

/// Like [`stream_items`], with a list to which refused rows go.
///
/// # Errors
/// Errors of [`stream_items`].
pub fn stream_items_with<E>(
    source: &Source,
    columns: &[KeyColumn],
    list: Option<&RefusedList>,
    hash: &KeyItems,
    limits: &KeyLimits,
    sink: &mut dyn FnMut(&[Item]) -> Result<(), E>,
    progress: &mut dyn FnMut(Progress) -> ControlFlow<()>,
) -> Result<Streamed, StreamError<E>> {
    let cells = key_cells(source, columns)?;
    let tally = Tally::new(source, columns, limits, None, list)?;
    stream(source, &cells, hash, tally, sink, progress)
}

/// Like [`stream_items`], over a whole file with the key of `survey`, even if its rows have faults,
/// which are counted in `survey` with the shapes of the key's columns; refused rows go to `list`.
/// The file is read once.
///
/// # Errors
/// Errors of [`stream_items`] that do not concern a row.
pub fn survey_items<E>(
    source: &Source,
    hash: &KeyItems,
    limits: &KeyLimits,
    survey: &mut Survey,
    list: Option<&RefusedList>,
    sink: &mut dyn FnMut(&[Item]) -> Result<(), E>,
    progress: &mut dyn FnMut(Progress) -> ControlFlow<()>,
) -> Result<Streamed, StreamError<E>> {
    let (columns, found) = survey.parts();
    let cells = key_cells(source, columns)?;
    let tally = Tally::new(source, columns, limits, Some(found), list)?;
    stream(source, &cells, hash, tally, sink, progress)
}

fn stream<'a, E>(
    source: &'a Source,
    cells: &[CellColumn],
    hash: &'a KeyItems,
    tally: Tally<'a>,
    sink: &'a mut dyn FnMut(&[Item]) -> Result<(), E>,
    progress: &mut dyn FnMut(Progress) -> ControlFlow<()>,
) -> Result<Streamed, StreamError<E>> {
    let columns = tally.columns;
    let mut stream: Stream<'_, E> = Stream {
        pass: KeyPass::new(columns, hash),
        tally,
        block: Block::default(),
        sink,
        refused: None,
        keyed: 0,
        items: 0,
    };
    let of_rule = |rule: &KeyRule| RuleCounts { name: rule.name.clone(), ..RuleCounts::default() };
    stream.tally.counts.by_rule = hash.rules().iter().map(of_rule).collect();
    let mut meter = Meter::new(source.len_bytes(), progress);
    let rows = visit(source, cells, &mut meter, &mut stream)?;
    if stream.refused.is_none() {
        stream.hand_on();
    }
    let Stream { mut pass, tally, refused, keyed, items, .. } = stream;
    if let Some(error) = refused {
        return Err(StreamError::Sink(error));
    }
    let mut counts = tally.finish(rows, keyed, pass.filled())?;
    counts.frequent = pass.frequent(columns);
    Ok(Streamed { counts, rows, keyed, items })
}

/// The items of consecutive rows. A row has an entry for each rule, or one.
#[derive(Default)]
struct Block {
    /// Those there are; the last may still be in [`KeyPass`].
    items: Vec<Item>,
    /// The entries without an item, relative to the start of the block, ascending.
    gaps: Vec<usize>,
    entries: usize,
}

impl Block {
    /// Inserts [`NO_ITEM`] for entries without an item.
    fn align(&mut self) {
        let mut items = self.items.len();
        let mut end = self.entries;
        self.items.resize(end, NO_ITEM);
        // From the end, so that no item is overwritten before it is moved.
        for gap in self.gaps.drain(..).rev() {
            let moved = end - gap - 1;
            self.items.copy_within(items - moved..items, gap + 1);
            self.items[gap] = NO_ITEM;
            items -= moved;
            end = gap;
        }
    }
}

struct Stream<'a, E> {
    pass: KeyPass<'a>,
    tally: Tally<'a>,
    block: Block,
    sink: &'a mut dyn FnMut(&[Item]) -> Result<(), E>,
    /// The error of the sink.
    refused: Option<E>,
    keyed: u64,
    items: u64,
}

impl<E> Stream<'_, E> {
    /// Passes the block to the sink, and empties it.
    #[inline(never)]
    fn hand_on(&mut self) {
        self.pass.flush(&mut self.block.items);
        self.items += self.block.items.len() as u64;
        self.block.align();
        if self.block.entries > 0 {
            self.refused = (self.sink)(&self.block.items).err();
        }
        self.block.items.clear();
        self.block.entries = 0;
    }
}

impl<E> Visit for Stream<'_, E> {
    fn file(&mut self, file: &InFile) {
        self.tally.file = file.clone();
        self.pass.enter(file);
    }

    #[inline]
    fn row(&mut self, row: &impl Row) -> Result<ControlFlow<()>, InputError> {
        self.tally.check_room(self.pass.rows())?;
        self.tally.look(row)?;
        let (mut has_item, mut refused) = (false, None);
        let Block { items, gaps, entries } = &mut self.block;
        let by_rule = &mut self.tally.counts.by_rule;
        let mut last = None;
        self.pass.collect_each(row, items, |rule, outcome| {
            let is_first = last.replace(rule) != Some(rule);
            match outcome {
                Outcome::Item => {
                    has_item = true;
                    if let (true, Some(counts)) = (is_first, by_rule.get_mut(rule)) {
                        counts.rows += 1;
                    }
                }
                Outcome::Empty => gaps.push(*entries),
                Outcome::TooMany => {
                    by_rule[rule].too_many += 1;
                    gaps.push(*entries);
                }
                Outcome::NotTaken => {
                    by_rule[rule].not_taken += 1;
                    gaps.push(*entries);
                }
                Outcome::Refused { key, reason } => {
                    refused = refused.or(Some((key, reason)));
                    gaps.push(*entries);
                }
            }
            *entries += 1;
        });
        match (refused, has_item) {
            (Some((key, reason)), false) => self.tally.refuse(key, reason, row)?,
            (Some((key, reason)), true) => self.tally.refuse_cell(key, reason, row)?,
            (None, false) => self.tally.counts.empty += 1,
            (None, true) => {}
        }
        self.keyed += u64::from(has_item);
        if self.block.entries < BLOCK_ENTRIES {
            return Ok(ControlFlow::Continue(()));
        }
        self.hand_on();
        Ok(if self.refused.is_some() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) })
    }

    fn goes_on(&self) -> bool {
        self.tally.faults.is_some()
    }

    fn fault(&mut self, error: InputError, is_cut: bool) -> Result<(), InputError> {
        self.tally.read_fault(error, is_cut)
    }
}
