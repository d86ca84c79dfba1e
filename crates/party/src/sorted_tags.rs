//! The last step of protocols in which the sender sends its tags sorted: it sends their
//! Elias–Fano code, section by section, and the receiver looks up its own tags as the sections arrive.

use rand::RngExt;
use std::num::NonZeroUsize;
use std::ops::Range;
use vesica_core::elias_fano::{Decoder, Encoder, Section, Shape, sort_section};
use vesica_core::tagged::{AsTag, Buckets, Gathered, Tagged};
use vesica_core::{Error, Misbehaviour, Result};
use vesica_net::Context;

/// Bytes of the code in one message.
const BYTES_PER_MESSAGE: usize = 1 << 18;

/// Sections that one CPU thread works on at a time.
const SECTIONS_PER_THREAD: usize = 8;

/// Own tags that one CPU thread looks up at a time.
const TAGS_PER_TASK: usize = 1 << 14;

/// Sends `tags`; gives the positions of their items in the order sent.
///
/// Sorting hides the order in which they were computed, and so everything but their values.
pub fn send(ctx: &mut Context, shape: Shape, tags: Vec<Tagged>) -> Result<Vec<u32>> {
    if shape.is_empty() {
        return Ok(Vec::new());
    }
    let buckets = ctx.pool().run(|| Buckets::new(tags, shape.tag_bits(), shape.section_bits()));
    let sections: Vec<&[Tagged]> = (0..buckets.len()).map(|i| buckets.bucket(i)).collect();
    let mut order = Vec::with_capacity(shape.len() as usize);
    send_sections(ctx, shape, &sections, |sorted| {
        order.extend(sorted.iter().map(Tagged::position));
    })?;
    Ok(order)
}

/// Room for the tags of [`send_gathered`].
pub fn gather(shape: Shape) -> Gathered {
    Gathered::new(shape.len() as usize, shape.tag_bits(), shape.section_bits())
}

/// [`send`] for tags whose positions are not needed afterwards.
///
/// # Errors
/// Of the connection; [`Error::Bug`] if there are not as many tags as `shape` says.
pub fn send_gathered(ctx: &mut Context, shape: Shape, tags: &Gathered) -> Result<()> {
    if tags.len() as u64 != shape.len() {
        return Err(Error::Bug("a set of tags has another size than was agreed"));
    }
    if shape.is_empty() {
        return Ok(());
    }
    let sections: Vec<&[u128]> = tags.buckets().iter().map(Vec::as_slice).collect();
    send_sections(ctx, shape, &sections, |_| {})
}

/// Sends the sections of a code one after the other, and passes each, sorted, to `sent`.
fn send_sections<T: AsTag + Sync>(
    ctx: &mut Context,
    shape: Shape,
    sections: &[&[T]],
    mut sent: impl FnMut(&[T]),
) -> Result<()> {
    let mut encoder = Encoder::new(shape);
    let mut done = 0;
    let mut code = Vec::new();
    for sections in sections.chunks(SECTIONS_PER_THREAD * ctx.pool().len()) {
        let sorted =
            ctx.map(sections, NonZeroUsize::MIN, |section| sort_section(&shape, section[0]));
        for sorted in sorted {
            encoder.section(&sorted);
            done += sorted.len() as u64;
            sent(&sorted);
        }
        code.append(&mut encoder.take());
        let whole = code.len() - code.len() % BYTES_PER_MESSAGE;
        code[..whole].chunks(BYTES_PER_MESSAGE).try_for_each(|part| ctx.peer()?.send(part))?;
        code.drain(..whole);
        ctx.progress(done, shape.len());
    }
    code.append(&mut encoder.finish());
    code.chunks(BYTES_PER_MESSAGE).try_for_each(|part| ctx.peer()?.send(part))?;
    ctx.finish()
}

/// A tag both parties have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Match {
    /// Position of the item in this party's own list.
    pub own: u32,
    /// Place of the tag in the order sent.
    pub place: u32,
}

