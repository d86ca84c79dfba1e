//! The last step of protocols in which the receiver compares tags: it finds what is common and,
//! with [`Learns::Both`], tells the sender.

use crate::{Output, sorted_tags};
use rand::Rng;
use std::num::NonZeroUsize;
use vesica_core::elias_fano::Shape;
use vesica_core::hash::ItemHash;
use vesica_core::tagged::Tagged;
use vesica_core::tags::{Tag, TagSet};
use vesica_core::{Item, Learns, PsiParams, Result, Shuffled, bit, pack_bits};
use vesica_net::Context;

/// How many items one CPU thread works on at a time.
const ITEMS_PER_TASK: NonZeroUsize = NonZeroUsize::new(4096).unwrap();

/// Bytes of the answer in one message.
const BYTES_PER_MESSAGE: usize = 1 << 20;

/// Payload bytes from the receiver to the sender: one bit per item of the sender, or nothing.
pub fn bytes(params: &PsiParams) -> u64 {
    match params.learns() {
        Learns::Receiver => 0,
        Learns::Both => params.sender_len().div_ceil(8) as u64,
    }
}

/// Flights of a run that takes `alone` of them if only the receiver learns: one more if it tells
/// the sender, none if a set is empty.
pub fn flights(params: &PsiParams, alone: u64) -> u64 {
    match params.learns() {
        _ if params.has_empty_set() => 0,
        Learns::Receiver => alone,
        Learns::Both => alone + 1,
    }
}

/// The receiver's side: returns the set of the sender's tags, in which it looks up its own. With
/// [`Learns::Both`] it tells the sender which of `tags_of_x`, in their order, are among
/// `tags_of_y`.
pub fn send(
    ctx: &mut Context,
    params: &PsiParams,
    tags_of_x: Vec<Tag>,
    tags_of_y: &[Tag],
) -> Result<TagSet> {
    let len = params.tag_len_bytes();
    if params.learns() == Learns::Both {
        let of_y = ctx.pool().run(|| TagSet::new(tags_of_y.to_vec(), len));
        send_bytes(ctx, &pack_bits(tags_of_x.iter().map(|tag| of_y.contains(*tag))))?;
    }
    Ok(ctx.pool().run(|| TagSet::new(tags_of_x, len)))
}

/// The sender's side: what it learns of the items it sent in the order of `x`.
pub fn receive(ctx: &mut Context, params: &PsiParams, x: &Shuffled) -> Result<Output> {
    match params.learns() {
        Learns::Receiver => Ok(Output::Nothing),
        Learns::Both => {
            let bits = receive_bytes(ctx, params.sender_len().div_ceil(8))?;
            Ok(Output::Positions(x.own_positions(|place| bit(&bits, place))))
        }
    }
}

/// The receiver's side if the sender's tags came in an order of their own: tells the sender the
/// places of the common ones.
pub fn send_places(
    ctx: &mut Context,
    params: &PsiParams,
    places: impl Iterator<Item = usize>,
) -> Result<()> {
    if params.learns() == Learns::Receiver {
        return Ok(());
    }
    let mut common = vec![false; params.sender_len()];
    places.for_each(|place| common[place] = true);
    send_bytes(ctx, &pack_bits(common.into_iter()))
}

/// The sender's side of [`send_places`]; `order` has the position of the item at each place.
pub fn receive_places(ctx: &mut Context, params: &PsiParams, order: &[u32]) -> Result<Output> {
    match params.learns() {
        Learns::Receiver => Ok(Output::Nothing),
        Learns::Both => {
            let bits = receive_bytes(ctx, order.len().div_ceil(8))?;
            Ok(positions_at(order, |place| bit(&bits, place)))
        }
    }
}

/// The positions, ascending, of the items at the common places.
pub fn positions_at(order: &[u32], is_common: impl Fn(usize) -> bool) -> Output {
    let mut common = vec![false; order.len()];
    for (place, position) in order.iter().enumerate() {
        common[*position as usize] = is_common(place);
    }
    positions_of_flags(&common)
}

