//! Parties that toss a coin through a malicious helper.

use rand::{Rng, RngExt, SeedableRng};
use rand_chacha::ChaCha12Rng;
use vesica_link::letters::{
    HELLO_LEN, LETTER_LEN, LetterError, Meeting, Met, NOTE_MAX_LEN, SEAL_LEN, Sealer,
};
use vesica_link::{Identity, PublicIdentity};

const CONTEXT: [u8; 32] = [7; 32];
const NOTE_LEN: usize = 2;

/// The parties of one run, each with a new meeting.
struct Parties {
    identities: Vec<Identity>,
    parties: Vec<PublicIdentity>,
    meetings: Vec<Meeting>,
    hellos: Vec<Vec<u8>>,
}

impl Parties {
    fn of(count: usize) -> Self {
        Self::with((0..count).map(|_| Identity::generate().unwrap()).collect())
    }

    fn with(identities: Vec<Identity>) -> Self {
        let parties = identities.iter().map(Identity::public).collect();
        let meetings: Vec<_> = identities.iter().map(|_| Meeting::new().unwrap()).collect();
        let hellos = (0..identities.len())
            .map(|i| meetings[i].hello(&identities[i], &CONTEXT, &[i as u8, 99]))
            .collect();
        Self { identities, parties, meetings, hellos }
    }

    fn count(&self) -> usize {
        self.parties.len()
    }

    fn meet_over(&self, own: usize, hellos: &[Vec<u8>]) -> Result<Met, LetterError> {
        self.meetings[own].meet(own, &self.parties, &CONTEXT, hellos, NOTE_LEN)
    }

    fn meet(&self) -> Vec<Met> {
        (0..self.count()).map(|own| self.meet_over(own, &self.hellos).unwrap()).collect()
    }
}

fn toss(met: &Met, bodies: &[Vec<u8>]) -> Result<[u8; 32], LetterError> {
    met.toss(bodies).map(|secret| *secret.expose())
}

fn shares(met: &[Met]) -> Vec<Vec<u8>> {
    met.iter().map(Met::shares).collect()
}

#[test]
fn all_parties_toss_the_same_secret_and_read_all_notes() {
    let mut secrets = Vec::new();
    for count in 2..=16 {
        let run = Parties::of(count);
        let met = run.meet();
        let bodies = shares(&met);
        assert!(run.hellos.iter().all(|hello| hello.len() == HELLO_LEN + NOTE_LEN));
        assert!(bodies.iter().all(|body| body.len() == (count - 1) * LETTER_LEN));
        let secret = toss(&met[0], &bodies).unwrap();
        for (own, met) in met.iter().enumerate() {
            // A party's own body is not needed.
            let mut bodies = bodies.clone();
            bodies[own].clear();
            assert_eq!(toss(met, &bodies), Ok(secret));
            for party in 0..count {
                assert_eq!(met.note(party), [party as u8, 99]);
            }
        }
        secrets.push(secret);
    }
    secrets.sort();
    secrets.dedup();
    assert_eq!(secrets.len(), 15);
}

#[test]
fn the_secret_depends_on_the_share_of_each_party() {
    let run = Parties::of(3);
    let met = run.meet();
    let secret = toss(&met[0], &shares(&met)).unwrap();
    for renewed in 0..3 {
        let back = |meeting: &Meeting| Meeting::from_bytes(&meeting.to_bytes()).unwrap();
        let mut again = Parties {
            identities: run.identities.clone(),
            parties: run.parties.clone(),
            meetings: run.meetings.iter().map(back).collect(),
            hellos: run.hellos.clone(),
        };
        again.meetings[renewed] = Meeting::new().unwrap();
        again.hellos[renewed] =
            again.meetings[renewed].hello(&run.identities[renewed], &CONTEXT, &[0, 0]);
        let met = again.meet();
        assert_ne!(toss(&met[0], &shares(&met)).unwrap(), secret);
    }
}

#[test]
fn a_meeting_read_back_sends_the_same_hello_and_opens_the_same_letters() {
    let run = Parties::of(4);
    let met = run.meet();
    let bodies = shares(&met);
    let secret = toss(&met[0], &bodies).unwrap();
    for own in 0..4 {
        let file = run.meetings[own].to_bytes();
        assert_eq!(file.len(), Meeting::FILE_LEN);
        let back = Meeting::from_bytes(&file).unwrap();
        let hello = back.hello(&run.identities[own], &CONTEXT, &[own as u8, 99]);
        assert_eq!(hello, run.hellos[own]);
        let again = back.meet(own, &run.parties, &CONTEXT, &run.hellos, NOTE_LEN).unwrap();
        assert_eq!(toss(&again, &bodies), Ok(secret));
        assert_eq!(*back.to_bytes(), *file);
        // Sealing again gives other bytes, and the others still open them.
        let mut resealed = bodies.clone();
        resealed[own] = again.shares();
        assert_ne!(resealed[own], bodies[own]);
        assert_eq!(again.shares(), resealed[own]);
        for met in &met {
            assert_eq!(toss(met, &resealed), Ok(secret));
        }
    }
}

