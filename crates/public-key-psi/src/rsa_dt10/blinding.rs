//! H, H' and the receiver's blinding.

use rand::Rng;
use std::num::NonZeroUsize;
use vesica_core::elias_fano::Shape;
use vesica_core::params::{STATISTICAL_SECURITY_BITS, ceil_log2};
use vesica_core::tagged::Tagged;
use vesica_core::tags::{MAX_TAG_LEN, TagHash};
use vesica_core::{Error, Item, Misbehaviour, PsiParams, Result, Secret, SessionId, hash};
use vesica_modular::rsa::PublicKey;
use vesica_modular::{Modulus, Residue};
use vesica_net::Context;

const HASH_KEY_LABEL: &str = "vesica v1 rsa_dt10 hash key";
const HASH_LABEL: &str = "vesica v1 rsa_dt10 full-domain hash";
const BLINDING_LABEL: &str = "vesica v1 rsa_dt10 blinding";
const TAG_LABEL: &str = "vesica v1 rsa_dt10 tag";

/// Items one CPU thread blinds or unblinds at a time; they share an inversion.
const BLINDINGS_PER_TASK: NonZeroUsize = NonZeroUsize::new(32).unwrap();

/// The shape of the sender's tags: a false match has probability 2^-λ over all pairs.
pub(super) fn tag_shape(params: &PsiParams) -> Shape {
    let (n_x, n_y) = (params.sender_len() as u64, params.receiver_len() as u64);
    Shape::new(n_x, STATISTICAL_SECURITY_BITS + ceil_log2(n_x) + ceil_log2(n_y))
}

/// Receives `count` residues, the first of which is number `first`.
///
/// # Errors
/// [`Misbehaviour::InvalidPoint`] for 0, and for n and above.
pub(super) fn receive_residues(
    ctx: &mut Context,
    n: &Modulus,
    first: usize,
    count: usize,
) -> Result<Vec<Residue>> {
    let message = ctx.peer()?.recv(n.len_bytes() * count)?;
    let residues = message.chunks_exact(n.len_bytes()).enumerate().map(|(i, bytes)| {
        let index = (first + i) as u64;
        n.decode(bytes).ok_or(Misbehaviour::InvalidPoint { index }.into())
    });
    residues.collect()
}

/// H and H'.
pub(super) struct Hashes {
    key: [u8; 32],
    tag: TagHash,
    /// The shape of the sender's tags.
    pub(super) shape: Shape,
}

impl Hashes {
    pub(super) fn new(params: &PsiParams, key: &PublicKey) -> Self {
        let session: &SessionId = params.session();
        Self {
            key: hash::derive(HASH_KEY_LABEL, &[session.as_bytes(), &key.encode()]),
            tag: TagHash::with_key(TAG_LABEL, session.as_bytes(), MAX_TAG_LEN),
            shape: tag_shape(params),
        }
    }

    pub(super) fn item(&self, n: &Modulus, item: &Item) -> Residue {
        n.hash(HASH_LABEL, &[&self.key, item.as_bytes()])
    }

    pub(super) fn tag(&self, root: &Residue) -> u128 {
        let mut bytes = Secret::new(Vec::new());
        root.encode(bytes.expose_mut());
        self.tag.tag(bytes.expose()) >> (u128::BITS - self.shape.tag_bits())
    }
}

/// The receiver's r_i, derived from a seed where they are needed.
pub(super) struct Blinding<'a> {
    key: &'a PublicKey,
    seed: Secret<[u8; 32]>,
}

impl<'a> Blinding<'a> {
    pub(super) fn new(ctx: &mut Context, key: &'a PublicKey) -> Self {
        let mut seed = Secret::new([0; 32]);
        ctx.rng().fill_bytes(seed.expose_mut());
        Self { key, seed }
    }

    /// r_i.
    fn r_i(&self, index: usize) -> Residue {
        let index = (index as u64).to_le_bytes();
        self.key.modulus().hash(BLINDING_LABEL, &[self.seed.expose(), &index])
    }

    /// The bytes of y_i = H(y)·r_i^e for the items from place `first` on.
    pub(super) fn y_i(
        &self,
        ctx: &Context,
        hash: &Hashes,
        first: usize,
        items: &[Item],
    ) -> Vec<u8> {
        let n = self.key.modulus();
        let places: Vec<(usize, &Item)> = (first..).zip(items).collect();
        let tasks = ctx.map(&places, BLINDINGS_PER_TASK, |places| {
            let mut bytes = Vec::with_capacity(places.len() * n.len_bytes());
            for (i, item) in places {
                let mask = self.key.raise(&self.r_i(*i));
                hash.item(n, item).mul(&mask).encode(&mut bytes);
            }
            bytes
        });
        tasks.concat()
    }

    /// Receives y'_i of the items from place `first` on, and appends H'(K_y) with K_y = y'_i / r_i.
    pub(super) fn receive_tags(
        &self,
        ctx: &mut Context,
        hash: &Hashes,
        first: usize,
        count: usize,
        tags: &mut Vec<Tagged>,
    ) -> Result<()> {
        let n = self.key.modulus();
        let roots = receive_residues(ctx, n, first, count)?;
        let places: Vec<(usize, Residue)> = (first..).zip(roots).collect();
        let tasks = ctx.map(&places, BLINDINGS_PER_TASK, |places| {
            let r: Vec<Residue> = places.iter().map(|(i, _)| self.r_i(*i)).collect();
            // An r_i without an inverse shares a prime with n, which does not happen with an honest
            // n.
            let inverses = n.invert_all(&r).ok_or(Misbehaviour::InvalidPublicKey)?;
            let tag = |((i, root), inverse): (&(usize, Residue), &Residue)| {
                Tagged::new(hash.tag(&root.mul(inverse)), *i as u32)
            };
            Ok(places.iter().zip(&inverses).map(tag).collect::<Vec<_>>())
        });
        for task in tasks {
            tags.extend(task.map_err(|error: Misbehaviour| Error::from(error))?);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use vesica_core::Learns;
    use vesica_modular::modp::{Group, Prime as SafePrime};
    use vesica_modular::rsa::{KeySize, PUBLIC_EXPONENT};

    fn hex(bytes: &[u8]) -> String {
        bytes.iter().map(|byte| format!("{byte:02x}")).collect()
    }

    /// Recorded values: a change of them is a change of the wire format.
    #[test]
    fn hash_and_tag_are_the_recorded_ones() {
        let session = SessionId::from_bytes([1; 32]);
        let params = PsiParams::new(session, 1 << 10, 1 << 10, Learns::Receiver).unwrap();
        // Not a key, but a well-known modulus.
        let mut bytes = Group::new(SafePrime::Bits2048).modulus().to_be_bytes();
        bytes.extend_from_slice(&PUBLIC_EXPONENT.to_be_bytes());
        let key = PublicKey::decode(&bytes, KeySize::Bits2048).unwrap();
        let hash = Hashes::new(&params, &key);
        let item = hash.item(key.modulus(), &Item::from_bytes(*b"0123456789abcdef"));
        let mut bytes = Vec::new();
        item.encode(&mut bytes);
        assert_eq!(hex(&bytes[..16]), "3a2feb578ce75fa1f94c0a9fa98ef1c2");
        assert_eq!(format!("{:015x}", hash.tag(&item)), "c1a4fb0b19b75f7");
    }
}
