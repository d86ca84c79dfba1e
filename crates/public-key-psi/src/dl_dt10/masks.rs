//! H, H' and the receiver's masks.

use rand::Rng;
use std::num::NonZeroUsize;
use vesica_core::elias_fano::Shape;
use vesica_core::params::{STATISTICAL_SECURITY_BITS, ceil_log2};
use vesica_core::tagged::Tagged;
use vesica_core::tags::{MAX_TAG_LEN, TagHash};
use vesica_core::{Error, Item, Misbehaviour, PsiParams, Result, Secret, SessionId, hash};
use vesica_modular::modp::{Group, Prime};
use vesica_modular::{Exponent, FixedBase, Residue};
use vesica_net::Context;

const HASH_LABEL: &str = "vesica v1 dl_dt10 hash to group";
const MASK_LABEL: &str = "vesica v1 dl_dt10 mask";
const TAG_LABEL: &str = "vesica v1 dl_dt10 tag";

/// Items one CPU thread works on at a time; they share an inversion.
pub(super) const ITEMS_PER_TASK: NonZeroUsize = NonZeroUsize::new(16).unwrap();

/// The shape of the sender's tags: a false match has probability 2^-λ over all pairs.
pub(super) fn tag_shape(params: &PsiParams) -> Shape {
    let (n_x, n_y) = (params.sender_len() as u64, params.receiver_len() as u64);
    Shape::new(n_x, STATISTICAL_SECURITY_BITS + ceil_log2(n_x) + ceil_log2(n_y))
}

/// Receives `count` elements, the first of which is number `first` of the peer's.
///
/// # Errors
/// [`Misbehaviour::InvalidPoint`] for 0, 1, p − 1, and for p and above.
pub(super) fn receive_elements(
    ctx: &mut Context,
    group: &Group,
    first: usize,
    count: usize,
) -> Result<Vec<Residue>> {
    let element_len = group.prime().element_len();
    let message = ctx.peer()?.recv(element_len * count)?;
    let elements = message.chunks_exact(element_len).enumerate().map(|(i, bytes)| {
        let index = (first + i) as u64;
        group.decode(bytes).ok_or(Misbehaviour::InvalidPoint { index }.into())
    });
    elements.collect()
}

/// H and H'.
pub(super) struct Hashes {
    session: SessionId,
    tag: TagHash,
    /// The shape of the sender's tags.
    pub(super) shape: Shape,
}

impl Hashes {
    pub(super) fn new(params: &PsiParams) -> Self {
        Self {
            session: *params.session(),
            tag: TagHash::with_key(TAG_LABEL, params.session().as_bytes(), MAX_TAG_LEN),
            shape: tag_shape(params),
        }
    }

    pub(super) fn item(&self, group: &Group, item: &Item) -> Residue {
        group.hash(HASH_LABEL, &[self.session.as_bytes(), item.as_bytes()])
    }

    /// 1/H of each.
    pub(super) fn inverses(&self, group: &Group, items: &[Item]) -> Result<Vec<Residue>> {
        let hashes: Vec<Residue> = items.iter().map(|item| self.item(group, item)).collect();
        let inverses = group.modulus().invert_all(&hashes);
        inverses.ok_or(Error::Bug("a hash is 0, which happens less than once in 2^2000"))
    }

    pub(super) fn tag(&self, key: &Residue) -> u128 {
        let mut bytes = Secret::new(Vec::with_capacity(Prime::Bits3072.element_len()));
        key.encode(bytes.expose_mut());
        self.tag.tag(bytes.expose()) >> (u128::BITS - self.shape.tag_bits())
    }
}

/// PCH, R_c and the R_i. The latter are derived from a seed where they are needed.
pub(super) struct Masks<'a> {
    group: &'a Group,
    hash: &'a Hashes,
    pch: &'a Residue,
    g: FixedBase,
    r_c: Exponent,
    seed: Secret<[u8; 32]>,
}

impl<'a> Masks<'a> {
    /// Fresh masks for the items whose hashes have the product `pch`.
    pub(super) fn new(
        ctx: &mut Context,
        group: &'a Group,
        hash: &'a Hashes,
        pch: &'a Residue,
    ) -> Self {
        let mut seed = Secret::new([0; 32]);
        ctx.rng().fill_bytes(seed.expose_mut());
        let exponent_bits = group.prime().exponent_bits();
        let mut r_c = Secret::new(vec![0; group.prime().exponent_len()]);
        ctx.rng().fill_bytes(r_c.expose_mut());
        Self {
            group,
            hash,
            pch,
            g: FixedBase::new(group.modulus(), group.generator(), exponent_bits),
            r_c: Exponent::from_be_bytes(r_c.expose()),
            seed,
        }
    }