#[test]
fn a_damaged_file_is_not_a_meeting() {
    let file = Meeting::new().unwrap().to_bytes();
    for at in 0..file.len() {
        let mut damaged = file.clone();
        damaged[at] ^= 0x10;
        assert!(Meeting::from_bytes(&damaged).is_none(), "byte {at}");
        assert!(Meeting::from_bytes(&file[..at]).is_none(), "{at} bytes");
    }
    assert!(Meeting::from_bytes(&[&file[..], &[0]].concat()).is_none());
}

#[test]
fn the_helpers_view_contains_no_secret() {
    let run = Parties::of(3);
    let met = run.meet();
    let bodies = shares(&met);
    let seen = [run.hellos.concat(), bodies.concat()].concat();
    let holds = |part: &[u8]| seen.windows(part.len()).any(|window| window == part);
    assert!(!holds(&toss(&met[0], &bodies).unwrap()[..8]));
    for meeting in &run.meetings {
        let file = meeting.to_bytes();
        // The X25519 key, the secret vector of ML-KEM-768, its rejection value, and the share.
        for secret in [0..32, 32..32 + 1152, 2400..2432, 2432..2464] {
            assert!(!file[secret.clone()].chunks(8).any(holds), "{secret:?}");
        }
        // The encapsulation key is public and lies between them.
        assert!(holds(&file[32 + 1152..][..1184]));
        assert_eq!(format!("{meeting:?}"), "Meeting(..)");
    }
    assert_eq!(format!("{:?}", met[1]), "Met { own: 1, parties: 3, .. }");
}

#[test]
fn every_changed_byte_of_a_hello_is_caught_and_named() {
    let run = Parties::of(3);
    for at in 0..HELLO_LEN + NOTE_LEN {
        for party in 0..3 {
            let mut hellos = run.hellos.clone();
            hellos[party][at] ^= 1 << (at % 8);
            let fault = run.meet_over(0, &hellos).err();
            assert_eq!(fault, Some(LetterError::BadSignature { party }), "byte {at}");
        }
    }
}

#[test]
fn every_changed_byte_of_a_letter_to_us_is_caught_and_named() {
    let run = Parties::of(3);
    let met = run.meet();
    let bodies = shares(&met);
    for (own, met) in met.iter().enumerate() {
        for party in (0..3).filter(|party| *party != own) {
            let ours = if own < party { own } else { own - 1 } * LETTER_LEN;
            for at in 0..2 * LETTER_LEN {
                let mut changed = bodies.clone();
                changed[party][at] ^= 1 << (at % 8);
                let is_ours = (ours..ours + LETTER_LEN).contains(&at);
                let expected = is_ours.then_some(LetterError::NotSealedForUs { party });
                assert_eq!(toss(met, &changed).err(), expected, "byte {at}");
            }
        }
    }
}

#[test]
fn bodies_of_another_length_are_malformed() {
    let run = Parties::of(3);
    let met = run.meet();
    let bodies = shares(&met);
    let cut_or_grown = |body: &Vec<u8>| {
        let longer = [body.as_slice(), &[0]].concat();
        [Vec::new(), body[..body.len() - 1].to_vec(), body[1..].to_vec(), longer]
    };
    for party in 1..3 {
        for hello in cut_or_grown(&run.hellos[party]) {
            let mut hellos = run.hellos.clone();
            hellos[party] = hello;
            let fault = run.meet_over(0, &hellos).err();
            assert_eq!(fault, Some(LetterError::Malformed { party }));
        }
        for body in cut_or_grown(&bodies[party]) {
            let mut changed = bodies.clone();
            changed[party] = body;
            assert_eq!(toss(&met[0], &changed), Err(LetterError::Malformed { party }));
        }
    }
    // A note of another length is a hello of another length.
    let fault = run.meetings[0].meet(0, &run.parties, &CONTEXT, &run.hellos, NOTE_LEN + 1).err();
    assert_eq!(fault, Some(LetterError::Malformed { party: 0 }));
}

