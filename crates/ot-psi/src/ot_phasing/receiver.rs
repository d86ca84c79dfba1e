//! Steps 2 and 3 of the receiver.

use super::plan::{BIN_SLOT, Plan};
use vesica_core::tagged::Tagged;
use vesica_core::{Item, Result, SessionId};
use vesica_hashing::{Cuckoo, Simple};
use vesica_net::Context;
use vesica_oprf::characters::{Choices, Outputs};
use vesica_ot::coded::kk13;
use vesica_simd::prefetch::prefetch;

/// How many bins ahead items are read.
const AHEAD: usize = 16;

/// The masks with the positions of their items; `y` are the items as they are compared, T_2 their
/// bins.
pub(super) fn receiver_masks(
    ctx: &mut Context,
    plan: &Plan,
    session: &SessionId,
    mut transfers: kk13::Receiver,
    y: &[Item],
    t_2: &Cuckoo,
) -> Result<Vec<Tagged>> {
    let locations = plan.locations(session);
    let mut masks = Vec::with_capacity(y.len());
    let shape = plan.bin_shape();
    let f = Outputs::new(shape, session, BIN_SLOT);
    let (mut rows, mut choices) = (Vec::new(), Choices::new(shape));
    let (mut held, mut items) = (Vec::new(), Vec::new());
    let (mut firsts, mut made) = (Vec::new(), Vec::new());
    for first in (0..t_2.len()).step_by(Simple::GROUP_BINS) {
        let group = first..(first + Simple::GROUP_BINS).min(t_2.len());
        held.clear();
        items.clear();
        for bin in group.clone() {
            if let Some(position) = t_2.position(bin + AHEAD) {
                prefetch(y, position);
            }
            if let Some(placed) = t_2.bin(bin) {
                held.push((bin - first, placed));
                items.push(y[placed.position as usize]);
            }
        }
        // 2. No choice in an empty bin: any value could be an item of the sender's.
        choices.begin(group.len());
        firsts.clear();
        let mut next = held.iter();
        locations.each(&items, |_, place| {
            let Some((bin, placed)) = next.next() else { return };
            choices.set(*bin, place.values[usize::from(placed.function)]);
            firsts.push((bin * shape.rows()) as u32);
        });
        rows.clear();
        extend(ctx, &mut transfers, &choices, &mut rows)?;
        // 3. F_b(R, i) for y in bin b by function i
        made.resize(firsts.len(), 0);
        f.of_own(ctx.pool(), &rows, &firsts, &mut made);
        let of_items = held.iter().zip(&made);
        masks.extend(of_items.map(|((_, placed), mask)| Tagged::new(*mask, placed.position)));
        ctx.progress(masks.len() as u64, y.len() as u64);
    }
    // The same for the stash.
    let shape = plan.stash_shape();
    let mut choices = Choices::new(shape);
    choices.begin(plan.table.stash());
    for (place, position) in t_2.stash().iter().enumerate() {
        choices.set(place, y[*position as usize].integer());
    }
    rows.clear();
    extend(ctx, &mut transfers, &choices, &mut rows)?;
    for (place, position) in t_2.stash().iter().enumerate() {
        let f = Outputs::new(shape, session, place as u64 + 1);
        let mut mask = [0];
        f.of_own(ctx.pool(), &rows, &[(place * shape.rows()) as u32], &mut mask);
        masks.push(Tagged::new(mask[0], *position));
    }
    ctx.finish()?;
    Ok(masks)
}

/// Step 2: adds the rows of the choices.
fn extend(
    ctx: &mut Context,
    transfers: &mut kk13::Receiver,
    choices: &Choices,
    rows: &mut Vec<kk13::Row>,
) -> Result<()> {
    ctx.child("extension", |ctx| {
        transfers.extend(ctx, choices.rows(), |_, tile| rows.extend_from_slice(tile))
    })
}
