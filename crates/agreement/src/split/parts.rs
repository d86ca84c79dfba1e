//! What becomes of what partitions give that are matched in memory, and what is kept of it.

use vesica_core::{Error, Item, Misbehaviour, PsiParams, Result, Role};
use vesica_partitions::{Cost, FinishedAddends, FinishedLists, Listed};
use vesica_protocols::{Addends, Ids, Input, Output, Party, Protocol};

/// What the partitions of a run are, and what becomes of what they give.
pub trait Parts: Send {
    /// The party of one partition.
    ///
    /// # Errors
    /// Errors of the protocol's parameters.
    fn party(&self, params: PsiParams, input: Input) -> Result<Box<dyn Party>>;

    /// What is kept of a partition with such `params` that gave `output`. Its length does not
    /// depend on what was found.
    ///
    /// # Errors
    /// [`Error::Bug`] for an output that no such partition gives.
    fn keep(&self, params: &PsiParams, output: &Output, cost: Cost) -> Result<Vec<u8>>;

    /// What a partition gave of which `bytes` were kept; `None` if they are not of that one.
    fn recall(&self, params: &PsiParams, bytes: &[u8]) -> Option<(Output, Cost)>;

    /// Takes the output of a partition in which the items at these `positions` of the set were.
    ///
    /// # Errors
    /// [`Error::Bug`] for an output that no such partition gives.
    fn take(&mut self, positions: &[usize], output: Output) -> Result<()>;
}

/// Items that the party in `role` enters, and items that its peer enters.
pub fn lens(role: Role, params: &PsiParams) -> [usize; 2] {
    match role {
        Role::Sender => [params.sender_len(), params.receiver_len()],
        _ => [params.receiver_len(), params.sender_len()],
    }
}

/// A number, by this party's shares of each partition.
pub struct Numbers<'a> {
    row: &'a Protocol,
    role: Role,
    total: Addends,
}

impl<'a> Numbers<'a> {
    /// Of no partition yet, for the party in `role` of a run of `row` with `params`.
    pub fn new(row: &'a Protocol, role: Role, params: &PsiParams) -> Self {
        Self { row, role, total: Addends::zeros(params) }
    }

    /// The sum of the shares of the partitions so far.
    pub fn total(self) -> Addends {
        self.total
    }
}

impl Parts for Numbers<'_> {
    fn party(&self, params: PsiParams, input: Input) -> Result<Box<dyn Party>> {
        self.row.part(self.role, params, input)
    }

    fn keep(&self, _: &PsiParams, output: &Output, cost: Cost) -> Result<Vec<u8>> {
        let Addends { count, sums } = output.clone().into_addends()?;
        Ok(FinishedAddends { count, sums, cost }.to_bytes())
    }

    fn recall(&self, _: &PsiParams, bytes: &[u8]) -> Option<(Output, Cost)> {
        let FinishedAddends { count, sums, cost } =
            FinishedAddends::from_bytes(bytes, self.total.sums.len())?;
        Some((Output::Addends(Addends { count, sums }), cost))
    }

    fn take(&mut self, _: &[usize], output: Output) -> Result<()> {
        self.total.add(&output.into_addends()?)
    }
}

/// A union or private ids, by the list of each partition.
pub struct Listing<'a> {
    row: &'a Protocol,
    role: Role,
    lists: Lists,
}

impl<'a> Listing<'a> {
    /// Of no partition yet, for the party in `role` of a run of `row`, which enters `len` items.
    pub fn new(row: &'a Protocol, role: Role, len: usize) -> Self {
        Self { row, role, lists: Lists::new(len) }
    }

    /// The output of the whole run.
    pub fn output(self) -> Output {
        self.lists.output()
    }

    /// The most bytes of the list that a partition gives.
    fn most(&self, params: &PsiParams) -> usize {
        let [own, theirs] = lens(self.role, params);
        match params.query().text_len() {
            Some(len) => theirs * len.bytes(),
            None => (2 * own + theirs) * Item::LEN,
        }
    }
}

impl Parts for Listing<'_> {
    fn party(&self, params: PsiParams, input: Input) -> Result<Box<dyn Party>> {
        self.row.party(self.role, params, input)
    }

    fn keep(&self, params: &PsiParams, output: &Output, cost: Cost) -> Result<Vec<u8>> {
        let (output, refused) = output.clone().split();
        let listed = match output {
            Output::Nothing => Listed::Nothing,
            Output::OnlyTheirs(texts) => Listed::Texts(texts),
            Output::Ids(Ids { own, all }) => Listed::Ids { own, all },
            _ => return Err(NO_LIST),
        };
        FinishedLists { listed, refused, cost }
            .to_bytes(self.most(params))
            .ok_or(Error::Bug("the list of a partition is longer than the union"))
    }

    fn recall(&self, params: &PsiParams, bytes: &[u8]) -> Option<(Output, Cost)> {
        let [own_len, _] = lens(self.role, params);
        let FinishedLists { listed, refused, cost } =
            FinishedLists::from_bytes(bytes, own_len, self.most(params))?;
        let output = match listed {
            Listed::Nothing => Output::Nothing,
            Listed::Texts(texts) => Output::OnlyTheirs(texts),
            Listed::Ids { own, all } => Output::Ids(Ids { own, all }),
        };
        Some((output_or_refused(output, refused), cost))
    }

    fn take(&mut self, positions: &[usize], output: Output) -> Result<()> {
        self.lists.add(positions, output)
    }
}

const NO_LIST: Error = Error::Bug("a partition gave no list");

/// The lists of the partitions so far.
struct Lists {
    texts: Option<Vec<u8>>,
    ids: Option<Ids>,
    /// Items of this party's set, padding included.
    len: usize,
    /// Why the result is refused.
    refused: Option<Misbehaviour>,
}

