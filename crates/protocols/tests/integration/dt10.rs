//! What peers of the De Cristofaro–Tsudik protocols may not send.

use rand::SeedableRng;
use rand_chacha::ChaCha20Rng;
use std::sync::Arc;
use std::time::Instant;
use vesica_core::{Error, Learns, Misbehaviour, PsiParams, Result, Role, SessionId};
use vesica_modular::modp::{Group, Prime as SafePrime};
use vesica_modular::rsa::{KeySize, PUBLIC_EXPONENT, Prime, PrivateKey};
use vesica_modular::{Exponent, Modulus, Residue};
use vesica_net::Context;
use vesica_protocols::{Output, Party, find};
use vesica_testkit::sets::{items, overlapping};
use vesica_testkit::{Outcomes, run};

const N_X: u64 = 3;
const N_Y: u64 = 2;

/// A party that runs a closure.
struct Deviating<F>(F);

impl<F: FnOnce(&mut Context) -> Result<()> + Send> Party for Deviating<F> {
    fn run(self: Box<Self>, ctx: &mut Context) -> Result<Output> {
        (self.0)(ctx)?;
        ctx.finish()?;
        Ok(Output::Nothing)
    }
}

fn params() -> PsiParams {
    PsiParams::new(SessionId::from_bytes([1; 32]), N_X, N_Y, Learns::Receiver).unwrap()
}

fn against_receiver(
    id: &str,
    deviating: impl FnOnce(&mut Context) -> Result<()> + Send + 'static,
) -> Outcomes {
    let receiver =
        find(id).unwrap().party(Role::Receiver, params(), Arc::new(items(0..N_Y))).unwrap();
    run(Box::new(Deviating(deviating)), receiver)
}

fn against_sender(
    id: &str,
    deviating: impl FnOnce(&mut Context) -> Result<()> + Send + 'static,
) -> Outcomes {
    let sender = find(id).unwrap().party(Role::Sender, params(), Arc::new(items(0..N_X))).unwrap();
    run(sender, Box::new(Deviating(deviating)))
}

fn misbehaved<T>(kind: Misbehaviour) -> Result<T> {
    Err(Error::PeerMisbehaved(kind))
}

fn encode(residue: &Residue) -> Vec<u8> {
    let mut bytes = Vec::new();
    residue.encode(&mut bytes);
    bytes
}

/// A number of `len` bytes.
fn small(value: u8, len: usize) -> Vec<u8> {
    let mut bytes = vec![0; len];
    bytes[len - 1] = value;
    bytes
}

fn rsa_key() -> PrivateKey {
    let mut rng = ChaCha20Rng::from_seed([5; 32]);
    let [p, q] = [(); 2].map(|()| Prime::random(KeySize::Bits2048, &mut rng));
    PrivateKey::new(&p, &q).unwrap()
}

#[test]
fn public_keys_that_are_even_tiny_or_with_a_bad_exponent_are_refused() {
    let good = rsa_key().public().encode();
    let mut even = good.clone();
    even[255] ^= 1;
    let mut tiny = small(15, 256);
    tiny.extend_from_slice(&PUBLIC_EXPONENT.to_be_bytes());
    let mut half = vec![0; 128];
    half.extend_from_slice(&good[128..]);
    let mut even_exponent = good.clone();
    even_exponent[259] ^= 1;
    let mut exponent_one = good.clone();
    exponent_one[256..].copy_from_slice(&1u32.to_be_bytes());
    for bad in [even, tiny, half, even_exponent, exponent_one, vec![0; 260], vec![0xff; 260]] {
        let run = against_receiver("rsa_dt10", move |ctx| ctx.peer()?.send(&bad));
        assert_eq!(run.receiver.output, misbehaved(Misbehaviour::InvalidPublicKey));
        assert_eq!(run.receiver_bytes(), 0, "something was blinded under a bad key");
    }
}

#[test]
fn a_key_of_another_size_is_refused() {
    let good = rsa_key().public().encode();
    let run = against_receiver("rsa_dt10_3072", move |ctx| ctx.peer()?.send(&good));
    let wrong_len = Misbehaviour::WrongMessageLen { expected: 388, actual: 260 };
    assert_eq!(run.receiver.output, misbehaved(wrong_len));
}

#[test]
fn residues_outside_the_modulus_are_refused_by_the_signing_party() {
    let len = KeySize::Bits2048.len_bytes();
    for (bad, index) in [(None, 1), (Some(small(0, len)), 1), (Some(vec![0xff; len]), 1)] {
        let run = against_sender("rsa_dt10", move |ctx| {
            let key = ctx.peer()?.recv(KeySize::Bits2048.public_key_len())?;
            let n = key[..len].to_vec();
            let blinded = [small(2, len), bad.unwrap_or(n)].concat();
            ctx.peer()?.send(&blinded)
        });
        assert_eq!(run.sender.output, misbehaved(Misbehaviour::InvalidPoint { index }));
    }
}

