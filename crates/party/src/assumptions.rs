//! What the protocols rest on, in the words that `explain`, the catalogue and SECURITY.md share.
//!
//! Base transfers rest on gap Diffie–Hellman and a random oracle. Silent correlations rest on
//! learning parity with noise over their fields; the noise has one position in each block of equal
//! length ("regular"). Fixed-key AES is modelled as an ideal cipher.

macro_rules! with_gap_and_oracles {
    ($($assumption:literal)?) => {
        concat!($($assumption, "; ",)? "gap Diffie–Hellman in Ristretto255; random oracle, ideal \
                                        cipher")
    };
}

/// Base transfers extended by hashing alone.
pub const TRANSFERS: &str = with_gap_and_oracles!();

/// Base transfers extended by a pseudorandom code.
pub const CODED_TRANSFERS: &str =
    "gap Diffie–Hellman in Ristretto255; AES is pseudorandom; random oracle";

/// The same, in rows that also hash under an ideal cipher.
pub const CODED_TRANSFERS_AND_CIPHER: &str =
    "gap Diffie–Hellman in Ristretto255; AES is pseudorandom; random oracle, ideal cipher";

/// Silent transfers; garbled circuits and shares on top of them.
pub const SILENT_TRANSFERS: &str =
    with_gap_and_oracles!("regular learning parity with noise over GF(2)");

/// Silent transfers and VOLE.
pub const SILENT_AND_VOLE: &str =
    with_gap_and_oracles!("regular learning parity with noise over GF(2) and GF(2^128)");

/// Silent transfers and VOLE over the subfield.
pub const SILENT_AND_SUBFIELD_VOLE: &str =
    with_gap_and_oracles!("regular learning parity with noise over GF(2) and GF(2^16)");

/// Silent transfers and both kinds of VOLE.
pub const SILENT_AND_ALL_VOLE: &str =
    with_gap_and_oracles!("regular learning parity with noise over GF(2), GF(2^16) and GF(2^128)");

/// VOLE.
pub const VOLE: &str = with_gap_and_oracles!("regular learning parity with noise over GF(2^128)");

/// VOLE over the subfield.
pub const SUBFIELD_VOLE: &str =
    with_gap_and_oracles!("regular learning parity with noise over GF(2^16)");

/// Silent transfers and Paillier encryption of 2048 bits.
pub const SILENT_AND_PAILLIER_2048: &str = with_gap_and_oracles!(
    "regular learning parity with noise over GF(2); decisional composite residuosity for 2048 \
     bits, of 112-bit security"
);

/// Silent transfers and Paillier encryption of 3072 bits.
pub const SILENT_AND_PAILLIER_3072: &str = with_gap_and_oracles!(
    "regular learning parity with noise over GF(2); decisional composite residuosity for 3072 \
     bits, of 128-bit security"
);