impl Lists {
    fn new(len: usize) -> Self {
        Self { texts: None, ids: None, len, refused: None }
    }

    /// Adds what a partition gave in which the own items at these `positions` were.
    fn add(&mut self, positions: &[usize], output: Output) -> Result<()> {
        let (output, refused) = output.split();
        self.refused = self.refused.or(refused);
        match output {
            Output::Nothing => {}
            Output::OnlyTheirs(texts) => self.texts.get_or_insert_default().extend(texts),
            Output::Ids(part) => {
                let none = || Ids { own: vec![Default::default(); self.len], all: Vec::new() };
                let ids = self.ids.get_or_insert_with(none);
                if part.own.len() != positions.len() {
                    return Err(Error::Bug("an item has no identifier"));
                }
                for (position, id) in positions.iter().zip(part.own) {
                    ids.own[*position] = id;
                }
                ids.all.extend(part.all);
            }
            _ => return Err(NO_LIST),
        }
        Ok(())
    }

    /// The output of the whole run.
    fn output(self) -> Output {
        let output = match (self.texts, self.ids) {
            (Some(texts), _) => Output::OnlyTheirs(texts),
            (None, Some(mut ids)) => {
                ids.all.sort_unstable();
                Output::Ids(ids)
            }
            (None, None) => Output::Nothing,
        };
        output_or_refused(output, self.refused)
    }
}

fn output_or_refused(output: Output, refused: Option<Misbehaviour>) -> Output {
    match refused {
        Some(why) => Output::Refused { output: Box::new(output), why },
        None => output,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use vesica_core::{Learns, Query, SessionId, TextLen, Values};

    fn id(n: u8) -> [u8; 16] {
        [n; 16]
    }

    #[test]
    fn identifiers_are_those_of_their_items_and_all_are_sorted() {
        let mut lists = Lists::new(3);
        let ids = |own: &[u8], all: &[u8]| {
            let of = |list: &[u8]| list.iter().map(|n| id(*n)).collect();
            Output::Ids(Ids { own: of(own), all: of(all) })
        };
        lists.add(&[0, 2], ids(&[9, 1], &[1, 5, 9])).unwrap();
        lists.add(&[1], ids(&[3], &[2, 3])).unwrap();
        assert_eq!(lists.output(), ids(&[9, 3, 1], &[1, 2, 3, 5, 9]));
        assert!(Lists::new(1).add(&[0], ids(&[], &[])).is_err());
    }

    fn cost() -> Cost {
        Cost { payload: (5, 6), direction_changes: 7 }
    }

    fn params(query: Query) -> PsiParams {
        let session = SessionId::from_bytes([7; 32]);
        PsiParams::new(session, 4, 2, Learns::Both).unwrap().with_query(query)
    }

    fn keeps(parts: &dyn Parts, query: Query, outputs: &[Output]) {
        let params = params(query);
        let lens: Vec<usize> = outputs
            .iter()
            .map(|output| {
                let bytes = parts.keep(&params, output, cost()).unwrap();
                let read = parts.recall(&params, &bytes);
                assert_eq!(read, Some((output.clone(), cost())));
                assert_eq!(parts.recall(&params, &bytes[1..]), None);
                bytes.len()
            })
            .collect();
        assert!(lens.iter().all(|len| *len == lens[0]), "{lens:?}");
        assert!(parts.keep(&params, &Output::Cardinality(1), cost()).is_err());
    }

    #[test]
    fn what_a_partition_gave_is_kept_in_as_many_bytes_whatever_it_is() {
        let row = vesica_protocols::catalogue().first().unwrap();
        let (of_sum, text_len) = (Values::new(Role::Sender, 32), TextLen::new(3).unwrap());
        let query = Query::Sum(of_sum.unwrap());
        let numbers = Numbers::new(row, Role::Sender, &params(query));
        let [zero, other] = [0, u64::MAX].map(|n| {
            let sums = vec![u128::from(n) << 40; numbers.total.sums.len()];
            Output::Addends(Addends { count: n, sums })
        });
        assert!(!numbers.total.sums.is_empty());
        keeps(&numbers, query, &[zero, other]);

        let listing = |role| Listing::new(row, role, 0);
        let texts = [vec![], b"abc".to_vec(), b"abcdef".to_vec()].map(Output::OnlyTheirs);
        let refused = Output::unless(true, texts[1].clone());
        let all = [texts.to_vec(), vec![refused, Output::Nothing]].concat();
        keeps(&listing(Role::Sender), Query::Union(text_len), &all);
        let ids = |all: &[u8]| {
            let own = vec![id(1), id(2)];
            Output::Ids(Ids { own, all: all.iter().map(|n| id(*n)).collect() })
        };
        let all = [ids(&[1, 2]), ids(&[1, 2, 3, 4, 5, 6])];
        keeps(&listing(Role::Receiver), Query::PrivateId, &all);
        let long = listing(Role::Receiver).keep(
            &params(Query::PrivateId),
            &ids(&[1, 2, 3, 4, 5, 6, 7]),
            cost(),
        );
        assert!(long.is_err());
    }

    #[test]
    fn one_refused_partition_refuses_the_list() {
        let mut lists = Lists::new(0);
        lists.add(&[], Output::unless(true, Output::OnlyTheirs(vec![1]))).unwrap();
        lists.add(&[], Output::OnlyTheirs(vec![2])).unwrap();
        let (output, refused) = lists.output().split();
        assert_eq!(output, Output::OnlyTheirs(vec![1, 2]));
        assert_eq!(refused, Some(Misbehaviour::InvalidValue));
        assert!(Lists::new(0).add(&[], Output::Cardinality(1)).is_err());
        assert_eq!(Lists::new(0).output(), Output::Nothing);
    }
}
