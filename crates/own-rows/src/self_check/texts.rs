//! The texts of the items of a union: those of keys, and those of self-check items and padding,
//! which have a mark.
//!
//! | bytes | content |
//! |---|---|
//! | 2 | length of the key's text, little-endian; 0xffff, the mark, for an item that is not a key |
//! | the rest | the key's text, then zeros; or a byte for the kind of the item, then zeros |

use vesica_agreement::TEXT_LEN_BYTES;
use vesica_core::{Misbehaviour, Role};
use vesica_records::{KeyTexts, Normalised, Profile, key_values};

const MARKED: [u8; 2] = [0xff; 2];
const LEN_BYTES: usize = TEXT_LEN_BYTES as usize;

/// The kind of an item that is not a key. Own self-check items and padding of the two parties have
/// different texts: a protocol may use the texts to tell which party an item belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mark {
    /// A self-check item of both parties.
    Shared,
    /// A self-check item of the party in that role.
    Own(Role),
    /// Padding of the party in that role.
    Padding(Role),
}

impl Mark {
    fn byte(self) -> u8 {
        match self {
            Mark::Shared => 0,
            Mark::Own(Role::Sender) => 1,
            Mark::Own(_) => 2,
            Mark::Padding(Role::Sender) => 3,
            Mark::Padding(_) => 4,
        }
    }
}

/// Appends the text of `key` to `texts`: its length in two bytes, the key, and zeros up to `len`
/// bytes, into which the key fits.
pub fn push_key(texts: &mut Vec<u8>, key: &[u8], len: usize) {
    let end = texts.len() + len;
    texts.extend_from_slice(&(key.len() as u16).to_le_bytes());
    texts.extend_from_slice(key);
    texts.resize(end, 0);
}

/// Appends the text of a self-check item or of padding, as `mark` says, in `len` bytes.
pub fn push_mark(texts: &mut Vec<u8>, mark: Mark, len: usize) {
    let end = texts.len() + len;
    texts.extend_from_slice(&MARKED);
    texts.push(mark.byte());
    texts.resize(end, 0);
}

/// What the peer's set may have in addition to keys.
#[derive(Clone, Copy, Debug)]
pub struct Others {
    /// Exact number of the peer's own self-check items.
    pub check_items: u64,
    /// Whether there may be padding.
    pub are_padded: bool,
}

/// The keys among `texts` of `len` bytes each, sent by the peer in the role `peer`. The keys have
/// columns of these `profiles`, each in the form that its profile makes. All other texts must be as
/// `others` says.
///
/// # Errors
/// [`Misbehaviour::InvalidValue`] for a text that no honest party makes,
/// [`Misbehaviour::SelfCheckFailed`] for wrong self-check items.
pub fn keys_of(
    texts: &[u8],
    len: usize,
    peer: Role,
    profiles: &[Profile],
    others: Others,
) -> Result<KeyTexts, Misbehaviour> {
    let (mut keys, mut own, mut normal) = (KeyTexts::default(), 0, Vec::new());
    let (is_own, is_padding) = (Mark::Own(peer).byte(), Mark::Padding(peer).byte());
    let all = texts.chunks_exact(len);
    if !all.remainder().is_empty() {
        return Err(Misbehaviour::InvalidValue);
    }
    for text in all {
        let (head, rest) = text.split_at(LEN_BYTES);
        let used = match head {
            head if head == MARKED => match rest[0] {
                mark if mark == is_own => {
                    own += 1;
                    1
                }
                mark if mark == is_padding && others.are_padded => 1,
                _ => return Err(Misbehaviour::SelfCheckFailed),
            },
            head => {
                let used = u16::from_le_bytes([head[0], head[1]]).into();
                let key = rest.get(..used).ok_or(Misbehaviour::InvalidValue)?;
                let values = key_values(key, profiles.len()).ok_or(Misbehaviour::InvalidValue)?;
                for (profile, value) in profiles.iter().zip(values) {
                    require_normal(*profile, value, &mut normal)?;
                }
                keys.push(key);
                used
            }
        };
        if rest[used..].iter().any(|byte| *byte != 0) {
            return Err(Misbehaviour::InvalidValue);
        }
    }
    if own != others.check_items {
        return Err(Misbehaviour::SelfCheckFailed);
    }
    Ok(keys)
}

