//! The catalogue's description of a protocol of two parties: its row, and the types of the row's
//! fields.

use crate::{Addends, Committed, Fact, Input, Party, Steps};
use std::fmt;
use std::ops::RangeInclusive;
use vesica_core::{
    Error, Item, Learns, Operation, ParameterError, PsiParams, Query, Result, Role, Runs, Values,
};
use vesica_net::Context;

/// Whom a protocol protects against. Ordered: more is stronger.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Security {
    /// Against no party that tries: the other party can test guesses.
    Insecure,
    /// Against parties that follow the protocol and study what they saw.
    SemiHonest,
    /// Against parties that deviate in any way, for what the other party entered: the receiver
    /// learns only the result, and the sender learns nothing. But a sender that deviates can make
    /// the result wrong, even depending on the receiver's set.
    OneSided,
    /// Against parties that deviate in any way.
    Malicious,
}

impl Security {
    /// Whether a deviating party cannot enter many more items than it announces: each item that it
    /// adds to its set is one more that it can test.
    pub const fn guards_sets(self) -> bool {
        matches!(self, Security::OneSided | Security::Malicious)
    }

    /// The name in an agreement.
    pub const fn name(self) -> &'static str {
        match self {
            Security::Insecure => "insecure",
            Security::SemiHonest => "semi-honest",
            Security::OneSided => "one-sided",
            Security::Malicious => "malicious",
        }
    }
}

impl fmt::Display for Security {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// Payload bytes of a run, in each direction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Traffic {
    /// From the sender to the receiver.
    pub sender_to_receiver: u64,
    /// From the receiver to the sender.
    pub receiver_to_sender: u64,
}

impl Traffic {
    /// Both directions together.
    pub const fn total(self) -> u64 {
        self.sender_to_receiver + self.receiver_to_sender
    }
}

/// A parameter of a protocol and where it comes from.
#[derive(Clone, Copy, Debug)]
pub struct Parameter {
    /// What it is, in words.
    pub name: &'static str,
    /// Its value, with unit.
    pub value: &'static str,
    /// The paper, standard or section it is taken from.
    pub source: &'static str,
}

/// What items are compared by in a run, and its length at the sizes of the run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Compared {
    /// What people call the length.
    pub name: &'static str,
    /// The length in bits.
    pub bits: u32,
}

impl Compared {
    /// Tags that one party sends.
    pub const fn tags(bits: u32) -> Self {
        Self { name: "tag length in this run", bits }
    }

    /// Masks that one party sends.
    pub const fn masks(bits: u32) -> Self {
        Self { name: "mask length in this run", bits }
    }

    /// Outputs of a pseudorandom function.
    pub const fn outputs(bits: u32) -> Self {
        Self { name: "output length in this run", bits }
    }

    /// Strings of a garbled Bloom filter.
    pub const fn strings(bits: u32) -> Self {
        Self { name: "string length in this run", bits }
    }

    /// Items, or hashes of them, in a circuit.
    pub const fn items(bits: u32) -> Self {
        Self { name: "length of compared items in this run", bits }
    }
}

/// Whether a protocol compares each item with each, which suits small sets, and when both parties
/// learn the matches if both learn the intersection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pairwise {
    /// It does not: it makes fewer comparisons.
    No,
    /// At the end.
    AtEnd,
    /// During the comparisons, so that it skips matched items, unless there are bounds.
    /// [`EarlyReveal`](vesica_core::EarlyReveal) turns this off.
    Early,
}

/// Whether a protocol runs under an agreement that leaves the choice open, `protocol = "auto"`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Auto {
    /// It may: it answers its questions with the least time or the fewest bytes at some sizes, over
    /// some network.
    Candidate,
    /// Only if no candidate gives the answer: a candidate costs less or reveals less.
    WhenAlone,
    /// Only if an agreement names it: a variant from the literature for comparison, or an insecure
    /// one.
    Never,
}

/// Who may learn the result of an operation that does not give each party its own result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Learners {
    /// The receiver, or both.
    Any,
    /// Only the receiver: what it would tell the sender could depend on more than the result.
    ReceiverAlone,
}

/// Who enforces the bounds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BoundsKept {
    /// No one: the protocol takes no bounds.
    No,
    /// The computation: no party ever holds the number of common items.
    ByComputation,
    /// The receiver's program: it holds the number, and if that is outside the bounds it ends the
    /// run without revealing it, before the later messages are sent.
    ByReceiver,
}

