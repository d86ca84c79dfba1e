//! Sets in memory, matched one partition after the other: numbers by their shares, unions and private ids by their lists.

use super::{Matched, Splitting};
use crate::matching::run_alone;
use std::ops::Range;
use vesica_agreement::split::partition;
use vesica_core::{Error, Misbehaviour, ParameterError, PsiParams, Result, Role};
use vesica_net::Context;
use vesica_partitions::Plan;
use vesica_protocols::{Addends, Ids, Input, Output, Party};
use vesica_self_check::CheckedSet;

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
        let mut total = Addends::zeros(params);
        let party = |params, input| row.part(role, params, input);
        let mut take = |_: &[usize], output: Output| total.add(&output.into_addends()?);
        let changes = self.each_part((ctx, label), set, matched, progress, &party, &mut take)?;
        let (output, of_opening) = run_alone(row.opening(role, *params, total)?, ctx, label)?;
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
        let mut lists = Lists::new(set.len());
        let party = |params, input| row.party(role, params, input);
        let mut take = |positions: &[usize], output| lists.add(positions, output);
        let changes = self.each_part((ctx, label), set, matched, progress, &party, &mut take)?;
        Ok((lists.output(), changes))
    }

    /// Makes a `party` for each partition of `set`, runs it, and lets `take` have the positions in `set` of what it
    /// entered, and its output. Returns the most changes of direction of a run.
    fn each_part(
        &self,
        (ctx, label): (&mut Context, &str),
        set: &CheckedSet,
        Matched { role, params, plan, .. }: Matched<'_>,
        progress: &(dyn Fn(u64) + Sync),
        party: &dyn Fn(PsiParams, Input) -> Result<Box<dyn Party>>,
        take: &mut dyn FnMut(&[usize], Output) -> Result<()>,
    ) -> Result<u64> {
        let [shared, mut padding] = set.check_items();
        let own = self.positions_of(plan, set, 0..set.own_len());
        let shared = self.positions_of(plan, set, shared);
        let mut changes = 0;
        for (index, (mut positions, shared)) in (0..).zip(own.into_iter().zip(shared)) {
            progress(index);
            let params = partition(plan, params, index, shared.len() as u64)?;
            let len = match role {
                Role::Sender => params.sender_len(),
                _ => params.receiver_len(),
            };
            let own_len = positions.len();
            positions.extend(shared);
            let known = own_len..positions.len();
            let missing = len.checked_sub(positions.len());
            let missing = missing.ok_or(Error::Bug("a partition is longer than its bound"))?;
            positions.extend(padding.by_ref().take(missing));
            if positions.len() != len {
                return Err(Error::Bug("there is too little padding"));
            }
            let input = set.part(&positions, known).ok_or(ParameterError::OutOfMemory)?;
            let (output, of_part) = run_alone(party(params, input)?, ctx, label)?;
            take(&positions, output)?;
            changes = changes.max(of_part);
        }
        progress(plan.partitions());
        Ok(changes)
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
            _ => return Err(Error::Bug("a partition gave no list")),
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
        match self.refused {
            Some(why) => Output::Refused { said: Box::new(said), why },
            None => said,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