/// The positions that are set, ascending; the work depends neither on which are set nor on how
/// many.
pub fn positions_of_flags(is_common: &[bool]) -> Output {
    let (mut positions, mut len) = (vec![0; is_common.len()], 0);
    for (position, is_common) in is_common.iter().enumerate() {
        // The next position overwrites one that is not common.
        positions[len] = position;
        len += usize::from(*is_common);
    }
    positions.truncate(len);
    Output::Positions(positions)
}

const COMMON_LABEL: &str = "vesica v1 common item";

/// The tags of [`send_items`].
fn common_shape(params: &PsiParams) -> Shape {
    Shape::new(params.sender_len().min(params.receiver_len()) as u64, params.tag_bits())
}

/// Payload bytes of [`send_items`]: as many tags as items can be common, or nothing.
pub fn items_bytes(params: &PsiParams) -> u64 {
    match params.learns() {
        Learns::Receiver => 0,
        Learns::Both => common_shape(params).bytes(),
    }
}

/// The receiver's side if the sender made several tags of each item, and the tag that is found
/// would reveal more than that the item is common: it sends the sender one tag of each common item,
/// and random ones to bring their number to the most items that can be common.
///
/// The sender knows a common item, so that item's tag tells it nothing else.
pub fn send_items(
    ctx: &mut Context,
    params: &PsiParams,
    y: &[Item],
    common: &[usize],
) -> Result<()> {
    if params.learns() == Learns::Receiver {
        return Ok(());
    }
    ctx.child("answer", |ctx| {
        let shape = common_shape(params);
        // A sender that deviates may have caused more matches than it may have items.
        let common: Vec<Item> =
            common.iter().take(shape.len() as usize).map(|position| y[*position]).collect();
        let mut tags = sorted_tags::gather(shape);
        common_tags(ctx, params, shape, &common).into_iter().for_each(|tag| tags.push(tag));
        for _ in common.len()..shape.len() as usize {
            let mut random = [0; 16];
            ctx.rng().fill_bytes(&mut random);
            tags.push(u128::from_le_bytes(random) >> (128 - shape.tag_bits()));
        }
        sorted_tags::send_gathered(ctx, shape, tags)
    })
}

/// The sender's side of [`send_items`].
pub fn receive_items(ctx: &mut Context, params: &PsiParams, x: &[Item]) -> Result<Output> {
    if params.learns() == Learns::Receiver {
        return Ok(Output::Nothing);
    }
    ctx.child("answer", |ctx| {
        let shape = common_shape(params);
        let mut own = sorted_tags::gather_own(shape, x.len());
        for (position, tag) in (0..).zip(common_tags(ctx, params, shape, x)) {
            own.push(Tagged::new(tag, position));
        }
        let matches = sorted_tags::find(ctx, shape, &own)?;
        Ok(Output::Positions(sorted_tags::own_positions(&matches, x.len())))
    })
}

fn common_tags(ctx: &Context, params: &PsiParams, shape: Shape, items: &[Item]) -> Vec<u128> {
    let hash = ItemHash::new(COMMON_LABEL, &[params.session().as_bytes()]);
    ctx.map(items, ITEMS_PER_TASK, |items| {
        let tag = |item: &Item| hash.item(item.as_bytes()).integer() >> (128 - shape.tag_bits());
        items.iter().map(tag).collect::<Vec<_>>()
    })
    .concat()
}

/// Sends the bytes of an answer.
pub fn send_bytes(ctx: &mut Context, bytes: &[u8]) -> Result<()> {
    ctx.child("answer", |ctx| {
        bytes.chunks(BYTES_PER_MESSAGE).try_for_each(|block| ctx.peer()?.send(block))
    })?;
    ctx.finish()
}

/// Receives the bytes of an answer.
pub fn receive_bytes(ctx: &mut Context, len: usize) -> Result<Vec<u8>> {
    let mut bytes = vec![0; len];
    ctx.child("answer", |ctx| {
        bytes.chunks_mut(BYTES_PER_MESSAGE).try_for_each(|block| ctx.peer()?.recv_into(block))
    })?;
    Ok(bytes)
}
