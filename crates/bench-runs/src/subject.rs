//! What a measurement is about: a row of the catalogue at some sizes, checked.

use crate::error::BenchError;
use crate::question::Question;
use crate::sizes::Sizes;
use std::num::NonZeroUsize;
use std::path::PathBuf;
use vesica_core::Item;
use vesica_net::Shape;
use vesica_protocols::Protocol;
use vesica_protocols::kmrs14::{AidedProtocol, Check, Variant};

/// Dummies of each kind if the helper is trusted and the parties are not: the self-check.
const SELF_CHECK: u32 = 16;

/// A row of the catalogue.
pub enum Row {
    /// Between two parties.
    TwoParties(&'static Protocol),
    /// With a helper.
    WithHelper(&'static AidedProtocol, HelperOptions),
}

/// How a helper is used.
#[derive(Clone, Debug)]
pub struct HelperOptions {
    /// How many parties; all but the second have the first size.
    pub parties: usize,
    /// Where the helper intersects, as `vesica helper` has it; `None` is its default.
    pub backend: Option<String>,
    /// Whether the parties send the items themselves.
    pub in_clear: bool,
    /// Copies and dummies of each kind; `None` for the cheapest that are safe.
    pub check: Option<Check>,
}

impl HelperOptions {
    /// Copies and dummies of a run of `variant` with `rows` rows.
    pub(crate) fn check(&self, variant: Variant, rows: u64) -> Check {
        match self.check {
            Some(check) => check,
            None if variant == Variant::SemiHonest => Check { copies: 1, dummies: SELF_CHECK },
            None => Check::cheapest(rows),
        }
    }
}

/// What to measure, and on what machine.
pub struct Asked {
    /// The row of the catalogue.
    pub row: Row,
    /// Sizes of the sets.
    pub sizes: Sizes,
    /// σ: 128 for digests, less for integers of a small domain; not looked at with a helper.
    pub item_bits: u32,
    /// The question about the common items.
    pub question: Question,
    /// The name of the network.
    pub network: &'static str,
    /// The network between the processes, emulated in user space.
    pub shape: Shape,
    /// CPU threads of each party.
    pub threads: NonZeroUsize,
    /// About how much memory the intermediate data of a party may take.
    pub memory_bytes: u64,
    /// The folder for more of it; `None` for the current one.
    pub scratch: Option<PathBuf>,
}

/// What is measured: the row offers it.
pub struct Subject {
    pub(crate) asked: Asked,
    /// Rows of each party; if there are two, the sender's and the receiver's.
    pub(crate) rows: Vec<u64>,
}

impl Subject {
    /// The subject that is asked for.
    ///
    /// # Errors
    /// The row does not offer it, or sets of these sizes cannot have that many items in common.
    pub fn new(asked: Asked) -> Result<Self, BenchError> {
        let Asked { sizes, question, .. } = &asked;
        let rows = match &asked.row {
            Row::WithHelper(row, options) => {
                if !row.parties.contains(&options.parties) {
                    return Err(BenchError::Parties(row.id));
                }
                let max = row.variant.max_rows();
                if sizes.larger() > max {
                    return Err(BenchError::TooManyRows { id: row.id, max });
                }
                if question.common > sizes.smaller() {
                    return Err(BenchError::TooManyCommon);
                }
                let mut rows = vec![sizes.sender; options.parties];
                rows[1] = sizes.receiver;
                rows
            }
            Row::TwoParties(protocol) => {
                question.check(protocol, *sizes)?;
                check_domain(protocol, &asked)?;
                vec![sizes.sender, sizes.receiver]
            }
        };
        Ok(Self { asked, rows })
    }

    /// The name of a party in messages.
    pub(crate) fn name(&self, party: usize) -> &'static str {
        match (&self.asked.row, party) {
            (Row::WithHelper(..), _) => "party",
            (_, 0) => "sender",
            _ => "receiver",
        }
    }
}

/// Refuses items of a length that `protocol` does not take, or that are too few for the sets.
fn check_domain(protocol: &Protocol, asked: &Asked) -> Result<(), BenchError> {
    let Asked { sizes, item_bits: bits, .. } = *asked;
    if !protocol.item_bits.contains(&bits) {
        let (id, takes) = (protocol.id, protocol.item_bits.clone());
        return Err(BenchError::ItemBits { id, takes });
    }
    let items = u128::from(sizes.sender + sizes.receiver - asked.question.common);
    let taken = u128::from(protocol.reserves_zero);
    if bits < Item::BITS && items + taken > 1 << bits {
        return Err(BenchError::TooFewItems { bits });
    }
    Ok(())
}