impl BoundsKept {
    /// Whether the bounds are enforced.
    pub fn are_kept(self) -> bool {
        self != BoundsKept::No
    }
}

/// Whether a large job may be split into partitions by a digest of the items, each with its own
/// run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Partitions {
    /// It may not: the result of a partition reveals more than the result of the job.
    No,
    /// The results of all partitions together are the result: their intersections, unions or
    /// private ids. For unions and private ids, the number of common items of each partition is
    /// revealed: the parties must have agreed to that.
    Sets,
}

impl Partitions {
    /// The name in lists and reports.
    pub const fn name(self) -> &'static str {
        match self {
            Partitions::No => "no",
            Partitions::Sets => "sets",
        }
    }

    /// What it means, in words.
    pub const fn words(self) -> &'static str {
        match self {
            Partitions::No => "no",
            Partitions::Sets => {
                "yes; in each of P runs that make one result, 40 + ⌈log P⌉ takes the place of λ = \
                 40"
            }
        }
    }
}

/// How many different items a deviating receiver can test in one run; if shared items must be among
/// them, they are not counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UsableSetLen {
    /// Without any effort.
    pub free: u64,
    /// At most, if it can hash 2^80 items: a bound on the set that the proof's simulator extracts
    /// from it.
    pub most: u64,
}

/// Makes one party of a protocol from its private set, which [`Protocol::party`] has checked.
pub type MakeParty = fn(PsiParams, Input) -> Result<Box<dyn Party>>;

/// Makes the party in that role that opens the sum of all parts' addends, which
/// [`Protocol::opening`] has checked.
pub type MakeOpening = fn(Role, PsiParams, Addends) -> Result<Box<dyn Party>>;

/// How sets that are split into parts get one number as the answer: the run of each part ends with
/// [addends](Addends), each party adds up its own of all parts, and one more run opens the sum. So
/// no party learns a number of one part.
///
/// Parts and opening have the query, the bounds and the learner of the whole, and each has its own
/// session.
#[derive(Clone, Copy, Debug)]
pub struct AddendRuns {
    /// Messages in a row of one part's run, as in [`Protocol::flights`].
    pub part_flights: fn(&PsiParams) -> u64,
    /// Exact payload bytes of one part's run; the parameters have the sizes of the part.
    pub part_bytes: fn(&PsiParams) -> Traffic,
    /// Makes the sender of one part.
    pub part_sender: MakeParty,
    /// Makes the receiver of one part.
    pub part_receiver: MakeParty,
    /// Messages in a row of the opening; it ends earlier outside the bounds.
    pub opening_flights: fn(&PsiParams) -> u64,
    /// Exact payload bytes of the opening; it ends earlier outside the bounds. The parameters have
    /// the sizes of the whole.
    pub opening_bytes: fn(&PsiParams) -> Traffic,
    /// Makes either party of the opening.
    pub opening: MakeOpening,
}

