//! Counts the gates of the protocols that evaluate a circuit, by running the circuits on the
//! counting evaluator.

use crate::measure::BenchError;
use serde::Serialize;
use vesica_circuit::gadgets::{
    add, equal, hamming_weight, match_neighbours, merge_bitonic, permute, select_matches, sort,
    sort_largest,
};
use vesica_circuit::{Bins, Computation, Counted, Counting, Gates, Known, gmw, yao};
use vesica_core::{Result, Runs};
use vesica_hashing::{Locations, Table, max_load};
use vesica_modular::paillier::shuffle::mask_bits;
use vesica_switching::Network;

/// Windows for each match, where the number of matches is bounded in advance.
const WINDOWS_PER_MATCH: usize = 16;

/// Largest domain of bit vectors, as a power of two.
const MAX_DOMAIN_LOG: u32 = 24;

/// The evaluator, which decides between fewer gates and less depth.
#[derive(Clone, Copy, Serialize)]
#[serde(rename_all = "lowercase")]
enum Engine {
    Yao,
    Gmw,
}

impl Engine {
    fn counting(self) -> Counting {
        match self {
            Engine::Yao => yao::counting(),
            Engine::Gmw => gmw::counting(),
        }
    }
}

/// The counts of one circuit.
#[derive(Serialize)]
struct CircuitCount {
    /// The protocol, without its engine.
    circuit: &'static str,
    engine: Engine,
    item_bits: u32,
    /// Items of each set; of the domain, for bit vectors.
    n: usize,
    /// AND gates; on shares, gates in bins are computed by transfers and not counted.
    ands: u64,
    one_sided: u64,
    depth: u64,
    /// Calls for gates; on shares each is a round.
    rounds: u64,
    parts: Vec<PartCount>,
    /// Slots and width of the comparisons in bins.
    bins: Vec<BinsCount>,
    /// AND gates that counting the matches takes in addition.
    audit_ands: u64,
}

/// The counts of one part.
#[derive(Serialize)]
struct PartCount {
    name: &'static str,
    ands: u64,
    one_sided: u64,
}

/// One comparison in bins.
#[derive(Serialize)]
struct BinsCount {
    bins: usize,
    slots: usize,
    width: usize,
}

/// Counts part by part.
struct Parts {
    counting: Counting,
    parts: Vec<PartCount>,
    bins: Vec<BinsCount>,
}

impl Parts {
    fn new(engine: Engine) -> Self {
        Self { counting: engine.counting(), parts: Vec::new(), bins: Vec::new() }
    }

    fn part<T>(
        &mut self,
        name: &'static str,
        run: impl FnOnce(&mut Counting) -> Result<T>,
    ) -> Result<T> {
        let before = self.counting.count();
        let result = run(&mut self.counting)?;
        let after = self.counting.count();
        let (ands, one_sided) = (after.ands - before.ands, after.one_sided - before.one_sided);
        self.parts.push(PartCount { name, ands, one_sided });
        Ok(result)
    }

    /// A comparison of a value with `slots` others in each of `count` bins.
    fn in_bins(
        &mut self,
        name: &'static str,
        count: usize,
        slots: usize,
        width: u32,
    ) -> Result<()> {
        let width = width as usize;
        self.bins.push(BinsCount { bins: count, slots, width });
        // More slots than a bin may have become several bins with the same value.
        let (groups, rest) = (slots / Bins::MAX_SLOTS, slots % Bins::MAX_SLOTS);
        let whole = Bins { count: count * groups, slots: Bins::MAX_SLOTS, width };
        let last = Bins { count, slots: rest, width };
        self.part(name, |c| {
            for bins in [whole, last].iter().filter(|bins| bins.count * bins.slots > 0) {
                c.equal_in_bins(bins, None, 0, &mut |_, _, _| Ok(()))?;
            }
            Ok(())
        })
    }

    /// The circuit as a whole, and the gates for counting `matches` lanes.
    fn whole(
        self,
        circuit: &'static str,
        engine: Engine,
        item_bits: u32,
        n: usize,
        matches: usize,
    ) -> Result<CircuitCount> {
        let mut audit = engine.counting();
        hamming_weight(&mut audit, &Counted::input(matches))?;
        let count = self.counting.count();
        Ok(CircuitCount {
            circuit,
            engine,
            item_bits,
            n,
            ands: count.ands,
            one_sided: count.one_sided,
            depth: count.depth,
            rounds: count.rounds,
            parts: self.parts,
            bins: self.bins,
            audit_ands: audit.count().ands,
        })
    }
}

/// The circuits for two sets of each of these sizes, as JSON; `only` those whose name contains the
/// text.
pub(crate) fn to_json(
    item_bits: u32,
    sizes: &[usize],
    only: Option<&str>,
) -> std::result::Result<String, BenchError> {
    let wants = |name: &str| only.is_none_or(|word| name.contains(word));
    let mut counts = Vec::new();
    for engine in [Engine::Yao, Engine::Gmw] {
        if wants("bwa") && item_bits <= MAX_DOMAIN_LOG {
            counts.push(bwa(engine, item_bits)?);
        }
        for &n in sizes {
            if wants("pwc") {
                counts.push(pwc(engine, item_bits, n)?);
            }
            for (name, shuffle) in [
                ("scs_wn", Shuffle::Waksman),
                ("scs_sort", Shuffle::Sort),
                ("scs_he", Shuffle::Add),
                // What `scs_by_count` does with as few matches.
                ("scs_sort_blocks", Shuffle::SortBlocks),
            ] {
                if wants(name) {
                    counts.push(scs(name, shuffle, engine, item_bits, n)?);
                }
            }
            if wants("circuit_phasing") {
                counts.push(circuit_phasing(engine, item_bits, n)?);
            }
        }
    }
    Ok(serde_json::to_string_pretty(&counts)?)
}

