use std::ops::Range;
use std::sync::Arc;
use vesica_core::{Error, Item, Misbehaviour, ParameterError, PsiParams, Query, Result, Role};
use vesica_net::Context;
use zeroize::Zeroize;

/// One party of one protocol run.
///
/// The constructor takes the private input and checked parameters; `run` consumes the party, so
/// that nothing is ever used twice. The receiver learns the result.
pub trait Party: Send {
    /// Runs the protocol to its end.
    ///
    /// # Errors
    /// Any [`Error`]; the context is unusable afterwards.
    fn run(self: Box<Self>, ctx: &mut Context) -> Result<Output>;
}

/// What a party enters: its set and, if the query is about them, values, texts or payloads of its
/// items.
#[derive(Clone)]
pub struct Input {
    items: Arc<Vec<Item>>,
    values: Option<Arc<Vec<u64>>>,
    texts: Option<Arc<Vec<u8>>>,
    payloads: Option<Arc<Vec<u8>>>,
    shared: Range<usize>,
}

impl Input {
    /// `items`, with their values in the same order: the values of one item are adjacent.
    pub fn with_values(items: Arc<Vec<Item>>, values: Arc<Vec<u64>>) -> Self {
        Self { values: Some(values), ..items.into() }
    }

    /// `items`, with their texts in the same order, all of the same length. Equal items have equal
    /// texts at both parties.
    pub fn with_texts(items: Arc<Vec<Item>>, texts: Arc<Vec<u8>>) -> Self {
        Self { texts: Some(texts), ..items.into() }
    }

    /// `items`, with their payloads in the same order, all of the same length. The receiver gets
    /// those of common items, also of those that both parties know.
    pub fn with_payloads(items: Arc<Vec<Item>>, payloads: Arc<Vec<u8>>) -> Self {
        Self { payloads: Some(payloads), ..items.into() }
    }

    /// The same input where both parties know the items at the positions `shared`, and both sets
    /// have them in this order: [`PsiParams::shared_len`] says how many.
    pub fn with_shared(self, shared: Range<usize>) -> Self {
        Self { shared, ..self }
    }

    /// The set.
    pub fn items(&self) -> &Arc<Vec<Item>> {
        &self.items
    }

    /// The values of the items, if this party has them.
    pub fn values(&self) -> Option<&Arc<Vec<u64>>> {
        self.values.as_ref()
    }

    /// The texts of the items, if this party has them.
    pub fn texts(&self) -> Option<&Arc<Vec<u8>>> {
        self.texts.as_ref()
    }

    /// The payloads of the items, if this party has them.
    pub fn payloads(&self) -> Option<&Arc<Vec<u8>>> {
        self.payloads.as_ref()
    }

    /// The positions of the items that both parties know.
    pub fn shared(&self) -> Range<usize> {
        self.shared.clone()
    }

    /// Only the set.
    pub fn into_items(self) -> Arc<Vec<Item>> {
        self.items
    }

    /// Refuses values, texts, payloads and shared items where there should be none, and those that
    /// are missing, too many or too long.
    pub fn check(&self, params: &PsiParams, role: Role) -> Result<()> {
        if self.shared.len() != params.shared_len() || self.shared.end > self.items.len() {
            return Err(ParameterError::SharedItems.into());
        }
        let query = params.query();
        let texts_len = query.text_len().map(|len| len.bytes() * self.items.len());
        if self.texts.as_ref().map(|texts| texts.len()) != texts_len {
            return Err(ParameterError::Texts.into());
        }
        let payload_len = query.payload_len().filter(|_| role == Role::Sender);
        let payloads_len = payload_len.map(|len| len.bytes() * self.items.len());
        if self.payloads.as_ref().map(|payloads| payloads.len()) != payloads_len {
            return Err(ParameterError::Payloads.into());
        }
        match (query.values_of(role), &self.values) {
            (None, None) => Ok(()),
            (Some(of), Some(values)) if values.len() == of.columns() * self.items.len() => {
                if values.iter().all(|value| of.contain(*value)) {
                    Ok(())
                } else {
                    Err(ParameterError::ValueTooLong { bits: of.bits() }.into())
                }
            }
            _ => Err(ParameterError::Values.into()),
        }
    }
}

impl From<Arc<Vec<Item>>> for Input {
    fn from(items: Arc<Vec<Item>>) -> Self {
        Self { items, values: None, texts: None, payloads: None, shared: 0..0 }
    }
}