/// One row of the catalogue.
#[derive(Debug)]
pub struct Protocol {
    /// The name in an agreement and on the command line, as the literature names it.
    pub id: &'static str,
    /// A readable name.
    pub name: &'static str,
    /// Where it was published, and the section or figure implemented.
    pub source: &'static str,
    /// Whom it protects against.
    pub security: Security,
    /// What is believed to be hard, and in which model.
    pub assumption: &'static str,
    /// What it can compute.
    pub operations: &'static [Operation],
    /// What the sender learns when only the receiver gets the result.
    pub sender_learns: &'static [Fact],
    /// What the receiver learns.
    pub receiver_learns: &'static [Fact],
    /// Messages in a row, each waiting for the one before, including the answer to the sender if
    /// both learn; messages that both send at the same time count once. Exact for a run inside its
    /// bounds, which ends earlier outside them; with `least_flights`, the most.
    pub flights: fn(&PsiParams) -> u64,
    /// The fewest flights of any run inside its bounds, if flights depend on the result; otherwise
    /// `None`.
    pub least_flights: Option<fn(&PsiParams) -> u64>,
    /// `bytes` in words; n_x is the sender's set size, and n_y the receiver's.
    pub bytes_formula: &'static str,
    /// Exact payload bytes of a run inside its bounds, which ends earlier outside them; with
    /// `bytes_depend_on_result`, the most.
    pub bytes: fn(&PsiParams) -> Traffic,
    /// Seconds that computation alone takes on the reference machine with one core for each party
    /// and no network in between. A fit to measurements, for comparing rows; no promise about any
    /// machine. Must be the same at both parties: only sums and products of the sizes, which IEEE
    /// 754 rounds alike everywhere.
    pub seconds: fn(&PsiParams) -> f64,
    /// How many different items a deviating receiver can test in one run. `None` means no more than
    /// its set size.
    pub usable_set_len: Option<fn(&PsiParams) -> UsableSetLen>,
    /// Whether it runs under an agreement that leaves the choice open. `vesica protocols` says for
    /// which questions.
    pub auto: Auto,
    /// σ, the lengths of an item in bits that it takes. Items of fewer than 128 bits are integers
    /// of a small domain, and the fewer bits the cheaper; protocols that take only 128 compare
    /// digests.
    pub item_bits: RangeInclusive<u32>,
    /// Whether the protocol reserves the item zero for itself.
    pub reserves_zero: bool,
    /// What keeps the result secret if there are too few or too many common items.
    pub bounds: BoundsKept,
    /// Who may learn the result.
    pub learners: Learners,
    /// Whether it takes several values for an item, and values with a sign. The values are then the
    /// sender's, and the receiver learns how many items are common.
    pub wide_values: bool,
    /// Whether an intersection can give the receiver the sender's payloads of common items.
    pub payloads: bool,
    /// Whether a run in which both learn may send fewer bytes than `bytes`, depending on the
    /// result.
    pub bytes_depend_on_result: bool,
    /// Whether it compares each item with each.
    pub pairwise: Pairwise,
    /// Whether several runs can make one result; [`PsiParams::runs`] says how many. Their items are
    /// digests.
    pub partitions: Partitions,
    /// The steps that all partitions of a run make together; `None` if each partition runs alone. A
    /// protocol against deviating parties that can be split has such steps: otherwise a party could
    /// choose its items in one partition by the result of another.
    pub steps: Option<Steps>,
    /// How it gives a number as the answer for sets that are split into parts, if it can.
    pub addends: Option<AddendRuns>,
    /// What items are compared by, and its length, in a run with no empty set.
    pub compared: fn(&PsiParams) -> Compared,
    /// The parameters a reviewer asks for.
    pub parameters: &'static [Parameter],
    /// Makes the sender.
    pub sender: MakeParty,
    /// Makes the receiver.
    pub receiver: MakeParty,
}

impl Protocol {
    /// The fewest flights of a run inside its bounds, and the most.
    pub fn flights_range(&self, params: &PsiParams) -> RangeInclusive<u64> {
        let most = (self.flights)(params);
        self.least_flights.map_or(most, |least| least(params))..=most
    }

    /// [`Protocol::sender_learns`] in words.
    pub fn sender_learns(&self) -> String {
        Fact::all_words(self.sender_learns, "the receiver")
    }

    /// [`Protocol::receiver_learns`] in words.
    pub fn receiver_learns(&self) -> String {
        Fact::all_words(self.receiver_learns, "the sender")
    }

