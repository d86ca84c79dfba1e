//! Checks that an output is possible, and removes its self-check items, after the last message.

use super::asked::{Asked, OwnRows, require};
use super::{ids, partner, union};
use crate::output::{ColumnSum, KeyRows, NamedAnswer, RowSet, RunResult, SharesOrder};
use vesica_agreement::{Computation, Question};
use vesica_core::{Error, Item, Misbehaviour, Result, Role};
use vesica_expressions::Answer;
use vesica_own_rows::RowEntries;
use vesica_own_rows::self_check::{CheckedSet, texts};
use vesica_protocols::{Order, Output, Shares};
use vesica_records::KeyTexts;
use vesica_share_files::SharesFile;

/// The output of the job, from the `output` of the protocol.
///
/// # Errors
/// As [`Unchecked::answer`](super::Unchecked::answer).
pub(super) fn answer(
    output: Output,
    their_check_items: &[[u8; Item::LEN]],
    set: &CheckedSet,
    asked: &Asked<'_>,
    own: OwnRows,
) -> Result<RunResult> {
    let agreement = asked.agreement;
    let bounds = agreement.bounds;
    let most = asked.most();
    let possible = |count: u64| require(count <= most && bounds.contain(count));
    let without_check_items = |count: u64| {
        let count =
            count.checked_sub(agreement.self_check.into()).ok_or(Misbehaviour::SelfCheckFailed)?;
        possible(count).map(|()| count)
    };
    let key_rows = |own: OwnRows| own.keys.ok_or(Error::Bug("the rows of keys were not read"));
    let shares = |given: Shares, own| {
        let is_of_entries = !matches!(agreement.question, Question::Shares(_));
        let file = SharesFile::new(agreement, asked.role, &asked.session, &given);
        let own = match given.order {
            Order::Items(_) => key_rows(own)?,
            _ => KeyRows::default(),
        };
        let order = SharesOrder::new(given.order, own, set.own_len(), is_of_entries);
        Ok::<_, Error>(RunResult::Shares { file, order })
    };
    Ok(match (&agreement.question, output) {
        (_, Output::OutsideBounds) => outside_bounds(asked)?,
        (_, Output::Nothing) if !asked.learns => RunResult::Nothing,
        _ if !asked.learns => {
            return Err(Error::Bug("a party learned an answer that it must not receive"));
        }
        (Question::Intersection, Output::Positions(positions)) => {
            possible(set.check(&positions)?)?;
            let (rows, matched) = (own.items, set.own_items(&positions));
            let words = vesica_own_rows::bits(&rows, &matched);
            let (count, keys) = (rows.len() as u64, matched.len() as u64);
            RunResult::Rows(RowSet::of_entries(words, count, &RowEntries::of(agreement), keys))
        }
        (Question::Intersection, Output::Payloads { positions, payloads }) => {
            possible(set.check(&positions)?)?;
            RunResult::Rows(partner::rows(set, &positions, payloads, asked, own.items)?)
        }
        (Question::Cardinality, Output::Cardinality(count)) => {
            RunResult::Cardinality(without_check_items(count)?)
        }
        // One bit reveals nothing about self-check items, unless the sets are too small for a yes.
        (Question::Threshold { min }, Output::AtLeast(yes)) => {
            require(!yes || *min <= most)?;
            RunResult::Threshold { min: *min, reached: yes }
        }
        (Question::Sum(_), Output::Sum(sum)) => {
            let sum = i128::try_from(sum).map_err(|_| Misbehaviour::SelfCheckFailed)?;
            RunResult::Sums { keys: None, columns: sums(&[sum], set, asked, most)? }
        }
        (
            Question::Sum(_) | Question::InnerProduct { .. },
            Output::CountedSums { count, sums: given },
        ) => {
            let count = without_check_items(count)?;
            RunResult::Sums { keys: Some(count), columns: sums(&given, set, asked, count)? }
        }
        (Question::Union { .. }, Output::OnlyTheirs(texts)) => {
            RunResult::Union(union::joined(set, &only_theirs(&texts, asked)?, key_rows(own)?)?)
        }
        (Question::PrivateId, Output::Ids(given)) => {
            let ids = ids::checked(&given, their_check_items, set, asked)?;
            RunResult::Ids(ids::named(ids, set, key_rows(own)?))
        }
        (Question::Shares(values), Output::Shares(given)) => {
            possible(given.len as u64)?;
            let columns = values.as_ref().map_or(0, |values| values.columns.len());
            require(given.items.len() == given.len)?;
            require(given.values.len() == columns * given.len)?;
            shares(given, own)?
        }
        (Question::SharedValues { values, .. }, Output::Shares(given)) => {
            let sender_len = if asked.role == Role::Sender { asked.here } else { asked.there };
            require(given.len as u64 == sender_len && given.items.is_empty())?;
            require(given.values.len() == values.columns.len() * given.len)?;
            shares(given, own)?
        }
        _ => return Err(Error::Bug("the output is of another kind than the question")),
    })
}