/// What a party learned.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Output {
    /// Nothing beyond the public sizes.
    Nothing,
    /// The positions, ascending, of the common items in this party's own list.
    Positions(Vec<usize>),
    /// The positions, ascending, of the common items in this party's own list, and the sender's
    /// payloads of them, one after the other.
    Payloads {
        /// The positions.
        positions: Vec<usize>,
        /// The payloads, in the order of the positions.
        payloads: Vec<u8>,
    },
    /// How many items are common.
    Cardinality(u64),
    /// Whether at least as many items are common as were asked for.
    AtLeast(bool),
    /// The sum of the common items' values.
    Sum(u128),
    /// How many items are common, and the sum of their values, column by column.
    CountedSums {
        /// How many items.
        count: u64,
        /// The sum of each column.
        sums: Vec<i128>,
    },
    /// The texts of the items that only the other party has, one after the other, in an order that
    /// reveals nothing.
    OnlyTheirs(Vec<u8>),
    /// Random identifiers.
    Ids(Ids),
    /// Shares.
    Shares(Shares),
    /// This party's addends from one part of a run.
    Addends(Addends),
    /// The number of common items is outside the bounds; nothing else is learned.
    OutsideBounds,
    /// An impossible result; reported locally, after the last message. Whether a result is possible
    /// depends on this party's own items, so the peer must not learn of it: until then the party
    /// continues as with any other result.
    Refused {
        /// The result the party would have, if it has one.
        output: Box<Output>,
        /// What is wrong.
        why: Misbehaviour,
    },
}

/// The identifiers of the items of two sets: a common item has the same identifier at both parties.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ids {
    /// Those of this party's own items, in the order of its list.
    pub own: Vec<[u8; Item::LEN]>,
    /// Those of all items of the union, ascending.
    pub all: Vec<[u8; Item::LEN]>,
}

/// One party's shares of a list.
///
/// With [`vesica_core::Query::Shares`] no party knows the list's order: each knows one half of it.
/// With [`vesica_core::Query::SharedValues`] the order is random, and the sender knows it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Shares {
    /// How many entries the list has.
    pub len: usize,
    /// Of the items: the XOR of both parties' shares is the item. Empty if only values are shared.
    pub items: Vec<[u8; Item::LEN]>,
    /// Of the values; those of one entry are adjacent. With [`vesica_core::Query::Shares`] the XOR
    /// of both parties' shares is the value; with [`vesica_core::Query::SharedValues`] it is their
    /// sum modulo 2^64.
    pub values: Vec<u64>,
    /// What this party knows of the order of the list.
    pub order: Order,
}

/// What one party knows of the order of shared entries: its output of the permuted characteristic
/// (Garimella et al., PKC 2021, Figures 5, 6 and 13). The sender has π, the receiver e.
///
/// # Leakage
/// None to the party that has it. π is the sender's own choice, uniform and independent of both
/// sets. The common places, and ρ, are in an order that π hides. **Both halves together reveal
/// which of the sender's items are common**, so a party must not give its half to the other, nor to
/// anyone who has the other's.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Order {
    /// The sender's, π: the position in its list of the item at each place. With
    /// [`vesica_core::Query::SharedValues`] the places are the entries; with
    /// [`vesica_core::Query::Shares`] there is a place for each item, and only the receiver knows
    /// at which places the entries are.
    Items(Vec<u32>),
    /// The receiver's with [`vesica_core::Query::Shares`], ρ: the place of each entry.
    Places(Vec<u32>),
    /// The receiver's with [`vesica_core::Query::SharedValues`], e: whether each entry belongs to a
    /// common item.
    Common(Vec<bool>),
}

impl Default for Order {
    fn default() -> Self {
        Self::Items(Vec::new())
    }
}

/// One party's shares of the numbers that one part of a run gives, or several parts together.
///
/// The sums of both parties' addends are the numbers, modulo a power of two. What a party holds is
/// uniformly random and reveals nothing of the numbers, except where a set of the part is empty:
/// then both parties hold zeros.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Addends {
    /// The share of the number of common items, modulo 2^64. Zero if neither the query nor the
    /// bounds need it.
    pub count: u64,
    /// The shares of the sums of their values, column by column, modulo 2^128. Empty if no values
    /// are summed.
    pub sums: Vec<u128>,
}