    /// The possible learners of `operation`.
    pub fn learners_of(&self, operation: Operation) -> &'static [Learns] {
        match (operation.is_for_both(), self.learners) {
            (true, _) => &[Learns::Both],
            (false, Learners::Any) => &[Learns::Receiver, Learns::Both],
            (false, Learners::ReceiverAlone) => &[Learns::Receiver],
        }
    }

    /// Whether it takes integers of a small domain.
    pub fn takes_integers(&self) -> bool {
        *self.item_bits.start() < Item::BITS
    }

    /// The party in `role` with its private input.
    ///
    /// # Errors
    /// [`ParameterError`]: which parameter the protocol does not offer, or how the input differs
    /// from the parameters.
    pub fn party(
        &self,
        role: Role,
        params: PsiParams,
        input: impl Into<Input>,
    ) -> Result<Box<dyn Party>> {
        let input = input.into();
        if params.runs() != Runs::ONE && self.partitions == Partitions::No {
            return Err(ParameterError::UnsupportedRuns.into());
        }
        self.check(role, &params, &input)?;
        match role {
            Role::Sender => (self.sender)(params, input),
            _ => (self.receiver)(params, input),
        }
    }

    /// Runs the first of the [steps](Self::steps) for the party in `role`, in one partition.
    ///
    /// # Errors
    /// As [`party`](Self::party), and those of the step.
    pub fn commit(
        &self,
        role: Role,
        params: &PsiParams,
        input: Input,
        ctx: &mut Context,
    ) -> Result<Committed> {
        let steps = self.steps.ok_or(ParameterError::UnsupportedRuns)?;
        self.check(role, params, &input)?;
        (steps.commit)(role, params, input, ctx)
    }

    /// The party in `role` of one part of a run whose answer is one number, with the items of that
    /// part. `params` are those of the whole run, except for the sizes and the session, which are
    /// the part's own. It ends with [`Output::Addends`](crate::Output::Addends).
    ///
    /// # Errors
    /// As [`party`](Self::party); [`ParameterError::UnsupportedOperation`] if the protocol or the
    /// query has no addends.
    pub fn part(
        &self,
        role: Role,
        params: PsiParams,
        input: impl Into<Input>,
    ) -> Result<Box<dyn Party>> {
        let input = input.into();
        let runs = self.addend_runs(&params)?;
        self.check(role, &params, &input)?;
        match role {
            Role::Sender => (runs.part_sender)(params, input),
            _ => (runs.part_receiver)(params, input),
        }
    }

    /// The party in `role` that opens `addends`, the sum of its addends of all parts. `params` are
    /// those of the whole run, except for a separate session. It ends as a party of the whole run
    /// would.
    ///
    /// # Errors
    /// [`ParameterError`]: which parameter the protocol does not offer; [`Error::Bug`] if the
    /// addends are those of another query.
    pub fn opening(
        &self,
        role: Role,
        params: PsiParams,
        addends: Addends,
    ) -> Result<Box<dyn Party>> {
        let runs = self.addend_runs(&params)?;
        self.check_query(&params)?;
        if addends.sums.len() != Addends::zeros(&params).sums.len() {
            return Err(Error::Bug("addends of another number of sums"));
        }
        (runs.opening)(role, params, addends)
    }

    /// How this protocol runs the parts.
    fn addend_runs(&self, params: &PsiParams) -> Result<AddendRuns> {
        let has_number =
            matches!(params.query(), Query::Cardinality | Query::Threshold { .. } | Query::Sum(_));
        let runs = self.addends.filter(|_| has_number);
        runs.ok_or(ParameterError::UnsupportedOperation.into())
    }

    /// Refuses parameters that the protocol does not offer for any sets.
    fn check_query(&self, params: &PsiParams) -> Result<()> {
        if !self.operations.contains(&params.query().operation()) {
            return Err(ParameterError::UnsupportedOperation.into());
        }
        if !self.bounds.are_kept() && !params.bounds().are_none() {
            return Err(ParameterError::UnsupportedBounds.into());
        }
        let operation = params.query().operation();
        if operation.is_for_both() && params.learns() != Learns::Both {
            return Err(ParameterError::IsForBoth.into());
        }
        if !self.learners_of(operation).contains(&params.learns()) {
            return Err(ParameterError::IsForReceiver.into());
        }
        if params.query().payload_len().is_some() {
            if !self.payloads {
                return Err(ParameterError::UnsupportedPayloads.into());
            }
            if params.runs() != Runs::ONE {
                return Err(ParameterError::UnsupportedRuns.into());
            }
        }
        if let Some(values) = params.query().values() {
            let is_taken =
                if self.wide_values { values.holder() == Role::Sender } else { values.are_plain() };
            if !is_taken {
                return Err(ParameterError::UnsupportedValues.into());
            }
        }
        if let Some(factors) = params.query().factors()
            && !(factors.holder() == Role::Receiver
                && factors.are_plain()
                && factors.bits() <= Values::MAX_FACTOR_BITS)
        {
            return Err(ParameterError::UnsupportedValues.into());
        }
        if !self.item_bits.contains(&params.item_bits()) {
            return Err(ParameterError::ItemBits { bits: params.item_bits() }.into());
        }
        if params.runs() != Runs::ONE && params.item_bits() != Item::BITS {
            return Err(ParameterError::UnsupportedRuns.into());
        }
        Ok(())
    }

    /// Refuses parameters and input that the protocol does not accept.
    fn check(&self, role: Role, params: &PsiParams, input: &Input) -> Result<()> {
        self.check_query(params)?;
        input.check(params, role)?;
        if self.reserves_zero && input.items().iter().any(|item| item.integer() == 0) {
            return Err(ParameterError::ReservedItem.into());
        }
        Ok(())
    }
}
