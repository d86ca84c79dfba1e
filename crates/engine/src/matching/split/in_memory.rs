//! Sets in memory, matched one partition after the other: numbers by their shares, unions and private ids by their lists.

use super::{DAMAGED, Matched, Splitting, cost, counted};
use crate::matching::run_alone;
use std::ops::Range;
use vesica_agreement::split::partition;
use vesica_core::{Error, Item, Misbehaviour, ParameterError, PsiParams, Result, Role};
use vesica_net::Context;
use vesica_partitions::{Cost, Listed, OverAddends, OverLists, Plan};
use vesica_protocols::{Addends, Ids, Input, Output, Party, Protocol};
use vesica_self_check::CheckedSet;

/// What the partitions of a run are, and what becomes of what they give.
trait Parts {
    /// The party of one partition.
    fn party(&self, params: PsiParams, input: Input) -> Result<Box<dyn Party>>;

    /// What is kept of a partition with such `params` that gave `output`.
    fn keep(&self, params: &PsiParams, output: &Output, cost: Cost) -> Result<Vec<u8>>;

    /// What a partition gave of which `bytes` were kept; `None` if they are not of that one.
    fn recall(&self, params: &PsiParams, bytes: &[u8]) -> Option<(Output, Cost)>;

    /// Takes the output of a partition in which the items at these `positions` of the set were.
    fn take(&mut self, positions: &[usize], output: Output) -> Result<()>;
}

/// Items that the party in `role` enters, and those of its peer.
fn lens(role: Role, params: &PsiParams) -> [usize; 2] {
    match role {
        Role::Sender => [params.sender_len(), params.receiver_len()],
        _ => [params.receiver_len(), params.sender_len()],
    }
}

impl Splitting<'_> {
    /// Runs the protocol on each partition of `set`, and opens the total of what they gave; returns the output of the
    /// whole run, and the most changes of direction of a run.
    ///
    /// # Errors
    /// Those of the runs.
    pub(crate) fn run_addends(
        &self,
        ctx: &mut Context,
        set: &CheckedSet,
        matched: Matched<'_>,
        label: &str,
        progress: &(dyn Fn(u64) + Sync),
    ) -> Result<(Output, u64)> {
        let Matched { row, role, params, .. } = matched;
        let mut numbers = Numbers { row, role, total: Addends::zeros(params) };
        let changes = self.each_part((ctx, label), set, matched, progress, &mut numbers)?;
        let opening = row.opening(role, *params, numbers.total)?;
        let (output, of_opening) = run_alone(opening, ctx, label)?;
        Ok((output, changes + of_opening))
    }

    /// Runs the protocol on each partition of `set` and puts the lists together that they gave; returns the output of
    /// the whole run, and the most changes of direction of a run.
    ///
    /// # Errors
    /// Those of the runs.
    pub(crate) fn run_lists(
        &self,
        ctx: &mut Context,
        set: &CheckedSet,
        matched: Matched<'_>,
        label: &str,
        progress: &(dyn Fn(u64) + Sync),
    ) -> Result<(Output, u64)> {
        let Matched { row, role, .. } = matched;
        let mut listing = Listing { row, role, lists: Lists::new(set.len()) };
        let changes = self.each_part((ctx, label), set, matched, progress, &mut listing)?;
        Ok((listing.lists.output(), changes))
    }

    /// Makes a party for each partition of `set`, runs it unless an earlier process did, and lets `parts` take what it
    /// gave. Returns the most changes of direction of a run.
    fn each_part(
        &self,
        (ctx, label): (&mut Context, &str),
        set: &CheckedSet,
        Matched { role, params, plan, .. }: Matched<'_>,
        progress: &(dyn Fn(u64) + Sync),
        parts: &mut dyn Parts,
    ) -> Result<u64> {
        let [shared, mut padding] = set.check_items();
        let own = self.positions_of(plan, set, 0..set.own_len());
        let shared = self.positions_of(plan, set, shared);
        let mut changes = 0;
        for (index, (mut positions, shared)) in (0..).zip(own.into_iter().zip(shared)) {
            progress(index);
            let params = partition(plan, params, index, shared.len() as u64)?;
            let [len, _] = lens(role, &params);
            let own_len = positions.len();
            positions.extend(shared);
            let known = own_len..positions.len();
            let missing = len.checked_sub(positions.len());
            let missing = missing.ok_or(Error::Bug("a partition is longer than its bound"))?;
            positions.extend(padding.by_ref().take(missing));
            if positions.len() != len {
                return Err(Error::Bug("there is too little padding"));
            }
            let entered = || set.part(&positions, known).ok_or(ParameterError::OutOfMemory.into());
            let (output, cost) = self.part((ctx, label), (index, &params), entered, parts)?;
            parts.take(&positions, output)?;
            changes = changes.max(cost.direction_changes);
        }
        progress(plan.partitions());
        Ok(changes)
    }

    /// What the partition `index` gave and took: as an earlier process kept it, or by a run with what is `entered`.
    fn part(
        &self,
        (ctx, label): (&mut Context, &str),
        (index, params): (u64, &PsiParams),
        entered: impl FnOnce() -> Result<Input>,
        parts: &dyn Parts,
    ) -> Result<(Output, Cost)> {
        let meter = ctx.meter().clone();
        // Also for a partition that does not run: the following ones have the same streams and randomness as before.
        let (mut own, opened) = ctx.fork_apart()?;
        if let Some(kept) = self.session.kept_part(index)? {
            let (output, cost) = parts.recall(params, &kept).ok_or(DAMAGED)?;
            meter.add(&[counted(&cost, label)]);
            return Ok((output, cost));
        }
        let party = parts.party(*params, entered()?)?;
        let output = own.child(label, |ctx| {
            let output = party.run(ctx)?;
            ctx.finish()?;
            Ok::<_, Error>(output)
        })?;
        let cost = cost(&own, label);
        meter.add(&own.meter().report());
        // Where a run is not gone on with later, lists need not be in memory twice.
        if self.session.seed().is_some() {
            let kept = parts.keep(params, &output, cost)?;
            self.session.keep_part(index, &opened.ids(), &kept)?;
        }
        Ok((output, cost))
    }

    /// Of the items of `set` in `range`, the positions of those in each partition.
    fn positions_of(&self, plan: Plan, set: &CheckedSet, range: Range<usize>) -> Vec<Vec<usize>> {
        let (mut of, mut prefixes) = (vec![Vec::new(); plan.partitions() as usize], Vec::new());
        self.splitter.prefixes(&set.items()[range.clone()], &mut prefixes);
        for (position, prefix) in range.zip(prefixes) {
            of[plan.partition_of(prefix) as usize].push(position);
        }
        of
    }
}

