//! The public half of an identity, and its printable form.

use bech32::primitives::decode::CheckedHrpstring;
use bech32::{Bech32m, Hrp};
use std::fmt;
use std::str::FromStr;

/// Human-readable part of a public identity.
const PUBLIC_HRP: Hrp = Hrp::parse_unchecked("vesica");
/// Human-readable part of a secret one.
pub(crate) const SECRET_HRP: Hrp = Hrp::parse_unchecked("vesica-secret");

/// A party's identity: an Ed25519 public key (RFC 8032), 32 bytes.
///
/// Printed as Bech32m (BIP 350) with the prefix `vesica1`, which detects up to four wrong
/// characters.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PublicIdentity([u8; PublicIdentity::LEN]);

/// A text that is not a public identity.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ParseIdentityError {
    /// Text of another kind.
    #[error("not an identity: an identity begins with \"vesica1\"")]
    NotAnIdentity,
    /// An identity that was mistyped or cut off.
    #[error("the identity is mistyped or cut off: its checksum is wrong")]
    BadChecksum,
    /// A secret key in place of a public identity.
    #[error("this is a secret key, not a public identity; no one else may see it")]
    IsSecret,
}

impl PublicIdentity {
    /// Length of a public key in bytes.
    pub const LEN: usize = 32;

    /// The identity with this public key.
    pub const fn from_bytes(bytes: [u8; PublicIdentity::LEN]) -> Self {
        Self(bytes)
    }

    /// The public key.
    pub const fn as_bytes(&self) -> &[u8; PublicIdentity::LEN] {
        &self.0
    }

    /// A short form to distinguish parties, such as `vesica1qqzr…x7k2`. Do not base trust on it: a
    /// key with the same eight characters can be found by search.
    pub fn fingerprint(&self) -> String {
        let full = self.to_string();
        let (head, tail) = (PUBLIC_HRP.len() + 1 + 4, 4);
        format!("{}…{}", &full[..head], &full[full.len() - tail..])
    }
}

impl fmt::Display for PublicIdentity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        bech32::encode_to_fmt::<Bech32m, _>(f, PUBLIC_HRP, &self.0).map_err(|_| fmt::Error)
    }
}

impl fmt::Debug for PublicIdentity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "PublicIdentity({self})")
    }
}

impl FromStr for PublicIdentity {
    type Err = ParseIdentityError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        if has_prefix(text, SECRET_HRP) {
            return Err(ParseIdentityError::IsSecret);
        }
        if !has_prefix(text, PUBLIC_HRP) {
            return Err(ParseIdentityError::NotAnIdentity);
        }
        decode(text).map(Self).ok_or(ParseIdentityError::BadChecksum)
    }
}

/// Whether `text` begins with this human-readable part.
pub(crate) fn has_prefix(text: &str, hrp: Hrp) -> bool {
    let (prefix, text) = (hrp.as_str().as_bytes(), text.as_bytes());
    text.len() > prefix.len()
        && text[..prefix.len()].eq_ignore_ascii_case(prefix)
        && text[prefix.len()] == b'1'
}

/// The 32 bytes of a Bech32m string; `None` when the checksum, the alphabet, the padding or the
/// length is wrong.
pub(crate) fn decode(text: &str) -> Option<[u8; 32]> {
    let checked = CheckedHrpstring::new::<Bech32m>(text).ok()?;
    checked.validate_segwit_padding().ok()?;
    let mut bytes = [0; 32];
    let mut decoded = checked.byte_iter();
    for byte in &mut bytes {
        *byte = decoded.next()?;
    }
    decoded.next().is_none().then_some(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    const KEY: PublicIdentity = PublicIdentity::from_bytes([7; 32]);

    #[test]
    fn a_printed_identity_parses_to_itself() {
        for bytes in [[0; 32], [7; 32], [255; 32]] {
            let identity = PublicIdentity::from_bytes(bytes);
            assert_eq!(identity.to_string().parse(), Ok(identity));
            assert_eq!(identity.to_string().to_uppercase().parse(), Ok(identity));
        }
        assert_eq!(KEY.to_string().len(), 65);
        assert!(KEY.to_string().starts_with("vesica1"));
    }

    #[test]
    fn every_single_wrong_character_is_detected() {
        let good = KEY.to_string();
        for position in "vesica1".len()..good.len() {
            let mut bad = good.clone().into_bytes();
            bad[position] = if bad[position] == b'q' { b'p' } else { b'q' };
            let bad = String::from_utf8(bad).unwrap();
            assert_eq!(bad.parse::<PublicIdentity>(), Err(ParseIdentityError::BadChecksum));
        }
    }

    #[test]
    fn each_other_kind_of_text_has_its_error() {
        let parse = |text: &str| text.parse::<PublicIdentity>();
        for text in ["", "vesica", "bc1qqqq", "no identity", "vesicä1"] {
            assert_eq!(parse(text), Err(ParseIdentityError::NotAnIdentity), "{text:?}");
        }
        assert_eq!(parse("vesica-secret1qqqq"), Err(ParseIdentityError::IsSecret));
        let good = KEY.to_string();
        for cut in "vesica1".len()..good.len() {
            assert_eq!(parse(&good[..cut]), Err(ParseIdentityError::BadChecksum));
        }
        assert_eq!(parse(&format!("{good} ")), Err(ParseIdentityError::BadChecksum));
        let longer = bech32::encode::<Bech32m>(PUBLIC_HRP, &[7; 33]).unwrap();
        assert_eq!(parse(&longer), Err(ParseIdentityError::BadChecksum));
        let old_checksum = bech32::encode::<bech32::Bech32>(PUBLIC_HRP, &[7; 32]).unwrap();
        assert_eq!(parse(&old_checksum), Err(ParseIdentityError::BadChecksum));
    }

    #[test]
    fn the_fingerprint_is_short_and_taken_from_both_ends() {
        let (full, short) = (KEY.to_string(), KEY.fingerprint());
        let (head, tail) = short.split_once('…').unwrap();
        assert!(full.starts_with(head) && full.ends_with(tail));
        assert_eq!(short.chars().count(), 16);
    }
}
