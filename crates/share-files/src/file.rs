//! One party's file of shares: a JSON document.

use crate::SharesError;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use std::io;
use std::path::Path;
use vesica_agreement::{Agreement, Question};
use vesica_core::hash::{self, hex};
use vesica_core::{Item, Role, SessionId};
use vesica_protocols::Shares;

const COMPUTATION_LABEL: &str = "vesica v1 shares";

/// The content of the field `format`.
const FORMAT: &str = "vesica-shares";
/// Version of the format.
const VERSION: u64 = 1;

/// Bytes of a value.
const VALUE_LEN: usize = 8;

/// The document. The order of the fields is that in the file: the description comes first.
#[derive(Serialize, Deserialize)]
struct Document {
    format: String,
    version: u64,
    operation: String,
    agreement: String,
    computation: String,
    share: u8,
    entries: u64,
    combine: String,
    keys: Option<String>,
    values: Vec<DocumentColumn>,
    checksum: String,
}

#[derive(Serialize, Deserialize)]
struct DocumentColumn {
    name: String,
    bits: u32,
    signed: bool,
    shares: String,
}

/// The part of a document that shows its version.
#[derive(Deserialize)]
struct Head {
    format: String,
    version: u64,
}

/// One party's shares, and what they are shares of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SharesFile {
    /// The operation of the agreement.
    pub operation: String,
    /// The agreement's hash, in hexadecimal.
    pub agreement: String,
    /// Names the run; the same at both parties.
    pub computation: String,
    /// 1 for the sender's, 2 for the receiver's.
    pub share: u8,
    /// How many entries there are.
    pub entries: usize,
    /// How two shares give a value: `xor`, or `sum mod 2^64`. Shares of keys always combine by XOR.
    pub combine: String,
    /// Shares of the keys' items, if keys are shared.
    pub keys: Option<Vec<[u8; Item::LEN]>>,
    /// Shares of the values, by column.
    pub values: Vec<SharedColumn>,
}

/// Shares of one column of values.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SharedColumn {
    /// The column in the agreement.
    pub name: String,
    /// Bits of a value.
    pub bits: u32,
    /// Whether values have a sign.
    pub signed: bool,
    /// The shares, one of each entry.
    pub shares: Vec<u64>,
}

impl SharedColumn {
    /// Whether `value`, as 64 bits, is one of a key's: of [`bits`](Self::bits) bits, with or
    /// without a sign.
    pub(super) fn can_hold(&self, value: u64) -> bool {
        let spare = u64::BITS - self.bits.min(u64::BITS);
        if self.signed {
            // The bits above repeat the sign.
            ((value << spare) as i64) >> spare == value as i64
        } else {
            value << spare >> spare == value
        }
    }
}

impl SharesFile {
    /// How values of [`Question::Shares`] are combined.
    pub(super) const XOR: &str = "xor";
    /// How values of [`Question::SharedValues`] are combined.
    pub(super) const SUM: &str = "sum mod 2^64";

    /// The shares that the party in `role` got in `session`.
    pub fn new(agreement: &Agreement, role: Role, session: &SessionId, shares: &Shares) -> Self {
        let columns = agreement.question.values().map_or(&[][..], |values| &values.columns);
        let (bits, signed) =
            agreement.question.values().map_or((0, false), |values| (values.bits, values.signed));
        let of_column = |index: usize| {
            shares.values.iter().skip(index).step_by(columns.len()).copied().collect()
        };
        let values = columns.iter().enumerate().map(|(index, name)| SharedColumn {
            name: name.clone(),
            bits,
            signed,
            shares: of_column(index),
        });
        let is_of_keys = matches!(agreement.question, Question::Shares(_));
        Self {
            operation: agreement.operation().name().to_owned(),
            agreement: agreement.hash().to_string(),
            computation: hex(&hash::derive(COMPUTATION_LABEL, &[session.as_bytes()])[..16]),
            share: if role == Role::Sender { 1 } else { 2 },
            entries: shares.len,
            combine: if is_of_keys { Self::XOR } else { Self::SUM }.to_owned(),
            keys: is_of_keys.then(|| shares.items.clone()),
            values: values.collect(),
        }
    }

    /// The SHA-256 of all shares as bytes: those of the keys, then column by column those of the
    /// values.
    fn checksum(&self) -> String {
        let mut sha = Sha256::new();
        sha.update(self.keys.as_deref().unwrap_or_default().as_flattened());
        for column in &self.values {
            sha.update(bytes(&column.shares));
        }
        hex(&sha.finalize())
    }

    /// Writes the document.
    ///
    /// # Errors
    /// Those of `out`.
    pub fn write(&self, out: &mut dyn io::Write) -> io::Result<()> {
        let values = self.values.iter().map(|column| DocumentColumn {
            name: column.name.clone(),
            bits: column.bits,
            signed: column.signed,
            shares: STANDARD.encode(bytes(&column.shares)),
        });
        let document = Document {
            format: FORMAT.to_owned(),
            version: VERSION,
            operation: self.operation.clone(),
            agreement: self.agreement.clone(),
            computation: self.computation.clone(),
            share: self.share,
            entries: self.entries as u64,
            combine: self.combine.clone(),
            keys: self.keys.as_ref().map(|keys| STANDARD.encode(keys.as_flattened())),
            values: values.collect(),
            checksum: self.checksum(),
        };
        serde_json::to_writer_pretty(&mut *out, &document).map_err(io::Error::from)?;
        out.write_all(b"\n")
    }

    /// Reads the document in the file `path`.
    ///
    /// # Errors
    /// [`SharesError`]: what is wrong with it.
    pub fn load(path: &Path) -> Result<Self, SharesError> {
        let text = std::fs::read(path).map_err(|error| SharesError::Unreadable {
            path: path.to_path_buf(),
            kind: error.kind(),
        })?;
        Self::parse(&text, path)
    }