/// One item of the domain per lane.
fn bwa(engine: Engine, item_bits: u32) -> Result<CircuitCount> {
    let len = 1 << item_bits;
    let mut parts = Parts::new(engine);
    parts.part("and", |c| {
        c.and_known(&[(Known::Theirs { len }, &[&Counted::input(len)])]).map(drop)
    })?;
    parts.whole("bwa", engine, item_bits, len, len)
}

/// All pairs, without early reveal.
fn pwc(engine: Engine, item_bits: u32, n: usize) -> Result<CircuitCount> {
    let [x, y] = [(); 2].map(|()| Counted::inputs(item_bits as usize, n * n));
    let mut parts = Parts::new(engine);
    parts.part("compare", |c| equal(c, &x, &y))?;
    parts.whole("pwc", engine, item_bits, n, n)
}

#[derive(Clone, Copy)]
enum Shuffle {
    Waksman,
    Sort,
    /// For at most n / [`WINDOWS_PER_MATCH`] matches.
    SortBlocks,
    /// Adds masks; the rest is not a circuit.
    Add,
}

/// Merge, filter, shuffle.
fn scs(
    name: &'static str,
    shuffle: Shuffle,
    engine: Engine,
    item_bits: u32,
    n: usize,
) -> Result<CircuitCount> {
    let width = item_bits as usize;
    let mut parts = Parts::new(engine);
    let mut word = Counted::inputs(width, 2 * n);
    parts.part("merge", |c| merge_bitonic(c, width, &mut word))?;
    let mut items = parts.part("filter", |c| {
        let windows = match_neighbours(c, width, &word, 0, 2 * n)?;
        select_matches(c, &windows)
    })?;
    parts.part("shuffle", |c| match shuffle {
        Shuffle::Waksman => permute(c, &Network::waksman(n), None, items).map(drop),
        Shuffle::Sort => sort(c, width, &mut items),
        Shuffle::SortBlocks => {
            sort_largest(c, width, &items, (n / WINDOWS_PER_MATCH).max(1)).map(drop)
        }
        Shuffle::Add => {
            let masks = mask_bits(item_bits, n) as usize;
            items.resize(masks, Counted::input(n));
            add(c, &items, &Counted::inputs(masks, n)).map(drop)
        }
    })?;
    parts.whole(name, engine, item_bits, n, n)
}

/// A comparison for each slot of each bin, and for each item with each place of the stash.
fn circuit_phasing(engine: Engine, item_bits: u32, n: usize) -> Result<CircuitCount> {
    let table = Table::phasing_two_way(n);
    let slots = max_load(table.functions() * n, table.bins(), Runs::ONE);
    let width = Locations::permuted_value_bits(&table, item_bits);
    let mut parts = Parts::new(engine);
    parts.in_bins("bins", table.bins(), slots, width)?;
    parts.in_bins("stash", table.stash(), n, item_bits)?;
    parts.whole("circuit_phasing", engine, item_bits, n, table.bins() + table.stash())
}

#[cfg(test)]
mod tests {
    use super::*;

    const SIGMA: u64 = 32;

    #[test]
    fn sorting_comparing_and_shuffling_takes_the_gates_of_the_papers_table() {
        for log in [1_u32, 8, 10, 12] {
            let (n, log) = (1_u64 << log, u64::from(log));
            let count = scs("scs_wn", Shuffle::Waksman, Engine::Yao, 32, n as usize).unwrap();
            let of = |name| count.parts.iter().find(|part| part.name == name).unwrap();
            assert_eq!(of("merge").ands, 2 * SIGMA * n * (log + 1));
            assert_eq!(of("filter").ands, (3 * n - 1) * SIGMA - n);
            assert_eq!(of("shuffle").one_sided, SIGMA * (n * log - n + 1));
            assert_eq!(count.audit_ands, n - 1);
        }
        let count = scs("scs_wn", Shuffle::Waksman, Engine::Yao, 32, 1 << 12).unwrap();
        assert_eq!(count.ands + count.one_sided, 5_238_784, "Phasing, Table 6");
    }

    #[test]
    fn blocks_take_a_sorter_fewer_than_there_are_blocks_of_matches() {
        let count = scs("scs_sort_blocks", Shuffle::SortBlocks, Engine::Yao, 32, 1 << 10).unwrap();
        // 15 sorters of 2^7 lanes, (k² − k + 4)·2^(k−2) − 1 two-sorters each.
        assert_eq!(count.parts[2].ands, 15 * (46 * 32 - 1) * 2 * SIGMA);
    }

    #[test]
    fn pairs_and_domains_take_the_gates_of_the_papers_table() {
        let pairs = pwc(Engine::Yao, 32, 100).unwrap();
        assert_eq!(pairs.ands, 100 * 100 * (SIGMA - 1));
        let domain = bwa(Engine::Yao, 16).unwrap();
        assert_eq!((domain.one_sided, domain.audit_ands), (1 << 16, (1 << 16) - 1));
    }

    #[test]
    fn bins_take_a_comparison_for_each_slot_and_stash_item() {
        let n = 1 << 8;
        let count = circuit_phasing(Engine::Yao, 32, n).unwrap();
        let table = Table::phasing_two_way(n);
        let (slots, width) = (count.bins[0].slots, count.bins[0].width);
        let expected = table.bins() * slots * (width - 1) + table.stash() * n * 31;
        assert_eq!(count.ands, expected as u64);
        assert_eq!(count.depth, 5, "the paper's");
    }
}