/// The output of a job whose `answers` were computed on the shares in `output`.
///
/// # Errors
/// As [`Unchecked::answer`](super::Unchecked::answer).
pub(super) fn computed(
    output: Output,
    answers: Option<Vec<Answer>>,
    computation: &Computation,
    asked: &Asked<'_>,
) -> Result<RunResult> {
    let given = match output {
        Output::OutsideBounds => return outside_bounds(asked),
        Output::Shares(given) => given,
        _ => return Err(Error::Bug("the output is of another kind than the question")),
    };
    let keys = given.len as u64;
    require(keys <= asked.most() && asked.agreement.bounds.contain(keys))?;
    let names = computation.expression.names();
    match answers {
        None if !asked.learns => Ok(RunResult::Nothing),
        Some(answers) if asked.learns && answers.len() == names.len() => {
            let named = names.into_iter().zip(answers);
            let answers = named.map(|(name, answer)| NamedAnswer { name, answer }).collect();
            Ok(RunResult::Answers { keys, answers })
        }
        _ => Err(Error::Bug("answers for another party, or to another question")),
    }
}

/// No answer, if that is possible.
fn outside_bounds(asked: &Asked<'_>) -> Result<RunResult> {
    let bounds = asked.agreement.bounds;
    require(!bounds.contain(0) || !bounds.contain(asked.most()))?;
    Ok(RunResult::OutsideBounds)
}

/// The keys in the texts `given` of a union that only the peer has.
///
/// # Errors
/// Errors of [`texts::keys_of`]; [`Misbehaviour::SelfCheckFailed`] for more keys than the peer can
/// bring.
fn only_theirs(given: &[u8], asked: &Asked<'_>) -> Result<KeyTexts> {
    let agreement = asked.agreement;
    let len = agreement.text_len().ok_or(Error::Bug("a union has no texts"))?;
    let peer = asked.role.other().ok_or(Error::Bug("a party of two has no peer"))?;
    let profiles: Vec<_> = agreement.keys.iter().map(|key| key.profile).collect();
    let others =
        texts::Others { check_items: asked.their_check_items(), are_padded: agreement.hide_sizes };
    if !given.len().is_multiple_of(len) {
        return Err(Misbehaviour::InvalidValue.into());
    }
    let keys = texts::keys_of(given, len, peer, &profiles, others)?;
    require(keys.len() as u64 <= asked.most_theirs())?;
    Ok(keys)
}

