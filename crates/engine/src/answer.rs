//! What a run answered, checked and without self-check items.

use crate::agreement::{Agreement, Question};
use crate::self_check::CheckedSet;
use vesica_core::{Error, Item, Learns, Misbehaviour, Result};
use vesica_protocols::Output;

/// What a side learned.
pub(crate) enum Answer {
    /// Which of its own keys are common.
    Items(Vec<Item>),
    /// How many keys are common.
    Count(u64),
    /// Whether they are as many as the agreement asks for.
    AtLeast(bool),
    /// What their values add up to.
    Sum(u128),
    /// Only that the number of common keys is outside the bounds.
    OutsideBounds,
}

/// A protocol's output that has passed the self-check.
pub(crate) struct Checked(Output);

/// What of an answer the closing messages compare.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Told {
    /// Nothing: not both sides have an answer.
    Nothing,
    /// The answer as a number.
    Number(u128),
    /// That there is none.
    OutsideBounds,
}

/// Checks the `output` of a run in which the smaller set has at most `most` keys.
///
/// # Errors
/// [`Misbehaviour::SelfCheckFailed`] for a result that cannot be; [`Error::Bug`] for one that was
/// not asked for.
pub(crate) fn check(
    output: Output,
    set: &CheckedSet,
    agreement: &Agreement,
    learns: bool,
    most: u64,
) -> Result<Checked> {
    let bounds = agreement.bounds;
    let require = |possible: bool| match possible {
        true => Ok(()),
        false => Err(Error::PeerMisbehaved(Misbehaviour::SelfCheckFailed)),
    };
    let possible = |count: u64| require(count <= most && bounds.contain(count));
    let output = match (&agreement.question, output) {
        (_, Output::OutsideBounds) => {
            require(!bounds.contain(0) || !bounds.contain(most))?;
            Output::OutsideBounds
        }
        (_, Output::Nothing) if !learns => Output::Nothing,
        _ if !learns => return Err(Error::Bug("a party learned what was not for it")),
        (Question::Intersection, Output::Positions(positions)) => {
            possible(set.check(&positions)?)?;
            Output::Positions(positions)
        }
        (Question::Cardinality, Output::Cardinality(count)) => {
            let count = count.checked_sub(agreement.self_check.into());
            let count = count.ok_or(Misbehaviour::SelfCheckFailed)?;
            possible(count)?;
            Output::Cardinality(count)
        }
        // One bit says nothing of canaries, unless the sets are too small for a yes.
        (Question::Threshold { min }, Output::AtLeast(yes)) => {
            require(!yes || *min <= most)?;
            Output::AtLeast(yes)
        }
        (Question::Sum(terms), Output::Sum(sum)) => {
            let sum = agreement.checked_values().of_keys(sum);
            let sum = sum.ok_or(Misbehaviour::SelfCheckFailed)?;
            require(sum <= u128::from(most) * ((1 << terms.bits) - 1))?;
            require(set.total().is_none_or(|total| sum <= total))?;
            Output::Sum(sum)
        }
        _ => return Err(Error::Bug("a party learned something else than was asked")),
    };
    Ok(Checked(output))
}

impl Checked {
    /// What the sides compare of it.
    pub(crate) fn told(&self, set: &CheckedSet, learns: Learns) -> Told {
        match (learns, &self.0) {
            (_, Output::OutsideBounds) => Told::OutsideBounds,
            (Learns::Receiver, _) => Told::Nothing,
            (_, Output::Positions(positions)) => Told::Number(set.count_own(positions).into()),
            (_, Output::Cardinality(count)) => Told::Number((*count).into()),
            (_, Output::AtLeast(yes)) => Told::Number((*yes).into()),
            (_, Output::Sum(sum)) => Told::Number(*sum),
            _ => Told::Nothing,
        }
    }

