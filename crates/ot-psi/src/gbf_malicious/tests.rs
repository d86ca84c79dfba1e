//! Parties that deviate.

use super::cut::{Opening, choices, cut, is_one, ones};
use super::injection::{Used, draw, pack, unpack};
use super::plan::{Plan, Sizes};
use super::{Receiver, Sender};
use rand::SeedableRng;
use rand::rngs::StdRng;
use std::num::NonZeroUsize;
use std::sync::Arc;
use vesica_core::hash::derive;
use vesica_core::{
    Block, Error, Item, Learns, Misbehaviour, ParameterError, PsiParams, Result, Role, SessionId,
};
use vesica_net::{Context, Meter, Pool, Streams, memory};
use vesica_okvs::bloom::Bloom;
use vesica_party::{Output, Party};
use zeroize::Zeroizing;

type ChangeChoices = Box<dyn Fn(&mut [u64], &Plan) + Send>;
type ChangeOpening = Box<dyn Fn(&mut Opening, &Plan) + Send>;
type ChangePlaces = Box<dyn Fn(&mut [u32], &[u64], &Plan) + Send>;

/// How a receiver deviates.
#[derive(Default)]
pub(super) struct Deviation {
    /// Changes the choices.
    pub(super) choices: Option<ChangeChoices>,
    /// Changes the opening.
    pub(super) opening: Option<ChangeOpening>,
    /// Changes π, knowing C.
    pub(super) places: Option<ChangePlaces>,
}

impl Deviation {
    pub(super) fn choices(&self, mut choices: Vec<u64>, plan: &Plan) -> Vec<u64> {
        self.choices.iter().for_each(|change| change(&mut choices, plan));
        choices
    }

    pub(super) fn opening(&self, mut opening: Opening, plan: &Plan) -> Opening {
        self.opening.iter().for_each(|change| change(&mut opening, plan));
        opening
    }

    pub(super) fn places(&self, places: &[u32], cut: &[u64], plan: &Plan) -> Zeroizing<Vec<u32>> {
        let mut places = Zeroizing::new(places.to_vec());
        self.places.iter().for_each(|change| change(&mut places, cut, plan));
        places
    }
}

/// What both parties end with.
type Ends = [Result<Output>; 2];

const HONEST: fn() -> Deviation = Deviation::default;

fn params(n_x: usize, n_y: usize) -> PsiParams {
    let session = SessionId::from_bytes([5; 32]);
    PsiParams::new(session, n_x as u64, n_y as u64, Learns::Receiver).unwrap()
}

fn items(range: std::ops::Range<u32>) -> Arc<Vec<Item>> {
    let item = |i: u32| {
        let mut bytes = [0; Item::LEN];
        bytes.copy_from_slice(&derive("test item", &[&i.to_le_bytes()])[..Item::LEN]);
        Item::from_bytes(bytes)
    };
    Arc::new(range.map(item).collect())
}

fn run_party(end: Arc<dyn Streams>, peer: Role, party: Box<dyn Party>) -> Result<Output> {
    let pool = Pool::new(NonZeroUsize::MIN).unwrap();
    let peers = vec![(peer, Arc::clone(&end))];
    let mut ctx = Context::new(peers, [peer as u8 + 1; 32], pool, Meter::new())?;
    let output = party.run(&mut ctx).and_then(|output| ctx.finish().map(|()| output));
    output.inspect_err(|error| end.abort(error.stop_reason()))
}

/// The sender's and the receiver's end.
fn run(
    x: &Arc<Vec<Item>>,
    y: &Arc<Vec<Item>>,
    spoils: Option<usize>,
    deviation: Deviation,
) -> Ends {
    let params = params(x.len(), y.len());
    let mut sender = Sender::new(params, Arc::clone(x)).unwrap();
    sender.spoils = spoils;
    let mut receiver = Receiver::new(params, Arc::clone(y)).unwrap();
    receiver.deviation = deviation;
    let (sender_end, receiver_end) = memory::pair();
    std::thread::scope(|scope| {
        let sending = scope.spawn(|| run_party(sender_end, Role::Receiver, Box::new(sender)));
        let received = run_party(receiver_end, Role::Sender, Box::new(receiver));
        [sending.join().unwrap(), received]
    })
}

fn sender_refuses(deviation: Deviation, misbehaviour: Misbehaviour) {
    let (x, y) = (items(0..60), items(30..80));
    let [sender, receiver] = run(&x, &y, None, deviation);
    assert_eq!(sender, Err(misbehaviour.into()));
    assert!(receiver.is_err());
}

#[test]
fn honest_parties_get_the_intersection() {
    let [sender, receiver] = run(&items(0..60), &items(30..80), None, HONEST());
    assert_eq!(sender, Ok(Output::Nothing));
    assert_eq!(receiver, Ok(Output::Positions((0..30).collect())));
}

