//! What a partition enters into its protocol, and what its output contains.

use crate::metered::{cost_under, run_under};
use vesica_agreement::split::{lens, partition};
use vesica_core::{
    Block, Error, Item, Learns, Misbehaviour, ParameterError, PsiParams, Result, Role, Secret,
};
use vesica_net::Context;
use vesica_own_rows::self_check::CheckedSet;
use vesica_partitions::{Cost, FinishedStep, PartitionOutput, Plan};
use vesica_protocols::{COINS_LEN, Committed, Comparison, Output, Protocol, Steps};

/// The result of a step for one partition.
pub struct Stepped {
    /// The value of each own item, in their order. The next step takes it in place of the item.
    pub own: Vec<Block>,
    /// What else the next step needs.
    pub rest: Rest,
}

/// What a partition needs for its next step, besides the values of own items.
pub struct Rest {
    /// The values of the shared self-check items.
    shared: Vec<Block>,
    coins: Secret<[u8; COINS_LEN]>,
    /// Why the result is refused, if it is.
    refused: Option<Misbehaviour>,
}

impl Stepped {
    /// The step in the form that is stored.
    pub fn to_over(&self, cost: Cost) -> FinishedStep {
        let Rest { shared, coins, refused } = &self.rest;
        let mut rest = coins.expose().to_vec();
        shared.iter().for_each(|value| rest.extend_from_slice(&value.to_le_bytes()));
        FinishedStep { rest, values: self.own.clone(), refused: *refused, cost }
    }

    /// The length of [`FinishedStep::rest`] for a partition with this many shared items.
    pub const fn rest_len(shared: usize) -> usize {
        COINS_LEN + Block::LEN * shared
    }

    /// The step of its stored form; `None` if that does not hold one.
    pub fn of_over(over: FinishedStep) -> Option<(Self, Cost)> {
        let FinishedStep { rest, values, refused, cost } = over;
        let (coins, shared) = rest.split_first_chunk()?;
        let (shared, []) = shared.as_chunks() else { return None };
        let shared = shared.iter().map(|value| Block::from_le_bytes(*value)).collect();
        let rest = Rest { shared, coins: Secret::new(*coins), refused };
        Some((Self { own: values, rest }, cost))
    }
}

/// What a step of a partition gives.
pub enum StepOutcome {
    /// What the next step needs.
    Values(Stepped),
    /// The partition's output: the protocol has no further step.
    Output(PartitionOutput),
}

/// The run of a protocol on one partition.
pub struct PartRun<'a> {
    /// The protocol.
    pub row: &'a Protocol,
    /// The role of this party.
    pub role: Role,
    /// The parameters of the whole sets.
    pub params: &'a PsiParams,
    /// How the sets are split.
    pub plan: Plan,
    /// The label under which bytes are counted.
    pub label: &'a str,
}

const TOO_LONG: Error = Error::Bug("a partition is longer than its bound");

/// What is known of a partition while its protocol runs.
struct Part {
    own_len: usize,
    shared_len: usize,
    /// How many items there are, with padding.
    len: usize,
}