impl Addends {
    /// The addends of no parts: zeros for a run with `params`.
    pub fn zeros(params: &PsiParams) -> Self {
        let columns = match params.query() {
            Query::Sum(of) => of.columns(),
            _ => 0,
        };
        Self { count: 0, sums: vec![0; columns] }
    }

    /// Adds the addends of another part of the same run.
    ///
    /// # Errors
    /// [`Error::Bug`] if that part has another number of sums.
    pub fn add(&mut self, part: &Self) -> Result<()> {
        if self.sums.len() != part.sums.len() {
            return Err(Error::Bug("addends of another number of sums"));
        }
        self.count = self.count.wrapping_add(part.count);
        self.sums.iter_mut().zip(&part.sums).for_each(|(sum, part)| *sum = sum.wrapping_add(*part));
        Ok(())
    }
}

impl Output {
    /// `output`, or its refusal if it is `wrong`.
    pub fn unless(wrong: bool, output: Output) -> Self {
        if wrong {
            Output::Refused { output: Box::new(output), why: Misbehaviour::InvalidValue }
        } else {
            output
        }
    }

    /// The result the party would have, and what is wrong with it.
    pub fn split(self) -> (Self, Option<Misbehaviour>) {
        match self {
            Output::Refused { output, why } => (*output, Some(why)),
            output => (output, None),
        }
    }

    /// The output, for a party that has nothing left to send to the peer.
    ///
    /// # Errors
    /// [`Error::PeerMisbehaved`] for an output that is [refused](Output::Refused).
    pub fn checked(self) -> Result<Self> {
        match self.split() {
            (output, None) => Ok(output),
            (_, Some(why)) => Err(why.into()),
        }
    }

    /// The positions.
    ///
    /// # Errors
    /// [`Error::Bug`] when the party learned something else.
    pub fn into_positions(self) -> Result<Vec<usize>> {
        match self {
            Output::Positions(positions) => Ok(positions),
            _ => Err(Error::Bug("a party was asked for positions it did not learn")),
        }
    }

    /// The addends.
    ///
    /// # Errors
    /// [`Error::Bug`] when the party learned something else.
    pub fn into_addends(self) -> Result<Addends> {
        match self {
            Output::Addends(addends) => Ok(addends),
            _ => Err(Error::Bug("a party was asked for addends it does not hold")),
        }
    }
}

/// The party in `role` of a protocol that takes only a set, with its program. The set must not hold
/// an item twice.
///
/// # Errors
/// [`ParameterError::SetLenMismatch`].
pub fn of_set<P>(role: Role, params: PsiParams, input: Input, program: P) -> Result<Box<dyn Party>>
where
    P: FnOnce(PsiParams, Arc<Vec<Item>>, &mut Context) -> Result<Output> + Send + 'static,
{
    let set = input.into_items();
    let len = if role == Role::Sender { params.sender_len() } else { params.receiver_len() };
    check_set_len(len, set.len())?;
    Ok(Box::new(OfSet { params, set, program }))
}

/// The party of [`of_set`].
struct OfSet<P> {
    params: PsiParams,
    set: Arc<Vec<Item>>,
    program: P,
}

impl<P> Party for OfSet<P>
where
    P: FnOnce(PsiParams, Arc<Vec<Item>>, &mut Context) -> Result<Output> + Send,
{
    fn run(self: Box<Self>, ctx: &mut Context) -> Result<Output> {
        (self.program)(self.params, self.set, ctx)
    }
}

/// Refuses a set whose size differs from the parameters.
pub fn check_set_len(expected: usize, actual: usize) -> Result<()> {
    if expected == actual {
        return Ok(());
    }
    Err(ParameterError::SetLenMismatch { expected: expected as u64, actual: actual as u64 }.into())
}

/// Refuses items that are integers outside the domain in the parameters.
pub fn check_item_bits(params: &PsiParams, items: &[Item]) -> Result<()> {
    let largest = params.largest_item();
    if items.iter().any(|item| item.integer() > largest) {
        Err(ParameterError::ItemTooLong { bits: params.item_bits() }.into())
    } else {
        Ok(())
    }
}

/// Refuses a list with a repeated item: operations on sets would count both, or lose both.
pub fn check_distinct(items: &[Item]) -> Result<()> {
    let mut sorted = items.to_vec();
    sorted.sort_unstable();
    let is_twice = sorted.windows(2).any(|pair| pair[0] == pair[1]);
    sorted.zeroize();
    if is_twice { Err(ParameterError::DuplicateItem.into()) } else { Ok(()) }
}
