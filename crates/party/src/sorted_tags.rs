//! The last step of protocols in which the sender sends its tags sorted: it sends their Elias–Fano
//! code, group by group, and the receiver looks up its own tags as the groups arrive.

use rand::RngExt;
use std::num::NonZeroUsize;
use std::ops::Range;
use vesica_core::elias_fano::{Decoder, Encoder, Group, Shape, sort_group};
use vesica_core::tagged::{AsTag, Gathered, Tagged};
use vesica_core::{Error, Misbehaviour, Result};
use vesica_net::Context;

/// Bytes of the code in one message.
const BYTES_PER_MESSAGE: usize = 1 << 18;

/// Own tags that one CPU thread looks up at a time.
const TAGS_PER_TASK: usize = 1 << 14;

/// Room for a set of `shape`.
pub fn gather<T: AsTag>(shape: Shape) -> Gathered<T> {
    Gathered::new(shape.len() as usize, shape.tag_bits(), shape.group_bits())
}

/// Room for `len` own tags, to be looked up in a set of `shape`.
pub fn gather_own(shape: Shape, len: usize) -> Gathered<Tagged> {
    Gathered::new(len, shape.tag_bits(), shape.group_bits())
}

/// `tags`, to be sent or to be looked up in a set of `shape`.
pub fn gathered(shape: Shape, tags: Vec<Tagged>) -> Gathered<Tagged> {
    let mut gathered = gather_own(shape, tags.len());
    tags.into_iter().for_each(|tag| gathered.push(tag));
    gathered
}

/// Sends `tags`; returns the positions of their items in the order sent.
///
/// Sorting hides the order in which they were computed, and so everything but their values.
///
/// # Errors
/// As [`send_gathered`].
pub fn send(ctx: &mut Context, shape: Shape, tags: Gathered<Tagged>) -> Result<Vec<u32>> {
    let mut order = Vec::with_capacity(shape.len() as usize);
    send_groups(ctx, shape, tags, |sorted| {
        order.extend(sorted.iter().map(Tagged::position));
    })?;
    Ok(order)
}

/// [`send`] for tags whose positions are not needed afterwards.
///
/// # Errors
/// The errors of the connection; [`Error::Bug`] if the number of tags differs from `shape`.
pub fn send_gathered(ctx: &mut Context, shape: Shape, tags: Gathered) -> Result<()> {
    send_groups(ctx, shape, tags, |_| {})
}

/// Sends the groups of a code one after the other, and passes each, sorted, to `sent`.
fn send_groups<T: AsTag>(
    ctx: &mut Context,
    shape: Shape,
    mut tags: Gathered<T>,
    mut sent: impl FnMut(&[T]),
) -> Result<()> {
    if tags.len() as u64 != shape.len() {
        return Err(Error::Bug("a set of tags has another size than was agreed"));
    }
    if shape.is_empty() {
        return Ok(());
    }
    let mut encoder = Encoder::new(shape);
    let mut done = 0;
    let mut code = Vec::new();
    for groups in tags.buckets_mut().chunks_mut(ctx.pool().len()) {
        let mut ends: Vec<Vec<u32>> = groups.iter().map(|_| Vec::new()).collect();
        let tasks = groups.iter_mut().zip(&mut ends).collect();
        ctx.pool().for_each(tasks, |(group, ends)| *ends = sort_group(&shape, group));
        for (group, ends) in groups.iter_mut().zip(ends) {
            let mut start = 0;
            for end in ends {
                encoder.section(&group[start..end as usize]);
                start = end as usize;
            }
            done += group.len() as u64;
            sent(group);
            *group = Vec::new();
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

/// Receives a set of tags and finds which of `own`, gathered for `shape`, are in it.
///
/// # Errors
/// [`Misbehaviour::InvalidValue`] for bytes that are not a code of `shape`.
pub fn find(ctx: &mut Context, shape: Shape, own: &Gathered<Tagged>) -> Result<Vec<Match>> {
    if shape.is_empty() {
        return Ok(Vec::new());
    }
    let own = own.buckets();
    let mut decoder = Decoder::new(shape);
    let mut bytes_left = shape.bytes();
    let mut first_place = 0u32;
    let mut matches = Vec::new();
    let all: Vec<usize> = (0..own.len()).collect();
    for groups in all.chunks(ctx.pool().len()) {
        let mut decoded: Vec<(u32, usize, Group)> = Vec::new();
        for group in groups {
            let tags = decoder.group(|| {
                let len = bytes_left.min(BYTES_PER_MESSAGE as u64);
                bytes_left -= len;
                match len {
                    0 => Err(Misbehaviour::InvalidValue.into()),
                    _ => ctx.peer()?.recv(len as usize),
                }
            })?;
            let len = tags.len() as u32;
            decoded.push((first_place, *group, tags));
            first_place += len;
        }
        let mut tasks = Vec::new();
        for (first_place, group, tags) in &decoded {
            // A short list from the peer has one group, however long this party's list is.
            let own = own[*group].chunks(TAGS_PER_TASK);
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

/// The position of a tag that belongs to no item: sets have fewer items.
const NOBODY: u32 = u32::MAX;

/// As [`find`], with a check of the peer's tags: this party's items at the positions `shared`,
/// which both parties know, must be found, and the same number of random 128-bit tags must not be.
/// Whether the check fails depends on no other items of the set.
///
/// # Errors
/// The errors of [`find`]; [`Misbehaviour::SelfCheckFailed`].
pub fn find_checked(
    ctx: &mut Context,
    shape: Shape,
    own: &mut Gathered<Tagged>,
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
    if missing.contains(&true) { Err(Misbehaviour::SelfCheckFailed.into()) } else { Ok(matches) }
}

/// The own positions of the matches, ascending, each once.
pub fn own_positions(matches: &[Match], own_len: usize) -> Vec<usize> {
    let mut common = vec![false; own_len];
    matches.iter().for_each(|found| common[found.own as usize] = true);
    let mut positions = vec![0; matches.len() + 1];
    let mut len = 0;
    for (i, common) in common.into_iter().enumerate() {
        // Always written, and kept if it is common: a branch would often be mispredicted.
        positions[len] = i;
        len += usize::from(common);
    }
    positions.truncate(len);
    positions
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;
    use vesica_core::Role;
    use vesica_net::{Meter, Pool, Streams, memory};

    /// What the receiver that has `own` finds in `tags`; both parties know the first `shared` of
    /// `own`.
    fn found(tags: &[u128], own: &[u128], shared: usize) -> Result<Vec<Match>> {
        let shape = Shape::new(tags.len() as u64, 128);
        let tagged = |tags: &[u128]| {
            let tags = tags.iter().zip(0..).map(|(tag, position)| Tagged::new(*tag, position));
            gathered(shape, tags.collect())
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
            find_checked(&mut ctx, shape, &mut tagged(own), &(0..shared))
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