impl PartRun<'_> {
    /// Runs the protocol on partition `index`, with distinct own `items` and the partition's
    /// `shared` self-check items. Returns its output, and the own items again.
    ///
    /// # Errors
    /// The errors of the protocol.
    pub fn run(
        &self,
        ctx: &mut Context,
        index: u64,
        items: Vec<Item>,
        shared: &[Item],
    ) -> Result<(PartitionOutput, Vec<Item>)> {
        let Self { row, role, params, plan, label } = *self;
        let params = partition(plan, params, index, shared.len() as u64)?;
        let [len, _] = lens(role, &params);
        if items.len() + shared.len() > len {
            return Err(TOO_LONG);
        }
        let part = Part { own_len: items.len(), shared_len: shared.len(), len };
        let set = CheckedSet::of_partition(items, shared, len, ctx.rng())
            .ok_or(ParameterError::OutOfMemory)?;
        let party = row.party(role, params, set.input())?;
        let output = run_under(ctx, label, |ctx| party.run(ctx))?;
        Ok((part.given(output), set.into_keys()))
    }

    /// The steps that the protocol runs in all partitions together, if it has such steps.
    pub fn steps(&self) -> Option<Steps> {
        self.row.steps.filter(|_| self.plan.is_split())
    }

    /// Runs the first step of partition `index`, with distinct own `items` and the partition's
    /// `shared` self-check items. Returns the step's result, and the own items again.
    ///
    /// # Errors
    /// The errors of the protocol.
    pub fn commit(
        &self,
        ctx: &mut Context,
        index: u64,
        items: Vec<Item>,
        shared: &[Item],
    ) -> Result<(Stepped, Vec<Item>)> {
        let own_len = items.len();
        let params = partition(self.plan, self.params, index, shared.len() as u64)?;
        let [len, _] = lens(self.role, &params);
        if own_len + shared.len() > len {
            return Err(TOO_LONG);
        }
        let set = CheckedSet::of_partition(items, shared, len, ctx.rng())
            .ok_or(ParameterError::OutOfMemory)?;
        let input = set.input();
        let Committed { mut masks, coins, .. } =
            run_under(ctx, self.label, |ctx| self.row.commit(self.role, &params, input, ctx))?;
        // No party has an item of the padding, so other values can take its place.
        masks.truncate(own_len + shared.len());
        let shared = masks.split_off(own_len);
        let rest = Rest { shared, coins, refused: None };
        Ok((Stepped { own: masks, rest }, set.into_keys()))
    }

    /// Compares partition `index`: `own` has the first step's result for distinct own items, in any
    /// order.
    ///
    /// # Errors
    /// The errors of the protocol.
    pub fn compare(
        &self,
        steps: Steps,
        ctx: &mut Context,
        index: u64,
        Stepped { own, rest }: Stepped,
    ) -> Result<StepOutcome> {
        let Rest { shared, coins, .. } = rest;
        let params = partition(self.plan, self.params, index, shared.len() as u64)?;
        let [len, _] = lens(self.role, &params);
        let part = Part { own_len: own.len(), shared_len: shared.len(), len };
        let mut masks = own;
        masks.extend(shared);
        let shared = part.own_len..part.own_len + part.shared_len;
        let committed = Committed { masks, shared, payloads: None, coins };
        let Comparison { output, mut claims } =
            run_under(ctx, self.label, |ctx| (steps.compare)(self.role, &params, committed, ctx))?;
        let given = part.given(output);
        if params.learns() == Learns::Receiver {
            return Ok(StepOutcome::Output(given));
        }
        let shared = claims.split_off(part.own_len);
        // Only the comparison needed them.
        let coins = Secret::new([0; COINS_LEN]);
        let rest = Rest { shared, coins, refused: given.refused };
        Ok(StepOutcome::Values(Stepped { own: claims, rest }))
    }

    /// Runs the answer step of partition `index`: `own` has the comparison's result for distinct
    /// own items, in any order.
    ///
    /// # Errors
    /// The errors of the protocol.
    pub fn answer(
        &self,
        steps: Steps,
        ctx: &mut Context,
        index: u64,
        Stepped { own, rest }: Stepped,
    ) -> Result<PartitionOutput> {
        let Rest { shared, refused, .. } = rest;
        let params = partition(self.plan, self.params, index, shared.len() as u64)?;
        let (own_len, shared_len) = (own.len(), shared.len());
        let part = Part { own_len, shared_len, len: own_len + shared_len };
        let mut claims = own;
        claims.extend(shared);
        let output =
            run_under(ctx, self.label, |ctx| (steps.answer)(self.role, &params, &claims, ctx))?;
        let given = part.given(output);
        Ok(PartitionOutput { refused: refused.or(given.refused), ..given })
    }

    /// What running a partition in `ctx` cost.
    pub fn cost(&self, ctx: &Context) -> Cost {
        cost_under(ctx, self.label)
    }
}

impl Part {
    /// What `output` says of this partition. The work does not depend on what is common: the peer
    /// sees how soon the next partition starts.
    fn given(&self, output: Output) -> PartitionOutput {
        let (output, refused) = output.split();
        let Output::Positions(positions) = output else {
            return PartitionOutput { own: None, refused };
        };
        let mut common = vec![false; self.len];
        let mut wrong = false;
        for position in positions {
            match common.get_mut(position) {
                Some(common) => wrong |= std::mem::replace(common, true),
                None => wrong = true,
            }
        }
        let (_, others) = common.split_at(self.own_len);
        let (shared, padding) = others.split_at(self.shared_len);
        wrong |= count(shared) != self.shared_len as u64 || count(padding) > 0;
        common.truncate(self.own_len);
        let refused = refused.or(wrong.then_some(Misbehaviour::SelfCheckFailed));
        PartitionOutput { own: Some(common), refused }
    }
}

fn count(common: &[bool]) -> u64 {
    common.iter().filter(|common| **common).count() as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    const PART: Part = Part { own_len: 4, shared_len: 2, len: 9 };

    fn given(positions: &[usize]) -> PartitionOutput {
        PART.given(Output::Positions(positions.to_vec()))
    }

    #[test]
    fn own_items_are_those_that_come_first() {
        let PartitionOutput { own, refused } = given(&[5, 1, 4, 3]);
        assert_eq!((own, refused), (Some(vec![false, true, false, true]), None));
        let nothing = PART.given(Output::Nothing);
        assert_eq!((nothing.own, nothing.refused), (None, None));
    }

    #[test]
    fn impossible_positions_are_refused() {
        for wrong in [&[1][..], &[4], &[4, 5, 6], &[4, 5, 8], &[4, 5, 9], &[4, 5, 5], &[4, 5, 0, 0]]
        {
            assert_eq!(given(wrong).refused, Some(Misbehaviour::SelfCheckFailed), "{wrong:?}");
        }
        assert_eq!(given(&[4, 5]).refused, None);
    }
}