#[test]
fn a_hello_of_another_run_or_another_party_is_refused() {
    let run = Parties::of(3);
    let mut other = CONTEXT;
    other[31] ^= 1;
    let mut hellos = run.hellos.clone();
    hellos[1] = run.meetings[1].hello(&run.identities[1], &other, &[1, 99]);
    let refused = |party| Some(LetterError::BadSignature { party });
    assert_eq!(run.meet_over(0, &hellos).err(), refused(1));
    // Signed by another party, or in another party's place.
    hellos[1] = run.meetings[1].hello(&run.identities[2], &CONTEXT, &[1, 99]);
    assert_eq!(run.meet_over(0, &hellos).err(), refused(1));
    hellos.clone_from(&run.hellos);
    hellos.swap(1, 2);
    assert_eq!(run.meet_over(0, &hellos).err(), refused(1));
}

#[test]
fn an_old_hello_shown_as_ours_is_refused() {
    let run = Parties::of(2);
    let old = Parties::with(run.identities.clone());
    let hellos = [old.hellos[0].clone(), run.hellos[1].clone()];
    assert_eq!(run.meet_over(0, &hellos).err(), Some(LetterError::NotOurHello));
}

#[test]
fn parties_that_see_different_hellos_never_have_a_secret() {
    let mut rng = ChaCha12Rng::seed_from_u64(1);
    let (mut agreed, mut failed) = (0, 0);
    for _ in 0..40 {
        let count = rng.random_range(2..=4);
        // Two runs of the same parties with the same context; each party is in one of them.
        let run = Parties::of(count);
        let old = Parties::with(run.identities.clone());
        let views: Vec<Vec<Vec<u8>>> = (0..count)
            .map(|own| {
                (0..count)
                    .map(|party| {
                        let is_old = party != own && rng.random_bool(0.2);
                        if is_old { &old } else { &run }.hellos[party].clone()
                    })
                    .collect()
            })
            .collect();
        let met: Vec<_> = (0..count).map(|own| run.meet_over(own, &views[own]).unwrap()).collect();
        let bodies = shares(&met);
        for own in 0..count {
            let different = (0..count).find(|party| views[*party] != views[own]);
            match toss(&met[own], &bodies) {
                Ok(_) => {
                    agreed += 1;
                    assert_eq!(different, None);
                }
                Err(fault) => {
                    failed += 1;
                    let party = different.unwrap();
                    assert_eq!(fault, LetterError::NotSealedForUs { party });
                }
            }
        }
    }
    assert!(agreed > 10 && failed > 10, "{agreed} {failed}");
}

#[test]
fn a_complete_old_run_replayed_to_one_party_fails() {
    let run = Parties::of(2);
    let old = Parties::with(run.identities.clone());
    let old_bodies = shares(&old.meet());
    // The second party is absent: the helper replays its old messages.
    let met = run.meet_over(0, &[run.hellos[0].clone(), old.hellos[1].clone()]).unwrap();
    assert_eq!(toss(&met, &old_bodies), Err(LetterError::NotSealedForUs { party: 1 }));
}

#[test]
fn swapped_letters_do_not_open() {
    let run = Parties::of(4);
    let met = run.meet();
    let bodies = shares(&met);
    let mut swapped = bodies.clone();
    swapped.swap(1, 2);
    assert_eq!(toss(&met[0], &swapped), Err(LetterError::NotSealedForUs { party: 1 }));
    // Letters of one party to two others.
    let mut turned = bodies.clone();
    turned[1].rotate_left(LETTER_LEN);
    assert_eq!(toss(&met[0], &turned), Err(LetterError::NotSealedForUs { party: 1 }));
    // Our own letter to that party, returned to us as its letter.
    let mut reflected = bodies.clone();
    reflected[1].splice(..LETTER_LEN, bodies[0][..LETTER_LEN].iter().copied());
    assert_eq!(toss(&met[0], &reflected), Err(LetterError::NotSealedForUs { party: 1 }));
    // A letter of the same parties from another run.
    let other = Parties::with(run.identities.clone());
    let mut replayed = bodies;
    replayed[3] = shares(&other.meet()).swap_remove(3);
    assert_eq!(toss(&met[0], &replayed), Err(LetterError::NotSealedForUs { party: 3 }));
}

