//! SoftSpoken: the relations, their distribution, bytes and flights, at every k and both levels.

use crate::support::{SESSION, Setting, assert_unbiased, run};
use vesica_core::{Block, Malicious, Result, Secret, Security, SemiHonest};
use vesica_net::Context;
use vesica_ot::softspoken::{
    FieldBits, Receiver, ReceiverOutput, Request, Sender, SenderOutput, extend_bytes, setup_bytes,
};
use vesica_ot::{Lift, Traffic};
use vesica_simd::gf128;

fn narrow_lift(width: usize) -> Lift {
    Lift::new(
        (0..width).map(|i| Block::new(0x1_0000_0001 << (i % 90)) ^ Block::new(1 << i)).collect(),
    )
}

fn sender<S: Security>(
    ctx: &mut Context,
    bits: FieldBits,
    requests: &[Request<'_>],
) -> Result<(Block, Vec<SenderOutput>)> {
    let mut sender = Sender::<S>::setup(ctx, &SESSION, bits)?;
    let outputs =
        requests.iter().map(|request| sender.extend(ctx, *request)).collect::<Result<_>>()?;
    Ok((*sender.delta().expose(), outputs))
}

fn receiver<S: Security>(
    ctx: &mut Context,
    bits: FieldBits,
    requests: &[Request<'_>],
) -> Result<Vec<ReceiverOutput>> {
    let mut receiver = Receiver::<S>::setup(ctx, &SESSION, bits)?;
    requests.iter().map(|request| receiver.extend(ctx, *request)).collect()
}

/// M_i = K_i + r_i·Δ for the transfers, M_i = K_i + lift(u_i)·Δ for the VOLEs, in the requested
/// numbers.
fn assert_relation(
    case: &str,
    request: &Request<'_>,
    delta: Block,
    sent: &SenderOutput,
    received: &ReceiverOutput,
) {
    assert_eq!(sent.cots.len(), request.cots, "{case}");
    assert_eq!(received.cots.blocks.len(), request.cots, "{case}");
    assert_eq!(received.cots.choices.len(), request.cots, "{case}");
    for (i, (k, m)) in sent.cots.iter().zip(&received.cots.blocks).enumerate() {
        let r = Block::mask(received.cots.choices.get(i));
        assert_eq!(*m, *k ^ (r & delta), "transfer {i}, {case}");
    }
    assert_eq!(sent.voles.len(), request.voles, "{case}");
    assert_eq!(received.voles.blocks.len(), request.voles, "{case}");
    assert_eq!(received.voles.values.len(), request.voles, "{case}");
    let width = request.lift.width_bits();
    for (i, (k, m)) in sent.voles.iter().zip(&received.voles.blocks).enumerate() {
        let u = received.voles.values[i];
        assert_eq!(u & !(u128::MAX >> (128 - width)), 0, "VOLE {i}, {case}");
        assert_eq!(*m, *k ^ gf128::mul(request.lift.apply(u), delta), "VOLE {i}, {case}");
    }
}

fn law<S: Security>(setting: &Setting, bits: FieldBits, requests: &[Request<'_>]) {
    let run = setting
        .run(|ctx| sender::<S>(ctx, bits, requests), |ctx| receiver::<S>(ctx, bits, requests));
    let (traffic, flights) = (run.traffic, run.flights);
    let ((delta, sent), received) = run.unwrap();
    for (request, (sent, received)) in requests.iter().zip(sent.iter().zip(&received)) {
        let case = format!(
            "{}, {bits:?}, {} transfers, {} VOLEs of {} bits",
            S::NAME,
            request.cots,
            request.voles,
            request.lift.width_bits()
        );
        assert_relation(&case, request, delta, sent, received);
    }
    let formula = requests
        .iter()
        .fold(setup_bytes::<S>(bits), |sum, request| sum + extend_bytes::<S>(bits, *request));
    assert_eq!(traffic, formula, "{} {bits:?}", S::NAME);
    // The answer of the setup leaves with the first corrections.
    assert_eq!(flights, 2, "{} {bits:?}", S::NAME);
}

fn law_at_all_sizes<S: Security>() {
    let lift = Lift::identity();
    let lifts = [narrow_lift(80), narrow_lift(96), Lift::identity(), narrow_lift(1)];
    for bits in FieldBits::ALL {
        let mut requests: Vec<_> = [0, 1, 127, 128, 129, 4095, 4096, 4097, 100_000]
            .map(|cots| Request { cots, voles: 0, lift: &lift })
            .to_vec();
        for lift in &lifts {
            requests.extend([1, 5, 511, 512, 513].map(|voles| Request { cots: 0, voles, lift }));
            requests.push(Request { cots: 130, voles: 700, lift });
        }
        law::<S>(&Setting::default(), bits, &requests);
    }
}

#[test]
fn semi_honest_correlations_are_correct_at_all_sizes() {
    law_at_all_sizes::<SemiHonest>();
}

#[test]
fn malicious_correlations_are_correct_at_all_sizes() {
    law_at_all_sizes::<Malicious>();
}

#[test]
fn threads_do_not_change_the_result() {
    let lift = Lift::identity();
    let requests = [Request { cots: 70_000, voles: 3000, lift: &lift }];
    let outputs = [1, 3].map(|threads| {
        let setting = Setting { threads, ..Setting::default() };
        law::<Malicious>(&setting, FieldBits::Four, &requests);
        let run = setting.run(
            |ctx| sender::<Malicious>(ctx, FieldBits::Four, &requests),
            |ctx| receiver::<Malicious>(ctx, FieldBits::Four, &requests),
        );
        let ((delta, sent), received) = run.unwrap();
        (delta, sent[0].cots.clone(), sent[0].voles.clone(), received[0].voles.values.clone())
    });
    assert!(outputs[0] == outputs[1], "one thread and three differ");
}

#[test]
fn all_backends_produce_the_same_correlations() {
    let lift = narrow_lift(80);
    let requests = [Request { cots: 5000, voles: 300, lift: &lift }];
    for bits in FieldBits::ALL {
        let mut first = None;
        for backend in vesica_simd::Backend::available() {
            // Other tests may run under this backend too: results do not depend on it.
            vesica_simd::force(backend).expect("an available backend");
            let run = run(
                |ctx| sender::<Malicious>(ctx, bits, &requests),
                |ctx| receiver::<Malicious>(ctx, bits, &requests),
            );
            let ((delta, mut sent), mut received) = run.unwrap();
            let (sent, received) = (sent.remove(0), received.remove(0));
            assert_relation(backend.name(), &requests[0], delta, &sent, &received);
            let sent_blocks = (sent.cots.clone(), sent.voles.clone());
            let outputs = (delta, sent_blocks, received.voles.values.clone());
            match &first {
                None => first = Some(outputs),
                Some(first) => assert!(*first == outputs, "{bits:?}, {}", backend.name()),
            }
        }
    }
    let fastest = vesica_simd::Backend::detect();
    vesica_simd::force(fastest).expect("an available backend");
}

#[test]
fn a_given_delta_is_kept() {
    let delta = Block::new(0x8000_0000_0000_0000_0000_0000_0000_0001);
    for bits in FieldBits::ALL {
        let run = run(
            |ctx| {
                let given = Secret::new(delta);
                let mut sender =
                    Sender::<SemiHonest>::setup_with_delta(ctx, &SESSION, bits, given)?;
                assert_eq!(*sender.delta().expose(), delta);
                sender.extend(ctx, Request::cots(200))
            },
            |ctx| receiver::<SemiHonest>(ctx, bits, &[Request::cots(200)]),
        );
        let (sent, received) = run.unwrap();
        assert_relation("given Δ", &Request::cots(200), delta, &sent, &received[0]);
    }
}

#[test]
fn correlations_and_choices_look_uniform() {
    let n = 1 << 16;
    let requests = [Request { cots: n, voles: 1 << 12, lift: &Lift::identity() }];
    for bits in FieldBits::ALL {
        let run = run(
            |ctx| sender::<Malicious>(ctx, bits, &requests),
            |ctx| receiver::<Malicious>(ctx, bits, &requests),
        );
        let ((_, sent), received) = run.unwrap();
        let (sent, received) = (&sent[0], &received[0]);
        assert_unbiased("K", &sent.cots);
        assert_unbiased("M", &received.cots.blocks);
        assert_unbiased("choices", received.cots.choices.blocks());
        assert_unbiased("VOLE K", &sent.voles);
        assert_unbiased("VOLE M", &received.voles.blocks);
        let values: Vec<_> = received.voles.values.iter().map(|u| Block::new(*u)).collect();
        assert_unbiased("VOLE values", &values);
        // The choice against every bit of the receiver's block.
        let masked: Vec<_> = (received.cots.blocks.iter().zip(received.cots.choices.iter()))
            .map(|(m, r)| *m ^ Block::mask(r))
            .collect();
        assert_unbiased("M against choices", &masked);
    }
}

#[test]
fn extensions_of_one_setup_differ() {
    let requests = [Request::cots(1000); 2];
    let run = run(
        |ctx| sender::<SemiHonest>(ctx, FieldBits::Two, &requests),
        |ctx| receiver::<SemiHonest>(ctx, FieldBits::Two, &requests),
    );
    let ((_, sent), _) = run.unwrap();
    assert!(sent[0].cots.iter().zip(&sent[1].cots).all(|(a, b)| a != b));
}

#[test]
fn bytes_match_the_paper() {
    for (bits, corrections) in FieldBits::ALL.into_iter().zip([127, 63, 31, 15]) {
        let n = 128 * 1000;
        let extend = extend_bytes::<SemiHonest>(bits, Request::cots(n));
        let expected = Traffic { sender_to_receiver: 0, receiver_to_sender: 16_000 * corrections };
        assert_eq!(extend, expected);
        let trees = 128 / bits.k() as u64;
        let setup = setup_bytes::<SemiHonest>(bits);
        assert_eq!(setup.sender_to_receiver, 8192);
        assert_eq!(setup.receiver_to_sender, 32 + trees * (bits.k() as u64 - 1) * 32);
    }
}