/// Receives a set of tags and finds which of `own` are in it.
///
/// # Errors
/// [`Misbehaviour::InvalidValue`] for bytes that are not a code of `shape`.
pub fn find(ctx: &mut Context, shape: Shape, own: Vec<Tagged>) -> Result<Vec<Match>> {
    if shape.is_empty() {
        return Ok(Vec::new());
    }
    let own = ctx.pool().run(|| Buckets::new(own, shape.tag_bits(), shape.section_bits()));
    let mut decoder = Decoder::new(shape);
    let mut bytes_left = shape.bytes();
    let mut first_place = 0u32;
    let mut matches = Vec::new();
    let all: Vec<usize> = (0..own.len()).collect();
    for sections in all.chunks(SECTIONS_PER_THREAD * ctx.pool().len()) {
        let mut decoded: Vec<(u32, usize, Section)> = Vec::new();
        for section in sections {
            let tags = decoder.section(|| {
                let len = bytes_left.min(BYTES_PER_MESSAGE as u64);
                bytes_left -= len;
                match len {
                    0 => Err(Misbehaviour::InvalidValue.into()),
                    _ => ctx.peer()?.recv(len as usize),
                }
            })?;
            let len = tags.len() as u32;
            decoded.push((first_place, *section, tags));
            first_place += len;
        }
        let mut tasks = Vec::new();
        for (first_place, section, tags) in &decoded {
            // A short list of the peer has one section for any length of ours.
            let own = own.bucket(*section).chunks(TAGS_PER_TASK);
            tasks.extend(own.map(|own| (*first_place, tags, own)));
        }
        let found = ctx.map(&tasks, NonZeroUsize::MIN, |task| {
            let (first_place, tags, own) = task[0];
            let matches = tags.matches(own);
            let of_all = |(own, place)| Match { own, place: first_place + place };
            matches.into_iter().map(of_all).collect::<Vec<_>>()
        });
        found.iter().for_each(|found| matches.extend_from_slice(found));
        ctx.progress(u64::from(first_place), shape.len());
    }
    if bytes_left > 0 {
        return Err(Misbehaviour::InvalidValue.into());
    }
    decoder.finish()?;
    Ok(matches)
}

/// Position of a tag that belongs to no item: sets have fewer items.
const NOBODY: u32 = u32::MAX;

/// [`find`], with a check of the peer's tags: this party's items at the positions `shared`, which both parties know,
/// must be found, and the same number of random tags of 128 bits must not. Whether the check fails depends on no other
/// items of the set.
///
/// # Errors
/// Those of [`find`]; [`Misbehaviour::SelfCheckFailed`].
pub fn find_checked(
    ctx: &mut Context,
    shape: Shape,
    mut own: Vec<Tagged>,
    shared: &Range<usize>,
) -> Result<Vec<Match>> {
    for _ in shared.clone() {
        own.push(Tagged::new(ctx.rng().random(), NOBODY));
    }
    let matches = find(ctx, shape, own)?;
    let mut missing = vec![true; shared.len()];
    for found in &matches {
        if found.own == NOBODY {
            return Err(Misbehaviour::SelfCheckFailed.into());
        }
        let position = found.own as usize;
        if shared.contains(&position) {
            missing[position - shared.start] = false;
        }
    }
    match missing.contains(&true) {
        true => Err(Misbehaviour::SelfCheckFailed.into()),
        false => Ok(matches),
    }
}

/// The own positions of the matches, ascending, each once.
pub fn own_positions(matches: &[Match], own_len: usize) -> Vec<usize> {
    let mut common = vec![false; own_len];
    matches.iter().for_each(|found| common[found.own as usize] = true);
    common.iter().enumerate().filter(|(_, common)| **common).map(|(i, _)| i).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;
    use vesica_core::Role;
    use vesica_net::{Meter, Pool, Streams, memory};

    /// What the receiver of `own`, of which both know the first `shared`, finds in `tags`.
    fn found(tags: &[u128], own: &[u128], shared: usize) -> Result<Vec<Match>> {
        let shape = Shape::new(tags.len() as u64, 128);
        let tagged = |tags: &[u128]| -> Vec<Tagged> {
            tags.iter().zip(0..).map(|(tag, position)| Tagged::new(*tag, position)).collect()
        };
        let context = |end: Arc<dyn Streams>, peer| {
            let pool = Pool::new(NonZeroUsize::MIN).unwrap();
            Context::new(vec![(peer, end)], [3; 32], pool, Meter::new()).unwrap()
        };
        let (ours, theirs) = memory::pair();
        std::thread::scope(|scope| {
            scope.spawn(move || {
                let mut ctx = context(theirs, Role::Receiver);
                send(&mut ctx, shape, tagged(tags)).unwrap();
            });
            let mut ctx = context(ours, Role::Sender);
            find_checked(&mut ctx, shape, tagged(own), &(0..shared))
        })
    }

    #[test]
    fn a_list_without_an_item_known_to_both_is_refused_before_any_answer() {
        let tags: Vec<u128> = (1..40).map(|i| i << 120).collect();
        let own: Vec<u128> = (1..20).map(|i| i << 121).collect();
        assert_eq!(found(&tags, &own, 0).unwrap().len(), 19);
        assert_eq!(found(&tags, &own, 4).unwrap().len(), 19);
        for lost in 0..4 {
            let mut tags = tags.clone();
            tags[2 * lost + 1] = 77;
            let refused = Err(Misbehaviour::SelfCheckFailed.into());
            assert_eq!(found(&tags, &own, 4), refused, "the {lost}th");
            assert_eq!(found(&tags, &own, lost).map(|found| found.len()), Ok(18));
        }
    }
}