#[test]
fn residues_outside_the_modulus_are_refused_by_the_blinding_party() {
    let len = KeySize::Bits2048.len_bytes();
    let n = rsa_key().public().modulus().to_be_bytes();
    for bad in [n, small(0, len)] {
        let run = against_receiver("rsa_dt10", move |ctx| {
            ctx.peer()?.send(&rsa_key().public().encode())?;
            ctx.peer()?.recv(N_Y as usize * len)?;
            ctx.peer()?.send(&[bad, small(2, len)].concat())
        });
        assert_eq!(run.receiver.output, misbehaved(Misbehaviour::InvalidPoint { index: 0 }));
    }
}

/// What the receiver sends is uniform under any key that passes, for any items: with other
/// randomness the same party sends something else, and never H(y) itself.
#[test]
fn blinded_items_differ_from_run_to_run() {
    let seen = |seed: u8| {
        let (tell, told) = std::sync::mpsc::channel();
        let receiver = find("rsa_dt10")
            .unwrap()
            .party(Role::Receiver, params(), Arc::new(items(0..N_Y)))
            .unwrap();
        let deviating = Deviating(move |ctx: &mut Context| {
            ctx.peer()?.send(&rsa_key().public().encode())?;
            let len = KeySize::Bits2048.len_bytes();
            tell.send(ctx.peer()?.recv(N_Y as usize * len)?).unwrap();
            Ok(())
        });
        let runner = vesica_testkit::Runner { seed, ..Default::default() };
        let _ = runner.run(Box::new(deviating), receiver);
        told.recv().unwrap()
    };
    assert_eq!(seen(1), seen(1), "the test has the randomness in its hand");
    let (one, two) = (seen(1), seen(2));
    assert!(one.chunks(256).zip(two.chunks(256)).all(|(one, two)| one != two));
}

/// The rows from Diffie–Hellman, and the lengths of their elements.
fn from_diffie_hellman() -> impl Iterator<Item = (&'static str, SafePrime, usize)> {
    [("dl_dt10", SafePrime::Bits2048), ("dl_dt10_3072", SafePrime::Bits3072)]
        .into_iter()
        .map(|(id, prime)| (id, prime, prime.element_len()))
}

#[test]
fn elements_of_order_one_and_two_and_numbers_out_of_range_are_refused() {
    for (id, prime, len) in from_diffie_hellman() {
        let p = Group::new(prime).modulus().to_be_bytes();
        let mut minus_one = p.clone();
        minus_one[len - 1] -= 1;
        for bad in [small(0, len), small(1, len), minus_one, p, vec![0xff; len]] {
            let (product, item, z) = (bad.clone(), bad.clone(), bad.clone());
            let run = against_sender(id, move |ctx| ctx.peer()?.send(&product));
            assert_eq!(run.sender.output, misbehaved(Misbehaviour::InvalidPoint { index: 0 }));

            let run = against_sender(id, move |ctx| {
                ctx.peer()?.send(&small(4, len))?;
                ctx.peer()?.send(&[small(9, len), item].concat())
            });
            assert_eq!(run.sender.output, misbehaved(Misbehaviour::InvalidPoint { index: 2 }));

            let run = against_receiver(id, move |ctx| {
                ctx.peer()?.send(&z)?;
                ctx.peer()?.recv(len)?;
                ctx.peer()?.recv(N_Y as usize * len).map(drop)
            });
            assert_eq!(run.receiver.output, misbehaved(Misbehaviour::InvalidPoint { index: 0 }));

            let run = against_receiver(id, move |ctx| {
                ctx.peer()?.send(&small(4, len))?;
                ctx.peer()?.recv(len)?;
                ctx.peer()?.recv(N_Y as usize * len)?;
                ctx.peer()?.send(&[small(9, len), bad].concat())
            });
            assert_eq!(run.receiver.output, misbehaved(Misbehaviour::InvalidPoint { index: 2 }));
        }
    }
}