#[test]
fn parties_with_different_orders_have_no_secret() {
    let run = Parties::of(3);
    let first = run.meet_over(0, &run.hellos).unwrap();
    let order = [2, 1, 0];
    let parties = order.map(|i| run.parties[i]);
    let hellos = order.map(|i| run.hellos[i].clone());
    let third = run.meetings[2].meet(0, &parties, &CONTEXT, &hellos, NOTE_LEN).unwrap();
    let second = run.meet_over(1, &run.hellos).unwrap();
    let bodies = [first.shares(), second.shares(), third.shares()];
    assert_eq!(toss(&first, &bodies), Err(LetterError::NotSealedForUs { party: 2 }));
}

#[test]
fn wrong_numbers_of_parties_are_refused() {
    let run = Parties::of(17);
    let try_with = |own: usize, parties: &[PublicIdentity], hellos: &[Vec<u8>]| {
        run.meetings[0].meet(own, parties, &CONTEXT, hellos, NOTE_LEN).err()
    };
    let wrong = Some(LetterError::WrongParties);
    assert_eq!(try_with(0, &[], &[]), wrong);
    assert_eq!(try_with(0, &run.parties[..1], &run.hellos[..1]), wrong);
    assert_eq!(try_with(0, &run.parties, &run.hellos), wrong);
    assert_eq!(try_with(0, &run.parties[..3], &run.hellos[..2]), wrong);
    assert_eq!(try_with(3, &run.parties[..3], &run.hellos[..3]), wrong);
    let twice = [0, 1, 1].map(|i| run.parties[i]);
    let hellos = [0, 1, 1].map(|i| run.hellos[i].clone());
    assert_eq!(try_with(0, &twice, &hellos), wrong);
    assert_eq!(try_with(0, &run.parties[..16], &run.hellos[..16]), None);
    let met = Parties::of(3).meet();
    assert_eq!(toss(&met[0], &shares(&met)[..2]), Err(LetterError::WrongParties));
}

#[test]
#[should_panic(expected = "up to 64 bytes")]
fn a_note_above_its_limit_is_a_defect() {
    let (meeting, own) = (Meeting::new().unwrap(), Identity::generate().unwrap());
    assert_eq!(meeting.hello(&own, &CONTEXT, &[0; NOTE_MAX_LEN]).len(), HELLO_LEN + NOTE_MAX_LEN);
    meeting.hello(&own, &CONTEXT, &[0; NOTE_MAX_LEN + 1]);
}

#[test]
fn sealing_is_deterministic_and_bodies_open_unchanged() {
    let mut rng = ChaCha12Rng::seed_from_u64(2);
    let secret = [1; 32];
    let [sealing, opening] = [(); 2].map(|()| Sealer::new(&secret, "test", 3));
    for len in (0..70).chain([4096, 1 << 18]) {
        let mut body = vec![0; len];
        rng.fill_bytes(&mut body);
        let part = rng.random();
        let sealed = sealing.seal(part, body.clone());
        assert_eq!(sealed.len(), len + SEAL_LEN);
        assert_eq!(opening.seal(part, body.clone()), sealed);
        assert_eq!(opening.open(part, sealed), Ok(body));
    }
}

#[test]
fn a_moved_body_does_not_open() {
    let body = b"0123456789".to_vec();
    let sealer = Sealer::new(&[1; 32], "test", 3);
    let sealed = sealer.seal(5, body.clone());
    let fault = |party| Err(LetterError::NotSealedForUs { party });
    for part in [0, 4, 6, 5 << 8, u32::MAX] {
        assert_eq!(sealer.open(part, sealed.clone()), fault(3));
    }
    for (secret, label, from) in [([1; 32], "test", 4), ([1; 32], "other", 3), ([2; 32], "test", 3)]
    {
        let other = Sealer::new(&secret, label, from);
        assert_eq!(other.open(5, sealed.clone()), fault(usize::from(from)));
        assert_ne!(other.seal(5, body.clone()), sealed);
    }
    assert_eq!(sealer.open(5, sealed), Ok(body));
}

#[test]
fn a_changed_shortened_or_longer_body_does_not_open() {
    let sealer = Sealer::new(&[1; 32], "test", 0);
    let sealed = sealer.seal(0, (0..100).collect());
    let fault = Err(LetterError::NotSealedForUs { party: 0 });
    for at in 0..sealed.len() {
        for bit in 0..8 {
            let mut changed = sealed.clone();
            changed[at] ^= 1 << bit;
            assert_eq!(sealer.open(0, changed), fault, "byte {at}");
        }
        assert_eq!(sealer.open(0, sealed[..at].to_vec()), fault, "{at} bytes");
    }
    assert_eq!(sealer.open(0, [sealed.as_slice(), &[0]].concat()), fault);
}
