//! What a benchmark measures: a row of the catalogue at some sizes, checked.

use super::error::BenchError;
use super::options::{BenchArgs, Transfers};
use super::question::QuestionArgs;
use super::sizes::Sizes;
use std::path::PathBuf;
use vesica_core::{Item, Role};
use vesica_engine::bench::{BenchPart, TwoParties, WithHelper};
use vesica_link::PublicIdentity;
use vesica_protocols::Protocol;
use vesica_protocols::kmrs14::{AidedProtocol, Check, PartySpec, Spec};

/// A row of the catalogue.
pub(super) enum Row {
    TwoParties(&'static Protocol),
    WithHelper(&'static AidedProtocol, Check),
}

/// What is measured.
pub(super) struct Subject<'a> {
    pub(super) args: &'a BenchArgs,
    pub(super) row: Row,
    pub(super) question: QuestionArgs,
    /// Rows of each party; if there are two, the sender's and the receiver's.
    pub(super) rows: Vec<u64>,
    /// How many items all parties have in common.
    pub(super) common: u64,
}

impl<'a> Subject<'a> {
    /// The subject that the command line asks for; an error if the row does not offer it.
    pub(super) fn new(args: &'a BenchArgs) -> Result<Self, BenchError> {
        let Sizes { sender, receiver } = args.size;
        if let Ok(row) = vesica_protocols::kmrs14::find_aided(&args.protocol) {
            let parties = usize::from(args.helper.parties);
            if !row.parties.contains(&parties) {
                return Err(BenchError::Parties(row.id));
            }
            let mut rows = vec![sender; parties];
            rows[1] = receiver;
            let (question, max) = (args.question.clone(), row.variant.max_rows());
            if sender.max(receiver) > max {
                return Err(BenchError::TooManyRows { id: row.id, max });
            }
            let common = question.common(args.size);
            if common > sender.min(receiver) {
                return Err(BenchError::TooManyCommon);
            }
            let check = args.helper.check(row.variant, sender.max(receiver));
            return Ok(Self { args, row: Row::WithHelper(row, check), question, rows, common });
        }
        let protocol = protocol(args)?;
        let question = args.question.clone().about(protocol);
        question.check(protocol, args.size)?;
        if !protocol.item_bits.contains(&args.item_bits) {
            let (id, takes) = (protocol.id, protocol.item_bits.clone());
            return Err(BenchError::ItemBits { id, takes });
        }
        let common = question.common(args.size);
        let items = u128::from(sender + receiver - common);
        let taken = u128::from(protocol.reserves_zero);
        if args.item_bits < Item::BITS && items + taken > 1 << args.item_bits {
            return Err(BenchError::TooFewItems { bits: args.item_bits });
        }
        let row = Row::TwoParties(protocol);
        Ok(Self { args, row, question, rows: vec![sender, receiver], common })
    }

    /// The name of a party in messages.
    pub(super) fn name(&self, party: usize) -> &'static str {
        match (&self.row, party) {
            (Row::WithHelper(..), _) => "party",
            (_, 0) => "sender",
            _ => "receiver",
        }
    }

    /// The job of party number `party`. `None` if there are not as many `identities` as parties, or
    /// the helper's is missing.
    pub(super) fn part(
        &self,
        party: usize,
        identities: &[PublicIdentity],
        helper: Option<PublicIdentity>,
        folder: PathBuf,
    ) -> Option<BenchPart> {
        let (row, check) = match &self.row {
            Row::WithHelper(row, check) => (row, check),
            Row::TwoParties(protocol) => {
                return Some(BenchPart::TwoParties(TwoParties {
                    protocol,
                    role: if party == 0 { Role::Sender } else { Role::Receiver },
                    sender_len: self.rows[0],
                    receiver_len: self.rows[1],
                    common_len: self.common,
                    learns: self.question.learns(),
                    query: self.question.query(self.args.size),
                    bounds: self.question.bounds().ok()?,
                    early_reveal: self.question.early_reveal(),
                    item_bits: self.args.item_bits,
                    peer: *identities.get(1 - party.min(1))?,
                    memory_bytes: self.args.memory.bytes(),
                    folder,
                }));
            }
        };
        let terms = |(identity, rows): (&PublicIdentity, &u64)| PartySpec {
            identity: *identity.as_bytes(),
            max_rows: (*rows).max(1),
            min_rows: 0,
            receives: true,
        };
        Some(BenchPart::WithHelper(WithHelper {
            spec: Spec {
                variant: row.variant,
                agreement: [0; 32],
                parties: identities.iter().zip(&self.rows).map(terms).collect(),
                copies: check.copies,
                dummies: check.dummies,
            },
            in_clear: self.args.helper.in_clear,
            party: party as u8,
            rows: *self.rows.get(party)?,
            common: self.common,
            helper: helper?,
            memory_bytes: self.args.memory.bytes(),
            folder,
        }))
    }
}

/// The row that the options choose.
fn protocol(args: &BenchArgs) -> Result<&'static Protocol, BenchError> {
    let find = |suffix: &str| {
        let id = format!("{}{suffix}", args.protocol);
        vesica_protocols::find(&id).map_err(|_| BenchError::UnknownProtocol(id))
    };
    if let Some(engine) = args.engine {
        let (own, other) = engine.suffixes();
        // Only a protocol with a choice of engines has a row for the other one.
        return find(own).or_else(|unknown| match find(other) {
            Ok(_) => find(""),
            Err(_) => Err(unknown),
        });
    }
    match (args.ot, args.paper) {
        (Some(Transfers::Iknp), _) => find("_iknp"),
        // The same for the transfers.
        (Some(Transfers::Silent), _) => find("_iknp").and_then(|_| find("")),
        (None, true) => find("_paper"),
        (None, false) => find(""),
    }
}