/// With an odd exponent, half of the elements outside the group would show its lowest bit.
#[test]
fn powers_of_elements_outside_the_group_are_inside() {
    for (id, prime, len) in from_diffie_hellman() {
        let group = Group::new(prime);
        let is_square = {
            let (modulus, q) = (group.modulus().clone(), Arc::new(order(&group)));
            move |bytes: &[u8]| {
                let element = modulus.decode(bytes).unwrap();
                element.pow(&q).equals(&modulus.one())
            }
        };
        let outside = (2..50).find(|v| !is_square(&small(*v, len))).unwrap();
        let outside = small(outside, len);
        for seed in 0..4 {
            let (is_square, outside) = (is_square.clone(), outside.clone());
            let sender =
                find(id).unwrap().party(Role::Sender, params(), Arc::new(items(0..N_X))).unwrap();
            let deviating = Deviating(move |ctx: &mut Context| {
                ctx.peer()?.send(&outside)?;
                ctx.peer()?.send(&outside.repeat(N_Y as usize))?;
                ctx.peer()?.recv(len)?;
                let powers = ctx.peer()?.recv(N_Y as usize * len)?;
                assert!(powers.chunks(len).all(&is_square));
                Ok(())
            });
            let runner = vesica_testkit::Runner { seed, ..Default::default() };
            let run = runner.run(sender, Box::new(deviating));
            assert_eq!(run.receiver.output, Ok(Output::Nothing));
        }
    }
}

/// Masks hide which items were hashed also from who can take q-th powers: all that is sent is in
/// the group.
#[test]
fn everything_the_receiver_sends_lies_in_the_group() {
    for (id, prime, len) in from_diffie_hellman() {
        let (tell, told) = std::sync::mpsc::channel();
        let run = against_receiver(id, move |ctx| {
            let mut sent = ctx.peer()?.recv(len)?;
            sent.extend(ctx.peer()?.recv(N_Y as usize * len)?);
            tell.send(sent).unwrap();
            Ok(())
        });
        assert!(run.receiver.output.is_err(), "nothing came back");
        let group = Group::new(prime);
        let sent = told.recv().unwrap();
        assert_eq!(sent.len(), (1 + N_Y as usize) * len);
        let order = order(&group);
        for bytes in sent.chunks(len) {
            let element = group.decode(bytes).unwrap();
            assert!(element.pow(&order).equals(&group.modulus().one()));
            assert_eq!(encode(&element), bytes);
        }
    }
}

/// q = (p − 1)/2.
fn order(group: &Group) -> Exponent {
    let mut q = group.modulus().to_be_bytes();
    let mut carry = 0;
    for byte in &mut q {
        (*byte, carry) = (*byte >> 1 | carry << 7, *byte & 1);
    }
    Exponent::from_be_bytes(&q)
}

/// Seconds of one power with exponents of `exponent_len` bytes modulo a number of `len` bytes.
fn seconds_of_a_power(len: usize, exponent_len: usize) -> f64 {
    let modulus = Modulus::from_be_bytes(&vec![0xfb; len]).unwrap();
    let base = modulus.hash("test", &[]);
    let exponent = Exponent::from_be_bytes(&vec![0xa5; exponent_len]);
    let powers = 400;
    let start = Instant::now();
    let last = (0..powers).fold(base, |base, _| base.pow(&exponent));
    assert!(!last.equals(&modulus.one()));
    start.elapsed().as_secs_f64() / f64::from(powers)
}

#[test]
#[ignore = "slow: measures time, on a machine that has nothing else to do"]
fn a_run_takes_at_most_a_third_longer_than_its_exponentiations() {
    let n = 1 << 10;
    let of_an_item = [
        ("rsa_dt10", 2.0 * seconds_of_a_power(128, 128)),
        ("rsa_dt10_3072", 2.0 * seconds_of_a_power(192, 192)),
        ("dl_dt10", seconds_of_a_power(256, 32)),
        ("dl_dt10_3072", seconds_of_a_power(384, 36)),
    ];
    for (id, of_an_item) in of_an_item {
        let powers = 2.0 * n as f64 * of_an_item;
        let (x, y) = overlapping(n, n, n / 2);
        let params =
            PsiParams::new(SessionId::from_bytes([1; 32]), n, n, Learns::Receiver).unwrap();
        let row = find(id).unwrap();
        let (x, y) = (Arc::new(x), Arc::new(y));
        // The fastest of three: what else the machine does only adds to a run.
        let times = (0..3).map(|_| {
            let sender = row.party(Role::Sender, params, Arc::clone(&x)).unwrap();
            let receiver = row.party(Role::Receiver, params, Arc::clone(&y)).unwrap();
            let start = Instant::now();
            let run = run(sender, receiver);
            assert!(run.receiver.output.is_ok());
            start.elapsed().as_secs_f64()
        });
        let seconds = times.fold(f64::INFINITY, f64::min);
        #[expect(clippy::print_stdout, reason = "a measurement shows its figures")]
        {
            println!("{id} 2^10: {seconds:.2} s, its exponentiations {powers:.2} s");
        }
        assert!(seconds < 1.3 * powers, "{id}: {seconds} s");
    }
}
