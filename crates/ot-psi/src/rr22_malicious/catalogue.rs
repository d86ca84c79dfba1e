//! The row of the catalogue.

use super::{
    COMMITMENT_LEN, OUTPUT_BITS, SHARED_PROOF_LEN, STEPS, plan, proof_len, receiver, sender, tags,
};
use vesica_core::{Block, Learns, Malicious, PsiParams};
use vesica_oprf::vole;
use vesica_oprf::vole::overfitting::usable_items;
use vesica_party::{
    Auto, BoundsKept, Compared, Fact, Learners, Operation, Pairwise, Parameter, Partitions,
    Protocol, Security, Traffic, UsableSetLen, answer, assumptions, payloads,
};

/// The row of `rr22_malicious`.
pub const ROW: Protocol = Protocol {
    id: "rr22_malicious",
    name: "VOLE-PSI, malicious",
    source: "Raghuraman, Rindal, ACM CCS 2022 (ePrint 2022/320); Rindal, Schoppmann, EUROCRYPT \
             2021, Figure 4",
    security: Security::Malicious,
    assumption: assumptions::VOLE,
    operations: &[Operation::Intersection],
    sender_learns: Fact::SIZE,
    receiver_learns: Fact::INTERSECTION,
    flights,
    least_flights: None,
    bytes_formula: "VOLE(m) + 32 + 48 + 16·m + 32 + 32 + tags(n_x, 128), p·n_x when both learn, \
                    and n_x payloads if there are any; m = n_y slots of one polynomial where n_y ≤ \
                    32, or n_y ≤ 512 and n_x·n_y ≤ 2^22; else up to n_y = 6,144 those of the \
                    random band, n_y + 43 up to 469 and ≈ 1.04·n_y; ≈ 1.28·n_y of the 3-hash store \
                    beyond; tags(n, ℓ) = ⌈(n + 2^h + n·(ℓ − h))/8⌉ with h = ⌊log n⌋; p = ⌈(40 + \
                    ⌈log n_x⌉)/8⌉",
    bytes,
    seconds,
    usable_set_len: Some(usable_set_len),
    auto: Auto::Candidate,
    item_bits: 128..=128,
    reserves_zero: false,
    bounds: BoundsKept::No,
    learners: Learners::Any,
    wide_values: false,
    payloads: true,
    bytes_depend_on_result: false,
    pairwise: Pairwise::No,
    partitions: Partitions::Sets,
    steps: Some(STEPS),
    addends: None,
    compared: |_| Compared::outputs(OUTPUT_BITS),
    parameters: &[
        Parameter {
            name: "key-value store",
            value: "one polynomial up to 32 items, and up to 512 while the items of both sides \
                    multiply to 2^22 at most; else the random band up to 6,144, 3-hash binary, \
                    clustered, with dense columns over GF(2^128) beyond; failure below 2^-40",
            source: "Bienstock and others 2023; Raghuraman, Rindal 2022, §4; parameters/okvs",
        },
        Parameter {
            name: "field",
            value: "GF(2^128); Δ uniform in it",
            source: "Raghuraman, Rindal 2022, §5",
        },
        Parameter {
            name: "learning parity with noise",
            value: "regular noise, at least 128 bits against every attack of docs/lpn.md",
            source: "docs/lpn.md, computed by parameters/lpn",
        },
        Parameter {
            name: "output length",
            value: "128 bits",
            source: "Rindal, Schoppmann 2021, Theorem 3",
        },
    ],
    sender,
    receiver,
};

/// Exact payload bytes of a run.
pub fn bytes(params: &PsiParams) -> Traffic {
    if params.has_empty_set() {
        return Traffic { sender_to_receiver: 0, receiver_to_sender: 0 };
    }
    let oprf = vole::bytes::<Malicious>(&plan(params));
    let proofs = match params.learns() {
        Learns::Receiver => 0,
        Learns::Both => params.sender_len() * proof_len(params),
    };
    Traffic {
        sender_to_receiver: oprf.sender_to_receiver
            + 2 * COMMITMENT_LEN as u64
            + tags(params).bytes()
            + payloads::bytes(params.query().payload_len(), params.sender_len()),
        receiver_to_sender: oprf.receiver_to_sender
            + (Block::LEN + SHARED_PROOF_LEN + proofs) as u64,
    }
}

/// Flights of a run: the tags follow the OPRF.
fn flights(params: &PsiParams) -> u64 {
    answer::flights(params, vole::flights::<Malicious>(&plan(params)) + 1)
}

/// Estimated seconds of computation, fitted to measurements.
fn seconds(params: &PsiParams) -> f64 {
    let (n_x, n_y) = (params.sender_len() as f64, params.receiver_len() as f64);
    // Evaluating a polynomial takes this many products for each item. A product counts as 1 ns;
    // with AVX2 it takes 8.5 ns.
    let products = plan(params).products() as f64;
    0.015 + (105e-9 + 1e-9 * products) * n_x + 190e-9 * n_y
}

/// How many items besides the shared ones a receiver that deviates can have compared: without
/// effort as many as P has slots for, and with 2^80 evaluations of the row hash at most
/// [`usable_items`].
pub fn usable_set_len(params: &PsiParams) -> UsableSetLen {
    if params.has_empty_set() {
        return UsableSetLen { free: 0, most: 0 };
    }
    // Each shared item that P is proved to hold uses up one dimension of P.
    let free = (plan(params).correlations() - params.shared_len()) as u64;
    UsableSetLen { free, most: usable_items(free, params.runs()) }
}