#[test]
fn a_filter_of_ones_alone_is_caught() {
    let all_ones = |choices: &mut [u64], plan: &Plan| {
        let transfers = plan.sizes.transfers;
        (0..transfers).for_each(|i| choices[i / 64] |= 1 << (i % 64));
    };
    let deviation = Deviation { choices: Some(Box::new(all_ones)), ..HONEST() };
    sender_refuses(deviation, Misbehaviour::CutAndChooseFailed);
}

#[test]
fn ones_that_are_claimed_to_be_zeros_are_caught() {
    let all_ones = |choices: &mut [u64], plan: &Plan| {
        let transfers = plan.sizes.transfers;
        (0..transfers).for_each(|i| choices[i / 64] |= 1 << (i % 64));
    };
    let all_zeros = |opening: &mut Opening, plan: &Plan| {
        let opened = plan.sizes.opened;
        (0..opened).for_each(|i| opening.zeros[i / 8] |= 1 << (i % 8));
    };
    let deviation = Deviation {
        choices: Some(Box::new(all_ones)),
        opening: Some(Box::new(all_zeros)),
        ..HONEST()
    };
    sender_refuses(deviation, Misbehaviour::CutAndChooseFailed);
}

#[test]
fn more_ones_than_the_bound_allows_are_caught() {
    // The bound M′ of the sizes, from the ones that may be left: never more than that and the
    // threshold.
    let too_many = |choices: &mut [u64], plan: &Plan| {
        let sizes = plan.sizes;
        let wanted = sizes.ones_left + sizes.threshold + sizes.opened / 4;
        let mut count: usize = choices.iter().map(|word| word.count_ones() as usize).sum();
        assert!(count < wanted && wanted < sizes.transfers);
        for i in (0..sizes.transfers).rev() {
            if count < wanted && !is_one(choices, i) {
                choices[i / 64] |= 1 << (i % 64);
                count += 1;
            }
        }
    };
    let deviation = Deviation { choices: Some(Box::new(too_many)), ..HONEST() };
    sender_refuses(deviation, Misbehaviour::CutAndChooseFailed);
}

#[test]
fn a_wrong_set_of_zeros_or_a_wrong_sum_is_refused() {
    let changes: [ChangeOpening; 4] = [
        Box::new(|opening, _| opening.zeros[0] ^= 1),
        Box::new(|opening, plan| opening.zeros[(plan.sizes.opened - 1) / 8 - 1] ^= 0x80),
        Box::new(|opening, _| opening.sum ^= Block::ONE),
        Box::new(|opening, _| opening.zeros.fill(0)),
    ];
    for change in changes {
        let deviation = Deviation { opening: Some(change), ..HONEST() };
        sender_refuses(deviation, Misbehaviour::CutAndChooseFailed);
    }
}

#[test]
fn bits_beyond_the_opened_transfers_are_refused() {
    let plan = Plan::new(&params(60, 50));
    assert!(!plan.sizes.opened.is_multiple_of(8), "there are bits beyond");
    let change = |opening: &mut Opening, _: &Plan| {
        *opening.zeros.last_mut().unwrap() |= 0x80;
    };
    let deviation = Deviation { opening: Some(Box::new(change)), ..HONEST() };
    sender_refuses(deviation, Misbehaviour::InvalidValue);
}

#[test]
fn places_that_repeat_or_are_opened_or_are_none_are_refused() {
    let changes: [ChangePlaces; 5] = [
        Box::new(|places, _, _| places[7] = places[8]),
        Box::new(|places, _, _| places[0] = *places.last().unwrap()),
        Box::new(|places, cut, _| places[3] = ones(cut).next().unwrap() as u32),
        Box::new(|places, _, plan| places[3] = plan.sizes.transfers as u32),
        Box::new(|places, _, plan| *places.last_mut().unwrap() = (1 << plan.place_bits) - 1),
    ];
    for change in changes {
        let deviation = Deviation { places: Some(change), ..HONEST() };
        sender_refuses(deviation, Misbehaviour::InvalidValue);
    }
}

/// The attack on the original protocol: a sender spoils the message of one transfer that is for a
/// one, and looks whether the receiver continues. Here the receiver continues for any filter, and
/// loses at most matches that the sender could have kept from it anyway.
#[test]
fn a_spoiled_message_never_stops_the_receiver() {
    let x = items(0..40);
    let (same, other) = (items(0..40), items(100..140));
    let transfers = Plan::new(&params(40, 40)).sizes.transfers;
    let mut lost = 0;
    for spoiled in (0..transfers).step_by(transfers / 40) {
        let [sender, receiver] = run(&x, &other, Some(spoiled), HONEST());
        assert_eq!((sender, receiver), (Ok(Output::Nothing), Ok(Output::Positions(vec![]))));
        let [sender, receiver] = run(&x, &same, Some(spoiled), HONEST());
        assert_eq!(sender, Ok(Output::Nothing), "{spoiled}");
        let found = receiver.unwrap().into_positions().unwrap();
        lost += usize::from(found.len() < 40);
    }
    assert!(lost > 0, "no spoiled message was one that the receiver uses");
}