/// Checks that `profile` leaves `value` unchanged, as it does with all values that it produces.
fn require_normal(profile: Profile, value: &str, normal: &mut Vec<u8>) -> Result<(), Misbehaviour> {
    normal.clear();
    match profile.normalise(value, normal) {
        Ok(Normalised::Value) if normal == value.as_bytes() => Ok(()),
        _ => Err(Misbehaviour::InvalidValue),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LEN: usize = 8;
    const PEER: Role = Role::Sender;
    const EXACT: &[Profile] = &[Profile::EXACT];

    fn others(check_items: u64, are_padded: bool) -> Others {
        Others { check_items, are_padded }
    }

    fn texts(keys: &[&str], marks: &[Mark]) -> Vec<u8> {
        let mut texts = Vec::new();
        marks.iter().for_each(|mark| push_mark(&mut texts, *mark, LEN));
        keys.iter().for_each(|key| push_key(&mut texts, key.as_bytes(), LEN));
        texts
    }

    #[test]
    fn keys_come_back_and_marked_texts_do_not() {
        let texts =
            texts(&["a", "abcdef"], &[Mark::Own(PEER), Mark::Padding(PEER), Mark::Own(PEER)]);
        let keys = keys_of(&texts, LEN, PEER, EXACT, others(2, true)).unwrap();
        assert!(keys.iter().eq([&b"a"[..], b"abcdef"]));
        assert_eq!(
            keys_of(&texts, LEN, PEER, EXACT, others(2, false)),
            Err(Misbehaviour::SelfCheckFailed)
        );
        assert_eq!(
            keys_of(&texts, LEN, PEER, EXACT, others(3, true)),
            Err(Misbehaviour::SelfCheckFailed)
        );
        assert_eq!(
            keys_of(&texts, LEN, PEER, EXACT, others(1, true)),
            Err(Misbehaviour::SelfCheckFailed)
        );
    }

    #[test]
    fn neither_a_shared_check_item_nor_one_of_ours_is_only_theirs() {
        for ours in [Mark::Shared, Mark::Own(Role::Receiver), Mark::Padding(Role::Receiver)] {
            let texts = texts(&[], &[Mark::Own(PEER), ours]);
            let refused = keys_of(&texts, LEN, PEER, EXACT, others(1, true));
            assert_eq!(refused, Err(Misbehaviour::SelfCheckFailed));
        }
    }

    #[test]
    fn a_text_that_its_profile_does_not_make_is_refused() {
        let of = |profile: &str, key: &str| {
            let mut texts = Vec::new();
            push_key(&mut texts, key.as_bytes(), 40);
            keys_of(&texts, 40, PEER, &[profile.parse().unwrap()], others(0, false)).map(|_| ())
        };
        for (profile, key) in [
            ("email", "ann@example.org"),
            ("trim", "Stra\u{df}e 1"),
            ("phone:GB", "+442079460018"),
            ("date", "2024-02-01"),
            ("digits", "007"),
            ("exact", " =1+1\n"),
        ] {
            assert_eq!(of(profile, key), Ok(()), "{profile} {key:?}");
        }
        for (profile, key) in [
            ("email", "Ann@example.org"),
            ("email", "ann@example.org\n"),
            ("email", "ann@b\u{fc}cher.example"),
            ("trim", "a "),
            ("trim", "a\n"),
            ("trim", "\n"),
            ("trim", "e\u{301}"),
            ("lower", "A"),
            ("phone:GB", "020 7946 0018"),
            ("phone:GB", "=442079460018"),
            ("date", "1 Feb 2024"),
            ("date", "=1+1"),
            ("digits", "0-07"),
            ("digits", "=7"),
            ("hex", "0A"),
            ("ipv4", "=1.2.3.4"),
            ("uuid", "123E4567-E89B-12D3-A456-426614174000"),
        ] {
            assert_eq!(of(profile, key), Err(Misbehaviour::InvalidValue), "{profile} {key:?}");
        }
        // Each column has its own profile.
        let profiles = ["exact", "digits"].map(|name| name.parse().unwrap());
        let both = |key: &[u8]| {
            let mut texts = Vec::new();
            push_key(&mut texts, key, LEN);
            keys_of(&texts, LEN, PEER, &profiles, others(0, false)).map(|_| ())
        };
        assert_eq!(both(b"\x01\x00=7"), Ok(()));
        assert_eq!(both(b"\x01\x007="), Err(Misbehaviour::InvalidValue));
    }

    #[test]
    fn a_text_that_no_party_writes_is_refused() {
        for bad in [
            &b"\x07\x00abcdef"[..],
            b"\x01\x00ab\0\0\0\0",
            b"\x00\x00\0\0\0\0\0\0",
            b"\x01\x00\xff\0\0\0\0\0",
            b"\xff\xff\x03\x01\0\0\0\0",
            b"\x01\x00a",
        ] {
            assert_eq!(
                keys_of(bad, LEN, PEER, EXACT, others(0, true)),
                Err(Misbehaviour::InvalidValue),
                "{bad:?}"
            );
        }
    }
}