    /// Reads the document `text`; `path` is where errors say that it is from.
    ///
    /// # Errors
    /// As [`load`](Self::load).
    pub fn parse(text: &[u8], path: &Path) -> Result<Self, SharesError> {
        let not_shares = || SharesError::NotShares { path: path.to_path_buf() };
        let head: Head = serde_json::from_slice(text).map_err(|_| not_shares())?;
        if head.format != FORMAT {
            return Err(not_shares());
        }
        if head.version != VERSION {
            let (path, found, known) = (path.to_path_buf(), head.version, VERSION);
            return Err(SharesError::Version { path, found, known });
        }
        let document: Document = serde_json::from_slice(text).map_err(|_| not_shares())?;
        let damaged =
            |what: &str| SharesError::Damaged { path: path.to_path_buf(), what: what.to_owned() };
        let entries = usize::try_from(document.entries).map_err(|_| damaged("entries"))?;
        let decoded = |what: &str, text: &str, width: usize| match STANDARD.decode(text) {
            Ok(bytes) if Some(bytes.len()) == entries.checked_mul(width) => Ok(bytes),
            _ => Err(damaged(what)),
        };
        if !(1..=2).contains(&document.share) {
            return Err(damaged("share"));
        }
        if ![Self::XOR, Self::SUM].contains(&document.combine.as_str()) {
            return Err(damaged("combine"));
        }
        let keys = match &document.keys {
            Some(text) => Some(decoded("keys", text, Item::LEN)?.as_chunks().0.to_vec()),
            None => None,
        };
        let mut values = Vec::new();
        for column in document.values {
            if !(1..=u64::BITS).contains(&column.bits) {
                return Err(damaged(&column.name));
            }
            let bytes = decoded(&column.name, &column.shares, VALUE_LEN)?;
            let (shares, _) = bytes.as_chunks::<VALUE_LEN>();
            values.push(SharedColumn {
                name: column.name,
                bits: column.bits,
                signed: column.signed,
                shares: shares.iter().map(|share| u64::from_le_bytes(*share)).collect(),
            });
        }
        let file = Self {
            operation: document.operation,
            agreement: document.agreement,
            computation: document.computation,
            share: document.share,
            entries,
            combine: document.combine,
            keys,
            values,
        };
        if file.checksum() == document.checksum {
            Ok(file)
        } else {
            Err(SharesError::Checksum { path: path.to_path_buf() })
        }
    }
}

fn bytes(shares: &[u64]) -> Vec<u8> {
    shares.iter().flat_map(|share| share.to_le_bytes()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file() -> SharesFile {
        SharesFile {
            operation: "shares".to_owned(),
            agreement: "ab".to_owned(),
            computation: "cd".to_owned(),
            share: 2,
            entries: 2,
            combine: SharesFile::XOR.to_owned(),
            keys: Some(vec![[1; 16], [2; 16]]),
            values: vec![SharedColumn {
                name: "amount".to_owned(),
                bits: 8,
                signed: true,
                shares: vec![3, u64::MAX],
            }],
        }
    }

    fn text() -> String {
        let mut text = Vec::new();
        file().write(&mut text).unwrap();
        String::from_utf8(text).unwrap()
    }

    fn read(text: &str) -> Result<SharesFile, SharesError> {
        SharesFile::parse(text.as_bytes(), Path::new("a.json"))
    }

    #[test]
    fn what_is_written_reads_back() {
        assert_eq!(read(&text()).unwrap(), file());
        let empty = SharesFile { entries: 0, keys: None, values: Vec::new(), ..file() };
        let mut text = Vec::new();
        empty.write(&mut text).unwrap();
        assert_eq!(SharesFile::parse(&text, Path::new("a.json")).unwrap(), empty);
    }

    #[test]
    fn every_damage_is_named() {
        let path = || "a.json".into();
        let text = text();
        for bad in ["", "[]", "{}", "amount\n1\n", &text.replace("vesica-shares", "other")] {
            assert_eq!(read(bad), Err(SharesError::NotShares { path: path() }), "{bad}");
        }
        let later = text.replace("\"version\": 1", "\"version\": 2");
        let version = SharesError::Version { path: path(), found: 2, known: 1 };
        assert_eq!(read(&later), Err(version));
        for (from, to, what) in [
            ("AQEBAQ", "AQEB?Q", "keys"),
            ("AQEBAQ", "AQ", "keys"),
            ("\"entries\": 2", "\"entries\": 3", "keys"),
            ("////", "//", "amount"),
            ("\"bits\": 8", "\"bits\": 65", "amount"),
            ("\"share\": 2", "\"share\": 3", "share"),
            ("\"xor\"", "\"and\"", "combine"),
        ] {
            let changed = text.replacen(from, to, 1);
            assert_ne!(changed, text);
            let what = what.to_owned();
            assert_eq!(read(&changed), Err(SharesError::Damaged { path: path(), what }), "{from}");
        }
        assert!(read(&text[..text.len() / 2]).is_err(), "cut off");
        let checksum = file().checksum();
        // SHA-256 of 16 ones, 16 twos, and the two values.
        assert_eq!(checksum, "513af9a1fedea9a593d75e12dbb6380835ca6d832c79df99ffff5b0cb66741f6");
        for (from, to) in [("AQEBAQ", "AQEBAg"), ("////", "///+"), (&checksum[..], "00")] {
            let changed = text.replacen(from, to, 1);
            assert_ne!(changed, text);
            assert_eq!(read(&changed), Err(SharesError::Checksum { path: path() }), "{from}");
        }
    }
}