#[test]
fn places_survive_packing() {
    for bits in [1, 7, 12, 22, 28, 31, 32] {
        for len in [0, 1, 2, 31, 64, 1000] {
            let places: Vec<u32> = (0..len as u64)
                .map(|i| (i.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> (64 - bits)) as u32)
                .collect();
            let mut bytes = pack(&places, bits);
            assert_eq!(bytes.len(), (len * bits as usize).div_ceil(8));
            let mut again = vec![0; len];
            unpack(&bytes, bits, &mut again).unwrap();
            assert_eq!(again, places, "{bits} bits");
            if !(len * bits as usize).is_multiple_of(8) {
                *bytes.last_mut().unwrap() |= 0x80;
                assert!(unpack(&bytes, bits, &mut again).is_err(), "a bit beyond the last");
            }
        }
    }
}

#[test]
fn choices_have_exactly_the_right_number_of_ones_everywhere_alike() {
    let sizes = Sizes::new(3);
    let mut counts = vec![0u32; sizes.transfers];
    let mut rng = StdRng::from_seed([1; 32]);
    for _ in 0..2000 {
        let choices = choices(&sizes, &mut rng);
        assert_eq!(ones(&choices).count(), sizes.ones);
        ones(&choices).for_each(|i| counts[i] += 1);
    }
    let mean = 2000.0 * sizes.ones as f64 / sizes.transfers as f64;
    // The standard deviation is below √mean; seven of them is beyond chance.
    let near = |count: &u32| (f64::from(*count) - mean).abs() < 7.0 * mean.sqrt();
    assert!(counts.iter().all(near), "{mean}");
}

#[test]
fn opened_transfers_are_as_many_as_agreed_and_depend_on_seed_session_and_block() {
    let sizes = Sizes::new(100);
    let session = SessionId::from_bytes([0; 32]);
    let one = cut(&sizes, &session, &[1; 32], 0);
    assert_eq!(ones(&one).count(), sizes.opened);
    assert!(ones(&one).all(|i| i < sizes.transfers));
    assert_eq!(one, cut(&sizes, &session, &[1; 32], 0));
    assert_ne!(one, cut(&sizes, &session, &[2; 32], 0));
    assert_ne!(one, cut(&sizes, &session, &[1; 32], 1));
    assert_ne!(one, cut(&sizes, &SessionId::from_bytes([9; 32]), &[1; 32], 0));
}

/// A drawn π is an injection past C; ones of the filter go to ones of the choices; and which
/// transfers are taken for slots that are ones does not show from their places in order.
#[test]
fn drawn_places_are_uniform_injections_that_respect_the_filter() {
    let plan = Plan::new(&params(20, 20));
    let pool = Pool::new(NonZeroUsize::new(2).unwrap()).unwrap();
    let mut rng = StdRng::from_seed([2; 32]);
    let mut filter = Bloom::new(plan.sizes.slots);
    filter.insert(&(0..1000).collect::<Vec<u32>>());
    let (mut low_of_ones, mut low_of_zeros) = (0, 0);
    let rounds = 200;
    for round in 0..rounds {
        let choices = choices(&plan.sizes, &mut rng);
        let cut = cut(&plan.sizes, &SessionId::from_bytes([0; 32]), &[round; 32], 0);
        let places = draw(&pool, &mut rng, &plan, &cut, &choices, &filter).unwrap();
        assert_eq!(places.len(), plan.sizes.slots);
        Used::new(&plan, &cut).use_all(&places).unwrap();
        assert!((0..1000).all(|i| is_one(&choices, places[i] as usize)));
        let is_low = |place: &&u32| (**place as usize) < plan.sizes.transfers / 2;
        low_of_ones += places[..1000].iter().filter(is_low).count();
        low_of_zeros += places[1000..2000].iter().filter(is_low).count();
    }
    // Half of each on average; the standard deviation is below 224.
    let half = 500 * usize::from(rounds);
    assert!(low_of_ones.abs_diff(half) < 1600, "{low_of_ones} of {half}");
    assert!(low_of_zeros.abs_diff(half) < 1600, "{low_of_zeros} of {half}");
}

#[test]
fn a_filter_with_more_ones_than_are_left_is_an_error() {
    let plan = Plan::new(&params(20, 20));
    let pool = Pool::new(NonZeroUsize::MIN).unwrap();
    let mut rng = StdRng::from_seed([3; 32]);
    let choices = choices(&plan.sizes, &mut rng);
    let cut = cut(&plan.sizes, &SessionId::from_bytes([0; 32]), &[0; 32], 0);
    let mut filter = Bloom::new(plan.sizes.slots);
    filter.insert(&(0..plan.sizes.ones as u32).collect::<Vec<u32>>());
    let drawn = draw(&pool, &mut rng, &plan, &cut, &choices, &filter);
    assert_eq!(drawn.err(), Some(Error::Parameter(ParameterError::HashingFailed)));
}