    /// R_i.
    fn r_i(&self, index: usize) -> Exponent {
        let mut bytes = Secret::new(vec![0; self.group.prime().exponent_len()]);
        let index = (index as u64).to_le_bytes();
        hash::derive_into(MASK_LABEL, &[self.seed.expose(), &index], bytes.expose_mut());
        Exponent::from_be_bytes(bytes.expose())
    }

    /// The bytes of M = PCH·g^R_c.
    pub(super) fn m(&self) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(self.group.prime().element_len());
        self.pch.mul(&self.g.pow(&self.r_c)).encode(&mut bytes);
        bytes
    }

    /// The bytes of y_i = PCH/H(y)·g^R_i for the items from place `first` on.
    pub(super) fn y_i(&self, ctx: &Context, first: usize, items: &[Item]) -> Result<Vec<u8>> {
        let places: Vec<(usize, Item)> = (first..).zip(items.iter().copied()).collect();
        let tasks = ctx.map(&places, ITEMS_PER_TASK, |places| {
            let items: Vec<Item> = places.iter().map(|(_, item)| *item).collect();
            let inverses = self.hash.inverses(self.group, &items)?;
            let mut bytes = Vec::with_capacity(places.len() * self.group.prime().element_len());
            for ((i, _), inverse) in places.iter().zip(&inverses) {
                let mask = self.g.pow(&self.r_i(*i));
                self.pch.mul(inverse).mul(&mask).encode(&mut bytes);
            }
            Ok(bytes)
        });
        Ok(tasks.into_iter().collect::<Result<Vec<_>>>()?.concat())
    }

    /// Receives Z.
    pub(super) fn receive_unmasking(&self, ctx: &mut Context) -> Result<Unmasking<'_>> {
        let z = receive_elements(ctx, self.group, 0, 1)?.swap_remove(0);
        let modulus = self.group.modulus();
        let inverse = z.invert().ok_or(Misbehaviour::InvalidPoint { index: 0 })?;
        Ok(Unmasking {
            masks: self,
            z_to_r_c: z.pow(&self.r_c),
            inverse_of_z: FixedBase::new(modulus, &inverse, self.group.prime().exponent_bits()),
        })
    }
}

/// Removes the masks.
pub(super) struct Unmasking<'a> {
    masks: &'a Masks<'a>,
    /// Z^R_c.
    z_to_r_c: Residue,
    /// 1/Z.
    inverse_of_z: FixedBase,
}

impl Unmasking<'_> {
    /// Receives y'_i of the items from place `first` on, and gives H'(K_y) with K_y =
    /// y'_i·Z^R_c·Z^-R_i.
    pub(super) fn receive_tags(
        &self,
        ctx: &mut Context,
        first: usize,
        count: usize,
    ) -> Result<Vec<Tagged>> {
        let powers = receive_elements(ctx, self.masks.group, 1 + first, count)?;
        let places: Vec<(usize, Residue)> = (first..).zip(powers).collect();
        let tasks = ctx.map(&places, ITEMS_PER_TASK, |places| {
            let tag = |(i, power): &(usize, Residue)| {
                let unmask = self.inverse_of_z.pow(&self.masks.r_i(*i));
                let k_y = power.mul(&self.z_to_r_c).mul(&unmask);
                Tagged::new(self.masks.hash.tag(&k_y), *i as u32)
            };
            places.iter().map(tag).collect::<Vec<_>>()
        });
        Ok(tasks.concat())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use vesica_core::Learns;

    fn hex(bytes: &[u8]) -> String {
        bytes.iter().map(|byte| format!("{byte:02x}")).collect()
    }

    /// Recorded values: a change of them is a change of the wire format.
    #[test]
    fn hash_and_tag_are_the_recorded_ones() {
        let session = SessionId::from_bytes([1; 32]);
        let params = PsiParams::new(session, 1 << 10, 1 << 10, Learns::Receiver).unwrap();
        let hash = Hashes::new(&params);
        let item = hash.item(&Group::new(Prime::Bits2048), &Item::from_bytes(*b"0123456789abcdef"));
        let mut bytes = Vec::new();
        item.encode(&mut bytes);
        assert_eq!(hex(&bytes[..16]), "fc2d8ea308acf9dc20ed861278685420");
        assert_eq!(format!("{:015x}", hash.tag(&item)), "db3f0ae9032b323");
    }
}