    /// The answer; `None` when this side has none.
    pub(crate) fn answer(self, set: &CheckedSet) -> Option<Answer> {
        match self.0 {
            Output::Positions(positions) => Some(Answer::Items(set.own_items(&positions))),
            Output::Cardinality(count) => Some(Answer::Count(count)),
            Output::AtLeast(yes) => Some(Answer::AtLeast(yes)),
            Output::Sum(sum) => Some(Answer::Sum(sum)),
            Output::OutsideBounds => Some(Answer::OutsideBounds),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::SeedableRng;
    use rand::rngs::StdRng;
    use vesica_link::PublicIdentity;

    const CANARIES: u64 = 8;

    fn agreement(head: &str, tables: &str) -> Agreement {
        let identity = |byte| PublicIdentity::from_bytes([byte; 32]);
        let text = format!(
            "version = 1\ntitle = \"test\"\nreceives = \"one\"\nsecurity = \"semi-honest\"\n\
             self_check = {CANARIES}\n{head}\n{tables}\n[[key]]\nname = \"k\"\nprofile = \"exact\"\n\
             [party.one]\nidentity = \"{}\"\nmax_rows = 100\n\
             [party.two]\nidentity = \"{}\"\nmax_rows = 100\n",
            identity(1),
            identity(2)
        );
        Agreement::parse(&text).unwrap()
    }

    fn set() -> CheckedSet {
        let items = (0..5).map(|i| Item::from_bytes([i; 16])).collect();
        let rng = &mut StdRng::seed_from_u64(1);
        CheckedSet::new(items, CANARIES as usize, 0, &[7; 32], rng).unwrap()
    }

    /// Whether `output` passes where the smaller set has five keys, and what is told of it.
    fn told(agreement: &Agreement, set: &CheckedSet, output: Output) -> Option<Told> {
        match check(output, set, agreement, true, 5) {
            Ok(checked) => Some(checked.told(set, Learns::Both)),
            Err(Error::PeerMisbehaved(Misbehaviour::SelfCheckFailed)) => None,
            Err(error) => panic!("{error}"),
        }
    }

    #[test]
    fn a_count_has_its_canaries_taken_off_and_is_possible() {
        let plain = agreement("operation = \"cardinality\"", "");
        let bounded = "operation = \"cardinality\"\nmin_matches = 2\nmax_matches = 4";
        let bounded = agreement(bounded, "");
        let of = |agreement, count| told(agreement, &set(), Output::Cardinality(count));
        assert_eq!(of(&plain, CANARIES), Some(Told::Number(0)));
        assert_eq!(of(&plain, CANARIES + 5), Some(Told::Number(5)));
        assert_eq!(of(&plain, CANARIES - 1), None, "a canary is lost");
        assert_eq!(of(&plain, CANARIES + 6), None, "more than the smaller set has");
        assert_eq!(of(&bounded, CANARIES + 2), Some(Told::Number(2)));
        assert_eq!(of(&bounded, CANARIES + 1), None, "outside, and not said so");
        assert_eq!(of(&bounded, CANARIES + 5), None, "outside, and not said so");
    }

    #[test]
    fn no_answer_is_told_to_both_and_only_where_it_can_be() {
        let bounds =
            |bounds: &str| agreement(&format!("operation = \"cardinality\"\n{bounds}"), "");
        let outside = |agreement| told(&agreement, &set(), Output::OutsideBounds);
        assert_eq!(outside(bounds("min_matches = 1")), Some(Told::OutsideBounds));
        assert_eq!(outside(bounds("max_matches = 4")), Some(Told::OutsideBounds));
        assert_eq!(outside(bounds("max_matches = 5")), None, "no count is outside");
        assert_eq!(outside(bounds("")), None);
        // The sender, who learns nothing else, tells it too.
        let bounded = bounds("min_matches = 1");
        let checked = check(Output::OutsideBounds, &set(), &bounded, false, 5).unwrap();
        assert_eq!(checked.told(&set(), Learns::Receiver), Told::OutsideBounds);
        let checked = check(Output::Nothing, &set(), &bounded, false, 5).unwrap();
        assert_eq!(checked.told(&set(), Learns::Receiver), Told::Nothing);
    }

    #[test]
    fn a_yes_needs_sets_that_are_large_enough() {
        let of = |min: u64, yes| {
            let head = format!("operation = \"threshold\"\nthreshold = {min}");
            told(&agreement(&head, ""), &set(), Output::AtLeast(yes))
        };
        assert_eq!(of(5, true), Some(Told::Number(1)));
        assert_eq!(of(6, true), None);
        assert_eq!(of(6, false), Some(Told::Number(0)));
    }

    #[test]
    fn a_sum_counts_every_canary_and_stays_below_what_there_is() {
        let table = "[sum]\nof = \"one\"\ncolumn = \"v\"\nbits = 4\n";
        let agreement = agreement("operation = \"sum\"", table);
        let values = agreement.checked_values();
        let holder = set().with_values(vec![1, 2, 3, 4, 5], values).unwrap();
        let raw = |keys: u64| u128::from(values.of_key(keys)) + u128::from(CANARIES);
        let of = |set: &CheckedSet, sum| told(&agreement, set, Output::Sum(sum));
        assert_eq!(of(&holder, raw(15)), Some(Told::Number(15)));
        assert_eq!(of(&holder, raw(16)), None, "more than all own values");
        assert_eq!(of(&set(), raw(75)), Some(Told::Number(75)));
        assert_eq!(of(&set(), raw(76)), None, "more than five values of four bits");
        assert_eq!(of(&set(), raw(10) - 1), None, "a canary is lost");
        assert_eq!(of(&set(), raw(10) + u128::from(values.of_own())), None, "one is invented");
    }

    #[test]
    fn another_answer_than_was_asked_for_is_our_defect() {
        let agreement = agreement("operation = \"cardinality\"", "");
        for (output, learns) in [
            (Output::AtLeast(true), true),
            (Output::Nothing, true),
            (Output::Cardinality(9), false),
        ] {
            let error = check(output, &set(), &agreement, learns, 5).err();
            assert!(matches!(error, Some(Error::Bug(_))), "{error:?}");
        }
    }
}
