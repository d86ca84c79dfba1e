//! The selective-failure attack on the enhanced protocol of C. Dong, L. Chen and Z. Wen, ACM CCS
//! 2013, §5 (found by M. Lambæk, and by P. Rindal and M. Rosulek), on a simulation of its steps
//! with an ideal transfer. Because of it that protocol is not in the catalogue. `gbf_malicious`
//! tests the repaired protocol against this attack.

use vesica_core::Block;
use vesica_simd::aes::Aes128;

/// The field of the secret sharing.
const P: u128 = (1 << 61) - 1;

/// The server's strings for one slot: a share of the key, and the slot's string encrypted.
#[derive(Clone)]
struct Pair {
    share: u128,
    encrypted: Block,
}

/// E: a block cipher that can be inverted with what this project has: four Feistel rounds on AES.
struct Cipher([Aes128; 4]);

impl Cipher {
    fn new(key: u128) -> Self {
        Self(std::array::from_fn(|i| Aes128::new(Block::new(key | (i as u128 + 1) << 64))))
    }

    fn round(&self, i: usize, half: u64) -> u64 {
        self.0[i].encrypt_block(Block::new(u128::from(half))).get() as u64
    }

    fn encrypt(&self, block: Block) -> Block {
        let (mut left, mut right) = ((block.get() >> 64) as u64, block.get() as u64);
        for i in 0..4 {
            (left, right) = (right, left ^ self.round(i, right));
        }
        Block::new(u128::from(left) << 64 | u128::from(right))
    }

    fn decrypt(&self, block: Block) -> Block {
        let (mut left, mut right) = ((block.get() >> 64) as u64, block.get() as u64);
        for i in (0..4).rev() {
            (left, right) = (right ^ self.round(i, left), left);
        }
        Block::new(u128::from(left) << 64 | u128::from(right))
    }
}

fn power(base: u128, mut exponent: u128) -> u128 {
    let (mut base, mut result) = (base, 1);
    while exponent > 0 {
        if exponent & 1 == 1 {
            result = result * base % P;
        }
        base = base * base % P;
        exponent >>= 1;
    }
    result
}

/// Step 2: the server shares its key, any half of the shares giving it, and encrypts r_i ‖ GBF_i.
fn server(m: usize, prefixes: &[u64]) -> Vec<Pair> {
    let random = |i: u64| Aes128::new(Block::new(77)).encrypt_block(Block::new(i.into())).get();
    let coefficients: Vec<u128> = (0..m as u64 / 2).map(|i| random(i) % P).collect();
    let cipher = Cipher::new(coefficients[0]);
    let share = |x: u128| coefficients.iter().rev().fold(0, |sum, c| (sum * x + c) % P);
    (0..m)
        .map(|i| {
            let string = random(1000 + i as u64) as u64;
            let plain = u128::from(prefixes[i]) << 64 | u128::from(string);
            Pair { share: share(i as u128 + 1), encrypted: cipher.encrypt(Block::new(plain)) }
        })
        .collect()
}

/// Steps 3 and 4: the client gets one string of each pair, recovers the key and checks every
/// prefix. `None` is its abort.
fn client(filter: &[bool], prefixes: &[u64], pairs: &[Pair]) -> Option<Vec<u64>> {
    let needed = filter.len() / 2;
    let zeros = (0..filter.len()).filter(|i| !filter[*i]).take(needed);
    let points: Vec<(u128, u128)> = zeros.map(|i| (i as u128 + 1, pairs[i].share)).collect();
    assert_eq!(points.len(), needed, "half of the slots are zeros");
    let mut key = 0;
    for (x, share) in &points {
        let others = points.iter().filter(|(other, _)| other != x);
        let factors = others.map(|(other, _)| other * power((P + other - x) % P, P - 2) % P);
        key = (key + factors.fold(*share, |product, factor| product * factor % P)) % P;
    }
    let cipher = Cipher::new(key);
    let ones = (0..filter.len()).filter(|i| filter[*i]);
    ones.map(|i| {
        let plain = cipher.decrypt(pairs[i].encrypted).get();
        ((plain >> 64) as u64 == prefixes[i]).then_some(plain as u64)
    })
    .collect()
}

fn filter(m: usize, seed: u64) -> Vec<bool> {
    let random = Aes128::new(Block::new(seed.into()));
    (0..m).map(|i| i % 2 == 0 && random.encrypt_block(Block::new(i as u128)).bit(0)).collect()
}

#[test]
fn honest_parties_of_the_original_protocol_end_well() {
    let prefixes: Vec<u64> = (0..64).map(|i| i * 0x9e37_79b9).collect();
    let filter = filter(64, 1);
    let strings = client(&filter, &prefixes, &server(64, &prefixes));
    assert_eq!(strings.map(|strings| strings.len()), Some(filter.iter().filter(|b| **b).count()));
}

/// The server spoils the encrypted string of one slot: the client aborts if and only if its filter
/// has a one there. So the server learns any slot it likes, and with it whether an item may be in
/// the client's set.
#[test]
fn the_original_protocol_tells_the_server_a_slot_of_the_filter() {
    let m = 64;
    let prefixes: Vec<u64> = (0..m as u64).map(|i| i * 0x9e37_79b9).collect();
    for seed in 1..4 {
        let filter = filter(m, seed);
        let learned: Vec<bool> = (0..m)
            .map(|i| {
                let mut pairs = server(m, &prefixes);
                pairs[i].encrypted ^= Block::ONE;
                client(&filter, &prefixes, &pairs).is_none()
            })
            .collect();
        assert_eq!(learned, filter);
        assert!(filter.contains(&true));
    }
}

/// Spoiled shares tell the zeros: the key is wrong if one of them was used.
#[test]
fn the_sharing_of_the_key_does_not_help() {
    let m = 64;
    let prefixes: Vec<u64> = (0..m as u64).map(|i| i * 0x9e37_79b9).collect();
    let filter = filter(m, 1);
    let used: Vec<usize> = (0..m).filter(|i| !filter[*i]).take(m / 2).collect();
    for i in 0..m {
        let mut pairs = server(m, &prefixes);
        pairs[i].share = (pairs[i].share + 1) % P;
        let aborts = client(&filter, &prefixes, &pairs).is_none();
        assert_eq!(aborts, used.contains(&i), "slot {i}");
    }
}
