//! What a partition enters into its protocol, and what the output says of it.

use vesica_agreement::split::{lens, partition};
use vesica_core::{Error, Item, Misbehaviour, ParameterError, PsiParams, Result, Role};
use vesica_net::Context;
use vesica_partitions::{Cost, Given, Plan};
use vesica_protocols::{Output, Protocol};
use vesica_self_check::CheckedSet;

/// The run of a protocol on one partition.
pub struct PartRun<'a> {
    /// The protocol.
    pub row: &'a Protocol,
    /// This party's.
    pub role: Role,
    /// Of the whole sets.
    pub params: &'a PsiParams,
    /// How they are split.
    pub plan: Plan,
    /// The label under which bytes are counted.
    pub label: &'a str,
}

/// What is known of a partition while its protocol runs.
struct Part {
    own_len: usize,
    shared_len: usize,
    /// Items in all, with padding.
    len: usize,
}

impl PartRun<'_> {
    /// Runs the protocol on partition `index`, with distinct own `items` and the `shared` self-check items there. Returns
    /// what it gave, and what it entered: own items first.
    ///
    /// # Errors
    /// Those of the protocol.
    pub fn run(
        &self,
        ctx: &mut Context,
        index: u64,
        items: Vec<Item>,
        shared: &[Item],
    ) -> Result<(Given, CheckedSet)> {
        let Self { row, role, params, plan, label } = *self;
        let params = partition(plan, params, index, shared.len() as u64)?;
        let [len, _] = lens(role, &params);
        if items.len() + shared.len() > len {
            return Err(Error::Bug("a partition is longer than its bound"));
        }
        let part = Part { own_len: items.len(), shared_len: shared.len(), len };
        let set = CheckedSet::of_partition(items, shared, len, ctx.rng());
        let set = set.ok_or(ParameterError::OutOfMemory)?;
        let party = row.party(role, params, set.input())?;
        let output = ctx.child(label, |ctx| {
            let output = party.run(ctx)?;
            ctx.finish()?;
            Ok::<_, Error>(output)
        })?;
        Ok((part.given(output), set))
    }

    /// What the run of a partition in `ctx` took.
    pub fn cost(&self, ctx: &Context) -> Cost {
        let payload = ctx.meter().bytes_under(self.label);
        Cost { payload, direction_changes: ctx.direction_changes() }
    }
}

impl Part {
    /// What `output` says of this partition. The work is the same whatever was found: the peer sees how soon the next
    /// partition begins.
    fn given(&self, output: Output) -> Given {
        let (said, refused) = output.split();
        let Output::Positions(positions) = said else { return Given { own: None, refused } };
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
        Given { own: Some(common), refused }
    }
}

fn count(common: &[bool]) -> u64 {
    common.iter().filter(|common| **common).count() as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    const PART: Part = Part { own_len: 4, shared_len: 2, len: 9 };

    fn given(positions: &[usize]) -> Given {
        PART.given(Output::Positions(positions.to_vec()))
    }

    #[test]
    fn own_items_are_those_that_come_first() {
        let Given { own, refused } = given(&[5, 1, 4, 3]);
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
