//! The law of intersections with payloads.

use super::{learners, overlapping_for};
use crate::sets::plain_intersection;
use crate::{Cases, Outcomes, Runner};
use std::sync::Arc;
use vesica_core::{Item, Learns, PayloadLen, PsiParams, Query, Role, SessionId};
use vesica_party::{Input, Output, Protocol};

pub(crate) fn payload_len(bytes: u32) -> PayloadLen {
    PayloadLen::new(bytes).expect("a test's payloads are short")
}

/// A payload of each item, which follows from the item.
pub(crate) fn payloads_of(items: &[Item], len: PayloadLen) -> Vec<u8> {
    let of_item = |item: &Item| {
        let bytes = item.as_bytes().iter().rev().copied().cycle();
        bytes.take(len.bytes()).collect::<Vec<u8>>()
    };
    items.iter().flat_map(of_item).collect()
}

/// The receiver gets the positions of its common items and the sender's payloads of them, and the
/// sender what it gets without payloads; the bytes are those of the formula.
///
/// The lengths lie around a block and a message, and the sizes around none and one item.
pub fn payloads(protocol: &Protocol, cases: Cases) {
    let lens = [1, 16, 17, 300, 4096].map(payload_len);
    let sizes = [(0, 3, 0), (3, 0, 0), (1, 1, 1), (1, 1, 0), (300, 70, 41), (70, 300, 70)];
    let learners = learners(protocol);
    for [len, size, learns] in cases.of([lens.len(), sizes.len(), learners.len()]) {
        let (len, (n_x, n_y, common), learns) = (lens[len], sizes[size], learners[learns]);
        let (x, y) = overlapping_for(protocol, (n_x, n_y, common));
        let case = format!("{} {len:?} n_x={n_x} n_y={n_y} {common} {learns:?}", protocol.id);
        let params = PsiParams::new(SessionId::from_bytes([0; 32]), n_x, n_y, learns)
            .expect("test sets are small")
            .with_query(Query::Payloads(len));
        let run = run(protocol, params, len, &x, &y);
        let positions = plain_intersection(&y, &x);
        let common: Vec<Item> = positions.iter().map(|position| y[*position]).collect();
        let payloads = payloads_of(&common, len);
        let bytes = [run.sender_bytes(), run.receiver_bytes()];
        assert_eq!(run.receiver.output, Ok(Output::Payloads { positions, payloads }), "{case}");
        let expected = match learns {
            Learns::Receiver => Output::Nothing,
            Learns::Both => Output::Positions(plain_intersection(&x, &y)),
        };
        assert_eq!(run.sender.output, Ok(expected), "{case}");
        let formula = (protocol.bytes)(&params);
        assert_eq!(bytes, [formula.sender_to_receiver, formula.receiver_to_sender], "{case}");
        let without = (protocol.bytes)(&params.with_query(Query::Intersection));
        let of_payloads = if n_x * n_y == 0 { 0 } else { n_x * len.bytes() as u64 };
        let more = formula.sender_to_receiver - without.sender_to_receiver;
        assert_eq!((more, formula.receiver_to_sender), (of_payloads, without.receiver_to_sender));
    }
}

fn run(
    protocol: &Protocol,
    params: PsiParams,
    len: PayloadLen,
    x: &[Item],
    y: &[Item],
) -> Outcomes {
    let payloads = Arc::new(payloads_of(x, len));
    let sender = Input::with_payloads(Arc::new(x.to_vec()), payloads);
    let party = |role, input| protocol.party(role, params, input).expect("the input fits");
    let runner = Runner { threads: 3, ..Runner::default() };
    runner.run(party(Role::Sender, sender), party(Role::Receiver, Arc::new(y.to_vec()).into()))
}
