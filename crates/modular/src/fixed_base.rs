use crate::{Exponent, Modulus, Residue};
use crypto_bigint::{CtAssign, CtEq};
use vesica_core::group_operations::{self, GroupOperation};

/// Bits of the exponent per look-up.
const WINDOW_BITS: u32 = 4;

/// Number of values of a window.
const WINDOW_VALUES: usize = 1 << WINDOW_BITS;

/// Windows per word of the exponent.
const WINDOWS_OF_WORD: u32 = u64::BITS / WINDOW_BITS;

/// Powers of a fixed residue from tables: one product per 4 bits of the exponent.
///
/// E. Brickell, D. Gordon, K. McCurley, D. Wilson, "Fast exponentiation with precomputation",
/// EUROCRYPT 1992. All entries of a table are read for every exponent.
pub struct FixedBase {
    one: Residue,
    /// For the i-th window from the lowest: base^(16^i · v) for each value v.
    tables: Vec<Vec<Residue>>,
}

impl FixedBase {
    /// The tables for exponents of `bits` bits; they take 4 products and 4 residues per bit.
    pub fn new(modulus: &Modulus, base: &Residue, bits: u32) -> Self {
        let mut tables = Vec::new();
        let mut base = base.clone();
        for _ in 0..bits.div_ceil(u64::BITS) * WINDOWS_OF_WORD {
            let mut table = vec![modulus.one()];
            for v in 1..WINDOW_VALUES {
                table.push(table[v - 1].mul(&base));
            }
            base = table[WINDOW_VALUES - 1].mul(&base);
            tables.push(table);
        }
        Self { one: modulus.one(), tables }
    }

    /// The power base^exponent.
    ///
    /// # Panics
    /// If the exponent is longer than the tables allow.
    pub fn pow(&self, exponent: &Exponent) -> Residue {
        group_operations::add(GroupOperation::PowerFromTable, 1);
        let windows = exponent.words().iter().flat_map(|word| {
            (0..WINDOWS_OF_WORD)
                .map(move |i| word >> (WINDOW_BITS * i) & (WINDOW_VALUES as u64 - 1))
        });
        assert!(exponent.bits() <= self.tables.len() as u32 * WINDOW_BITS, "exponent too long");
        let mut power = self.one.clone();
        let mut entry = self.one.clone();
        for (table, value) in self.tables.iter().zip(windows) {
            for (v, candidate) in table.iter().enumerate() {
                let candidate = candidate.0.as_montgomery();
                entry.0.as_montgomery_mut().ct_assign(candidate, value.ct_eq(&(v as u64)));
            }
            power = power.mul(&entry);
        }
        power
    }
}