/// The keys' part of the sums `given`, of at most `most` keys.
fn sums(given: &[i128], set: &CheckedSet, asked: &Asked<'_>, most: u64) -> Result<Vec<ColumnSum>> {
    let agreement = asked.agreement;
    let checked = agreement.checked_values().ok_or(Error::Bug("a sum has no values"))?;
    let sums = checked.of_sums(given).ok_or(Misbehaviour::SelfCheckFailed)?;
    let (least, largest) = checked.range();
    // For any factor of the other side.
    let factor = agreement.question.factors().map_or(1, |terms| (1_i128 << terms.bits) - 1);
    let times = |value: i128, count: i128| value.saturating_mul(factor).saturating_mul(count);
    let most = i128::from(most);
    require(sums.iter().all(|sum| (times(least, most)..=times(largest, most)).contains(sum)))?;
    let reach = set.reach().unwrap_or_default();
    match (agreement.question.factors(), reach) {
        // This side multiplied the other's values by its own, whose sum it knows.
        (Some(_), [(_, total)]) if asked.role == Role::Receiver => {
            require(sums.iter().all(|sum| {
                (least.saturating_mul(*total)..=largest.saturating_mul(*total)).contains(sum)
            }))?
        }
        _ => require(
            sums.iter()
                .zip(reach)
                .all(|(sum, (least, most))| (times(*least, 1)..=times(*most, 1)).contains(sum)),
        )?,
    }
    let names = agreement.question.sum_names();
    let named = |(column, sum)| ColumnSum { column, sum };
    Ok(names.into_iter().zip(sums).map(named).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::answer::{Told, Unchecked};
    use rand::SeedableRng;
    use rand::rngs::StdRng;
    use vesica_agreement::Agreement;
    use vesica_core::SessionId;
    use vesica_link::PublicIdentity;
    use vesica_own_rows::self_check::Additions;

    const CHECK_ITEMS: u64 = 8;
    const SESSION: SessionId = SessionId::from_bytes([0; 32]);

    fn agreement(head: &str, tables: &str) -> Agreement {
        agreement_for("one", head, tables)
    }

    fn agreement_for(receives: &str, head: &str, tables: &str) -> Agreement {
        let identity = |byte| PublicIdentity::from_bytes([byte; 32]);
        let text = format!(
            "version = 2\ntitle = \"test\"\nreceives = \"{receives}\"\nsecurity = \"semi-honest\"\n\
             self_check = {CHECK_ITEMS}\n{head}\n{tables}\n[[key]]\nname = \"k\"\nprofile = \
             \"exact\"\n\
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
        let check_items = CHECK_ITEMS as usize;
        let additions = Additions { shared: check_items, own: check_items, padded_len: 0 };
        CheckedSet::with_check_items(items, additions, &[7; 32], rng).unwrap()
    }

    fn asked(agreement: &Agreement, learns: bool) -> Asked<'_> {
        let entered = [5 + 2 * CHECK_ITEMS; 2];
        let (role, session) = (Role::Receiver, SESSION);
        Asked { agreement, position: 0, learns, here: 5, there: 5, entered, role, session }
    }

    fn own() -> OwnRows {
        OwnRows { items: Vec::new(), keys: Some(KeyRows::default()) }
    }

    fn check(output: Output, set: &CheckedSet, asked: &Asked<'_>) -> Result<RunResult> {
        Unchecked::new(output).answer(set, asked, own())
    }

    /// Whether `output` passes if the smaller set has five keys, and what the closing message
    /// reveals.
    fn told(agreement: &Agreement, set: &CheckedSet, output: Output) -> Option<Told> {
        let unchecked = Unchecked::new(output);
        let told = unchecked.told(set, agreement);
        match unchecked.answer(set, &asked(agreement, true), own()) {
            Ok(_) => Some(told),
            Err(Error::PeerMisbehaved(Misbehaviour::SelfCheckFailed)) => None,
            Err(error) => panic!("{error}"),
        }
    }

    #[test]
    fn a_count_has_its_check_items_taken_off_and_is_possible() {
        let plain = agreement_for("all", "operation = \"cardinality\"", "");
        let bounded = "operation = \"cardinality\"\nmin_matches = 2\nmax_matches = 4";
        let bounded = agreement_for("all", bounded, "");
        let of = |agreement, count| told(agreement, &set(), Output::Cardinality(count));
        assert_eq!(of(&plain, CHECK_ITEMS), Some(Told::Number(0)));
        assert_eq!(of(&plain, CHECK_ITEMS + 5), Some(Told::Number(5)));
        assert_eq!(of(&plain, CHECK_ITEMS - 1), None, "a self-check item is lost");
        assert_eq!(of(&plain, CHECK_ITEMS + 6), None, "more than the smaller set has");
        assert_eq!(of(&bounded, CHECK_ITEMS + 2), Some(Told::Number(2)));
        assert_eq!(of(&bounded, CHECK_ITEMS + 1), None, "outside, and not said so");
        assert_eq!(of(&bounded, CHECK_ITEMS + 5), None, "outside, and not said so");
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
        // The sender learns nothing else, and also reports that the count is outside the bounds.
        let bounded = bounds("min_matches = 1");
        for (output, expected) in
            [(Output::OutsideBounds, Told::OutsideBounds), (Output::Nothing, Told::Nothing)]
        {
            let unchecked = Unchecked::new(output);
            assert_eq!(unchecked.told(&set(), &bounded), expected);
            assert!(unchecked.answer(&set(), &asked(&bounded, false), own()).is_ok());
        }
    }

    #[test]
    fn a_yes_needs_sets_that_are_large_enough() {
        let of = |min: u64, yes| {
            let head = format!("operation = \"threshold\"\nthreshold = {min}");
            told(&agreement_for("all", &head, ""), &set(), Output::AtLeast(yes))
        };
        assert_eq!(of(5, true), Some(Told::Number(1)));
        assert_eq!(of(6, true), None);
        assert_eq!(of(6, false), Some(Told::Number(0)));
    }

    fn sum_of(agreement: &Agreement, set: &CheckedSet, output: Output) -> Option<Vec<i128>> {
        match check(output, set, &asked(agreement, true)).ok()? {
            RunResult::Sums { columns, .. } => Some(columns.iter().map(|one| one.sum).collect()),
            _ => panic!("no sum"),
        }
    }

    #[test]
    fn a_sum_counts_every_check_item_and_stays_below_what_there_is() {
        let table = "[sum]\nof = \"one\"\ncolumn = \"v\"\nbits = 4\n";
        let agreement = agreement("operation = \"sum\"", table);
        let holder =
            set().with_values(vec![1, 2, 3, 4, 5], agreement.checked_values().unwrap()).unwrap();
        let check_items = u128::from(CHECK_ITEMS);
        let raw = |keys: u128| (keys << 8) + check_items;
        let of = |set: &CheckedSet, sum| sum_of(&agreement, set, Output::Sum(sum));
        assert_eq!(of(&holder, raw(15)), Some(vec![15]));
        assert_eq!(of(&holder, raw(16)), None, "more than all own values");
        assert_eq!(of(&set(), raw(75)), Some(vec![75]));
        assert_eq!(of(&set(), raw(76)), None, "more than five values of four bits");
        assert_eq!(of(&set(), raw(10) - 1), None, "a self-check item is lost");
        assert_eq!(of(&set(), raw(10) + check_items + 1), None, "one is invented");
        let counted = |count, sum| {
            let sums = vec![raw(sum) as i128];
            sum_of(&agreement, &set(), Output::CountedSums { count, sums })
        };
        assert_eq!(counted(CHECK_ITEMS + 2, 30), Some(vec![30]));
        assert_eq!(counted(CHECK_ITEMS + 2, 31), None, "more than two values of four bits");
        assert_eq!(counted(CHECK_ITEMS - 1, 0), None, "a self-check item is lost");
    }

    #[test]
    fn sums_of_several_columns_count_their_check_items_in_one_of_their_own() {
        let table = "[sum]\nof = \"two\"\ncolumns = [\"v\", \"w\"]\nbits = 4\nsigned = true\n";
        let check_items = i128::from(CHECK_ITEMS);
        let agreement = agreement("operation = \"sum\"", table);
        let of = |count, sums: [i128; 3]| {
            let sums = sums.to_vec();
            sum_of(&agreement, &set(), Output::CountedSums { count: CHECK_ITEMS + count, sums })
        };
        assert_eq!(of(3, [-24, 21, check_items]), Some(vec![-24, 21]));
        assert_eq!(of(3, [-25, 21, check_items]), None);
        assert_eq!(of(3, [0, 22, check_items]), None);
        assert_eq!(of(3, [0, 0, check_items - 1]), None);
        assert_eq!(of(3, [0, 0, check_items + CHECK_ITEMS as i128 + 1]), None);
        assert_eq!(of(6, [0, 0, check_items]), None, "more than the smaller set has");
    }

    #[test]
    fn what_is_told_of_a_result_does_not_depend_on_whether_it_is_refused() {
        let set = set();
        let of = |agreement: &Agreement, output: Output| {
            let unchecked = Unchecked::new(output);
            let told = unchecked.told(&set, agreement);
            (told, unchecked.answer(&set, &asked(agreement, true), own()).is_ok())
        };
        let union = agreement_for("all", "operation = \"union\"", "[union]\nkey_bytes = 6\n");
        let len = union.text_len().unwrap();
        let texts = |key: &str| {
            let mut texts = Vec::new();
            let own = texts::Mark::Own(Role::Sender);
            (0..CHECK_ITEMS).for_each(|_| texts::push_mark(&mut texts, own, len));
            texts::push_key(&mut texts, key.as_bytes(), len);
            texts
        };
        // A key is never empty.
        let [good, bad] = ["key", ""].map(|key| of(&union, Output::OnlyTheirs(texts(key))));
        assert_eq!((good, bad), ((good.0, true), (good.0, false)));
        assert_eq!(good.0, Told::Number(u128::from(5 + 2 * CHECK_ITEMS + CHECK_ITEMS + 1)));
        let refused = Output::Refused {
            output: Box::new(Output::OnlyTheirs(texts("key"))),
            why: Misbehaviour::InvalidValue,
        };
        assert_eq!(of(&union, refused), bad);

        let plain = agreement_for("all", "operation = \"intersection\"", "");
        let check_items = 5..5 + CHECK_ITEMS as usize;
        let good =
            of(&plain, Output::Positions([1].into_iter().chain(check_items.clone()).collect()));
        let bad =
            of(&plain, Output::Positions([1].into_iter().chain(check_items.skip(1)).collect()));
        assert_eq!((good, bad), ((Told::Number(1), true), (Told::Number(1), false)));
    }

    #[test]
    fn what_a_peer_can_bring_beyond_what_it_announced_is_no_failure() {
        let plain = agreement("operation = \"intersection\"", "");
        let asked = |there| Asked { there, ..asked(&plain, true) };
        let check_items = 5..5 + CHECK_ITEMS as usize;
        let all: Vec<usize> = (0..5).chain(check_items).collect();
        for there in [1, 2, 5] {
            assert!(check(Output::Positions(all.clone()), &set(), &asked(there)).is_ok());
        }
    }

    #[test]
    fn an_inner_product_stays_below_what_both_sides_can_have() {
        let table = "[product]\nof = \"two\"\ncolumn = \"v\"\nbits = 4\nsigned = true\ntimes = \
                     \"w\"\ntimes_bits = 3\n";
        let agreement = agreement("operation = \"inner-product\"", table);
        let check_items = i128::from(CHECK_ITEMS);
        let of = |set: &CheckedSet, role, count, sum| {
            let sums = vec![sum, check_items];
            let output = Output::CountedSums { count: CHECK_ITEMS + count, sums };
            let asked = Asked { role, ..asked(&agreement, true) };
            match check(output, set, &asked).ok()? {
                RunResult::Sums { columns, .. } => {
                    assert_eq!(columns[0].column, "v*w");
                    Some(columns[0].sum)
                }
                _ => panic!("no sum"),
            }
        };
        let [values, factors] =
            [Role::Sender, Role::Receiver].map(|role| agreement.checked_values_of(role).unwrap());
        // The receiver's own values add up to 12; those of the sender are from -8 to 7.
        let own = set().with_values(vec![0, 1, 2, 3, 6], factors).unwrap();
        for (sum, expected) in [(84, Some(84)), (85, None), (-96, Some(-96)), (-97, None)] {
            assert_eq!(of(&own, Role::Receiver, 5, sum), expected, "{sum}");
        }
        assert_eq!(of(&own, Role::Receiver, 1, 50), None, "one product is at most 49");
        // The sender's own values add up to 9 and -3; those of the receiver are up to 7.
        let minus = |n: i64| -n as u64;
        let own = set().with_values(vec![4, 5, minus(1), minus(2), 0], values).unwrap();
        for (sum, expected) in [(63, Some(63)), (64, None), (-21, Some(-21)), (-22, None)] {
            assert_eq!(of(&own, Role::Sender, 5, sum), expected, "{sum}");
        }
    }

    #[test]
    fn texts_are_read_and_counted() {
        let set = set();
        let union = agreement("operation = \"union\"", "[union]\nkey_bytes = 6\n");
        let asked = asked(&union, true);
        let len = union.text_len().unwrap();
        let texts = |keys: &[String]| {
            let mut texts = Vec::new();
            let own = texts::Mark::Own(Role::Sender);
            (0..CHECK_ITEMS).for_each(|_| texts::push_mark(&mut texts, own, len));
            keys.iter().for_each(|key| texts::push_key(&mut texts, key.as_bytes(), len));
            texts
        };
        let kind = |texts| match check(Output::OnlyTheirs(texts), &set, &asked) {
            Err(Error::PeerMisbehaved(kind)) => Some(kind),
            Ok(_) => None,
            Err(error) => panic!("{error}"),
        };
        let keys = |count: u64| (0..count).map(|key| key.to_string()).collect::<Vec<_>>();
        let Ok(RunResult::Union(good)) =
            check(Output::OnlyTheirs(texts(&["key".to_owned()])), &set, &asked)
        else {
            panic!("no union")
        };
        assert_eq!(good.keys(), [(b"key".to_vec(), None)]);
        assert_eq!(
            kind(texts(&["key".to_owned()])[1..].to_vec()),
            Some(Misbehaviour::InvalidValue)
        );
        assert_eq!(kind(texts(&keys(5 + CHECK_ITEMS))), None);
        assert_eq!(kind(texts(&keys(6 + CHECK_ITEMS))), Some(Misbehaviour::SelfCheckFailed));
    }

    #[test]
    fn another_answer_than_was_asked_for_is_our_defect() {
        let agreement = agreement("operation = \"cardinality\"", "");
        for (output, learns) in [
            (Output::AtLeast(true), true),
            (Output::Nothing, true),
            (Output::Cardinality(9), false),
        ] {
            let error = check(output, &set(), &asked(&agreement, learns)).err();
            assert!(matches!(error, Some(Error::Bug(_))), "{error:?}");
        }
    }
}
