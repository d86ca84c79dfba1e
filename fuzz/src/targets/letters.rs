//! Messages between parties through a helper: hellos, shares, sealed bodies.

use super::{Target, no_seeds};
use crate::input::Input;
use std::sync::OnceLock;
use vesica_link::letters::{HELLO_LEN, LETTER_LEN, Meeting, Met, SEAL_LEN, Sealer};
use vesica_link::{Identity, PublicIdentity, fuzzing};

pub(super) const LETTERS: Target =
    Target { name: "letters", run: letters, seeds: no_seeds, tokens: &[], max_len: 4096 };

const CONTEXT: [u8; 32] = [5; 32];
const NOTE: &[u8] = b"\x07";
const SEALED_LABEL: &str = "vesica fuzz 2026 sealed body";

/// Two parties after their meeting.
struct Pair {
    identities: [Identity; 2],
    parties: [PublicIdentity; 2],
    meetings: [Meeting; 2],
    hellos: [Vec<u8>; 2],
    met: [Met; 2],
    secret: [u8; 32],
}

fn pair() -> &'static Pair {
    static PAIR: OnceLock<Pair> = OnceLock::new();
    PAIR.get_or_init(|| {
        let identities = [0, 1].map(|_| Identity::generate().expect("the system is random"));
        let meetings = [0, 1].map(|_| Meeting::new().expect("the system is random"));
        let parties = identities.each_ref().map(Identity::public);
        let hellos = [0, 1].map(|i| meetings[i].hello(&identities[i], &CONTEXT, NOTE));
        let met = [0, 1].map(|i| {
            meetings[i].meet(i, &parties, &CONTEXT, &hellos, NOTE.len()).expect("they are honest")
        });
        let secret = met[0].toss(&[Vec::new(), met[1].shares()]).expect("they are honest");
        let secret = *secret.expose();
        Pair { identities, parties, meetings, hellos, met, secret }
    })
}

/// A body, and its difference from an honest one.
fn letters(bytes: &[u8]) {
    let pair = pair();
    let mut input = Input::new(bytes);
    match input.byte() % 6 {
        0 => meet(pair, damaged(&pair.hellos[1], &mut input)),
        1 => {
            // Signed by the party itself, with any content.
            let honest = &pair.hellos[1][NOTE.len()..HELLO_LEN - 64 + NOTE.len()];
            let keys = damaged(honest, &mut input);
            meet(pair, fuzzing::hello_of(&pair.identities[1], &CONTEXT, NOTE, &keys));
        }
        2 => {
            let honest = pair.met[1].shares();
            assert_eq!(honest.len(), LETTER_LEN);
            let shares = damaged(&honest, &mut input);
            let is_honest = shares == honest;
            let tossed = pair.met[0].toss(&[Vec::new(), shares]);
            assert_eq!(tossed.is_ok(), is_honest, "a share that was changed does not open");
        }
        3 => {
            let sealer = Sealer::new(&pair.secret, SEALED_LABEL, 1);
            let (part, body) = (input.u32(), input.piece().to_vec());
            let sealed = sealer.seal(part, body.clone());
            assert_eq!(sealed.len(), body.len() + SEAL_LEN);
            let changed = damaged(&sealed, &mut input);
            let is_same = changed == sealed;
            let opened = sealer.open(part, changed).ok();
            assert_eq!(opened, is_same.then_some(body), "what was sealed, or nothing");
        }
        4 => {
            let kept = pair.meetings[0].to_bytes();
            let changed = damaged(&kept, &mut input);
            let is_same = changed == *kept;
            let read = Meeting::from_bytes(&changed);
            assert_eq!(read.is_some(), is_same, "what was kept, or nothing");
        }
        _ => {
            let body = input.rest().to_vec();
            assert!(Meeting::from_bytes(&body).is_none(), "random input has no valid checksum");
            assert!(pair.met[0].toss(&[Vec::new(), body.clone()]).is_err());
            meet(pair, body);
        }
    }
}

fn meet(pair: &Pair, hello: Vec<u8>) {
    let hellos = [pair.hellos[0].clone(), hello];
    match pair.meetings[0].meet(0, &pair.parties, &CONTEXT, &hellos, NOTE.len()) {
        Ok(met) => {
            assert_eq!((met.note(1), met.shares().len()), (NOTE, LETTER_LEN));
            let is_honest = hellos == pair.hellos;
            let tossed = met.toss(&[Vec::new(), pair.met[1].shares()]);
            assert_eq!(tossed.is_ok(), is_honest, "parties that saw other hellos do not agree");
        }
        Err(error) => drop(error.to_string()),
    }
}

fn damaged(honest: &[u8], input: &mut Input<'_>) -> Vec<u8> {
    let mut bytes = honest.to_vec();
    while !input.is_empty() {
        input.damage(&mut bytes);
    }
    bytes
}
