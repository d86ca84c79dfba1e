//! Several threads of a party.

use super::support::{Setting, Transcript};
use super::{Circuit, Opening, clear, garbled_in, random_bits, random_word};
use rand::SeedableRng;
use rand::rngs::StdRng;
use vesica_circuit::{Gates, Known, Lanes, Reveal, gadgets};
use vesica_core::{Result, Role};
use vesica_ot::Bits;

/// Layers that several threads share: a two-sorter, a comparison, and switches that the generator
/// sets.
#[derive(Clone, Copy)]
struct Layers;

impl Circuit for Layers {
    fn evaluate<G: Gates>(
        self,
        g: &mut G,
        wires: Vec<G::Wires>,
        generator: bool,
    ) -> Result<Vec<G::Wires>> {
        let len = wires[0].len();
        let (a, b) = wires.split_at(wires.len() / 2);
        let [a, b] = gadgets::sort_2(g, a.len() - 1, a, b)?;
        let same = gadgets::equal(g, &a[..2], &b[..2])?;
        let masked = gadgets::mask(g, &g.not(&same), &a)?;
        let bits = random_bits(&mut StdRng::seed_from_u64(1), len);
        let known = if generator { Known::Mine(&bits) } else { Known::Theirs { len } };
        let word: Vec<_> = masked.iter().chain(&b).collect();
        let mut found = g.and_known(&[(known, &word), (known, &word[..3])])?.concat();
        found.push(same);
        Ok(found)
    }
}

/// What both parties sent, message by message, and what the receiver learned.
fn sent_by(threads: [usize; 2], x: &[Bits], y: &[Bits]) -> ([Vec<Vec<u8>>; 2], Vec<Bits>) {
    let transcripts = [Role::Sender, Role::Receiver].map(Transcript::new);
    let setting = Setting {
        threads: threads[0],
        receiver_threads: Some(threads[1]),
        transcripts: transcripts.to_vec(),
        ..Setting::default()
    };
    let (_, found) = garbled_in(&setting, Layers, x, y, Opening::To(Reveal::Receiver)).unwrap();
    (transcripts.map(|transcript| transcript.messages()), found.unwrap())
}

#[test]
fn several_threads_send_the_bytes_of_one_and_find_the_same() {
    // Lanes that threads share unevenly, that end within a kernel, and that take several messages.
    for len in [400, 1000, 9001] {
        let (x, y) = (random_word(1, 12, len), random_word(2, 12, len));
        let (sent, found) = sent_by([1, 1], &x, &y);
        assert!(found == clear(Layers, &x, &y), "{len} lanes");
        assert!(sent.iter().all(|messages| !messages.is_empty()), "{len} lanes");
        for threads in [[3, 3], [2, 1], [1, 4]] {
            let (also_sent, also_found) = sent_by(threads, &x, &y);
            assert!(also_found == found, "{len} lanes, {threads:?} threads");
            // Not `assert_eq`, which would print megabytes.
            assert!(also_sent == sent, "{len} lanes, {threads:?} threads");
        }
    }
}