/// A number, by this party's shares of each partition.
struct Numbers<'a> {
    row: &'a Protocol,
    role: Role,
    /// Of the partitions so far.
    total: Addends,
}

impl Parts for Numbers<'_> {
    fn party(&self, params: PsiParams, input: Input) -> Result<Box<dyn Party>> {
        self.row.part(self.role, params, input)
    }

    fn keep(&self, _: &PsiParams, output: &Output, cost: Cost) -> Result<Vec<u8>> {
        let Addends { count, sums } = output.clone().into_addends()?;
        Ok(OverAddends { count, sums, cost }.to_bytes())
    }

    fn recall(&self, _: &PsiParams, bytes: &[u8]) -> Option<(Output, Cost)> {
        let OverAddends { count, sums, cost } =
            OverAddends::from_bytes(bytes, self.total.sums.len())?;
        Some((Output::Addends(Addends { count, sums }), cost))
    }

    fn take(&mut self, _: &[usize], output: Output) -> Result<()> {
        self.total.add(&output.into_addends()?)
    }
}

/// A union or private ids, by the list of each partition.
struct Listing<'a> {
    row: &'a Protocol,
    role: Role,
    lists: Lists,
}

impl Listing<'_> {
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
        let (said, refused) = output.clone().split();
        let said = match said {
            Output::Nothing => Listed::Nothing,
            Output::OnlyTheirs(texts) => Listed::Texts(texts),
            Output::Ids(Ids { own, all }) => Listed::Ids { own, all },
            _ => return Err(NO_LIST),
        };
        let kept = OverLists { said, refused, cost }.to_bytes(self.most(params));
        kept.ok_or(Error::Bug("the list of a partition is longer than the union"))
    }

    fn recall(&self, params: &PsiParams, bytes: &[u8]) -> Option<(Output, Cost)> {
        let [own_len, _] = lens(self.role, params);
        let OverLists { said, refused, cost } =
            OverLists::from_bytes(bytes, own_len, self.most(params))?;
        let said = match said {
            Listed::Nothing => Output::Nothing,
            Listed::Texts(texts) => Output::OnlyTheirs(texts),
            Listed::Ids { own, all } => Output::Ids(Ids { own, all }),
        };
        Some((said_or_refused(said, refused), cost))
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
        let (said, refused) = output.split();
        self.refused = self.refused.or(refused);
        match said {
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
        let said = match (self.texts, self.ids) {
            (Some(texts), _) => Output::OnlyTheirs(texts),
            (None, Some(mut ids)) => {
                ids.all.sort_unstable();
                Output::Ids(ids)
            }
            (None, None) => Output::Nothing,
        };
        said_or_refused(said, self.refused)
    }
}

fn said_or_refused(said: Output, refused: Option<Misbehaviour>) -> Output {
    match refused {
        Some(why) => Output::Refused { said: Box::new(said), why },
        None => said,
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
        let total = Addends::zeros(&params(query));
        let [zero, other] = [0, u64::MAX].map(|n| {
            let sums = vec![u128::from(n) << 40; total.sums.len()];
            Output::Addends(Addends { count: n, sums })
        });
        assert!(!total.sums.is_empty());
        keeps(&Numbers { row, role: Role::Sender, total }, query, &[zero, other]);

        let listing = |role| Listing { row, role, lists: Lists::new(0) };
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
        let (said, refused) = lists.output().split();
        assert_eq!(said, Output::OnlyTheirs(vec![1, 2]));
        assert_eq!(refused, Some(Misbehaviour::InvalidValue));
        assert!(Lists::new(0).add(&[], Output::Cardinality(1)).is_err());
        assert_eq!(Lists::new(0).output(), Output::Nothing);
    }
}
