//! What crosses the wire in protocols on the VOLE OPRF, under fixed seeds, is what it was when it was recorded.

use std::sync::Arc;
use vesica_core::hash::derive;
use vesica_core::{Learns, PsiParams, Query, Role, SessionId};
use vesica_protocols::find;
use vesica_testkit::sets::overlapping;
use vesica_testkit::{Runner, Transcript};

/// The first bytes of a digest of all that both parties send. A change here is a change of the wire version.
const RECORDED: [(&str, Query, &str); 8] = [
    ("rr22", Query::Intersection, "d8cefafddbd3998f"),
    ("rr22_low_communication", Query::Intersection, "61ac868b7048f375"),
    ("rr22_malicious", Query::Intersection, "7189c829bdb7e0e0"),
    ("psty19", Query::Intersection, "b05d3350b4af4b99"),
    ("gmrss21_cardinality", Query::Cardinality, "695dc9048f33418e"),
    ("cardinality_low_communication", Query::Cardinality, "9ef51a39eb0e0241"),
    ("private_id_oprf", Query::PrivateId, "49915f11b0a34a41"),
    ("private_id_low_communication", Query::PrivateId, "e5dc8f699ad9b6c6"),
];

fn digest(id: &str, query: Query) -> String {
    let (x, y) = overlapping(90, 110, 40);
    let session = SessionId::from_bytes([7; 32]);
    let params = PsiParams::new(session, 90, 110, Learns::Both).unwrap().with_query(query);
    let [sent, received] = [Role::Sender, Role::Receiver].map(Transcript::new);
    let runner = Runner { transcripts: vec![sent.clone(), received.clone()], ..Runner::default() };
    let protocol = find(id).unwrap();
    let sender = protocol.party(Role::Sender, params, Arc::new(x)).unwrap();
    let receiver = protocol.party(Role::Receiver, params, Arc::new(y)).unwrap();
    let run = runner.run(sender, receiver);
    assert!(run.sender.output.is_ok() && run.receiver.output.is_ok(), "{id}");
    let parts: Vec<Vec<u8>> = [sent, received].iter().flat_map(Transcript::messages).collect();
    let parts: Vec<&[u8]> = parts.iter().map(|message| &message[..]).collect();
    let digest = derive("vesica testkit transcript", &parts);
    digest[..8].iter().map(|byte| format!("{byte:02x}")).collect()
}

#[test]
fn transcripts_under_fixed_seeds_are_the_recorded_ones() {
    let found: Vec<String> =
        RECORDED.iter().map(|(id, query, _)| format!("{id} {}", digest(id, *query))).collect();
    let recorded: Vec<String> =
        RECORDED.iter().map(|(id, _, recorded)| format!("{id} {recorded}")).collect();
    assert_eq!(found, recorded);
}
