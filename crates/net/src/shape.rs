//! Bandwidth and delay of an emulated network, in user space, so that no root privileges are
//! needed.

use std::time::{Duration, Instant};

/// The two parameters of an emulated link, the same in both directions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shape {
    /// Rate in bits a second; `None` for unlimited.
    pub bits_per_second: Option<u64>,
    /// Time a byte takes in one direction; half of the round trip.
    pub one_way_delay: Duration,
}

impl Shape {
    /// No limit and no delay beyond the machine's own.
    pub const LOOPBACK: Shape = Shape { bits_per_second: None, one_way_delay: Duration::ZERO };
    /// 10 Gbit/s, 0.02 ms round trip.
    pub const LAN: Shape =
        Shape { bits_per_second: Some(10_000_000_000), one_way_delay: Duration::from_micros(10) };
    /// 1 Gbit/s, 1 ms round trip.
    pub const GIGABIT: Shape =
        Shape { bits_per_second: Some(1_000_000_000), one_way_delay: Duration::from_micros(500) };
    /// 100 Mbit/s, 1 ms round trip.
    pub const FAST_ETHERNET: Shape =
        Shape { bits_per_second: Some(100_000_000), one_way_delay: Duration::from_micros(500) };
    /// 400 Mbit/s, which are 50 MB/s, and 96 ms round trip.
    pub const TRANSATLANTIC: Shape =
        Shape { bits_per_second: Some(400_000_000), one_way_delay: Duration::from_millis(48) };
    /// 50 Mbit/s, 80 ms round trip.
    pub const WAN: Shape =
        Shape { bits_per_second: Some(50_000_000), one_way_delay: Duration::from_millis(40) };

    /// The shapes by name, each with a description in words.
    pub const NAMED: [(&'static str, &'static str, Shape); 6] = [
        ("loopback", "The machine's own loopback", Shape::LOOPBACK),
        ("lan", "10 Gbit/s, 0.02 ms round trip", Shape::LAN),
        ("gigabit", "1 Gbit/s, 1 ms round trip", Shape::GIGABIT),
        ("fast-ethernet", "100 Mbit/s, 1 ms round trip", Shape::FAST_ETHERNET),
        ("transatlantic", "400 Mbit/s, 96 ms round trip", Shape::TRANSATLANTIC),
        ("wan", "50 Mbit/s, 80 ms round trip", Shape::WAN),
    ];

    /// Whether a network of this shape has no limit and no delay.
    pub fn is_unshaped(&self) -> bool {
        self.bits_per_second.is_none() && self.one_way_delay.is_zero()
    }
}

/// Computes when bytes that enter one direction of a shaped link leave it.
///
/// The link sends one byte after the other: a block waits for the blocks before it, then takes `len
/// · 8 / rate` to be sent and `one_way_delay` to travel.
#[derive(Clone, Debug)]
pub struct Pacer {
    shape: Shape,
    free_at: Option<Instant>,
}

impl Pacer {
    /// A pacer for one direction of a link of this shape.
    pub fn new(shape: Shape) -> Self {
        Self { shape, free_at: None }
    }

    /// When `len` bytes sent at `now` have arrived at the other end.
    pub fn release_at(&mut self, now: Instant, len: usize) -> Instant {
        let start = self.free_at.map_or(now, |free| free.max(now));
        let sent = match self.shape.bits_per_second {
            Some(rate) => {
                let nanos = (len as u128 * 8 * 1_000_000_000) / u128::from(rate.max(1));
                start + Duration::from_nanos(u64::try_from(nanos).unwrap_or(u64::MAX))
            }
            None => start,
        };
        self.free_at = Some(sent);
        sent + self.shape.one_way_delay
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_block_takes_its_length_over_the_rate_plus_the_delay() {
        let now = Instant::now();
        let mut pacer = Pacer::new(Shape::WAN);
        // 625,000 bytes at 50 Mbit/s are 100 ms, and 40 ms on the way.
        assert_eq!(pacer.release_at(now, 625_000) - now, Duration::from_millis(140));
        // The next block queues behind it.
        assert_eq!(pacer.release_at(now, 625_000) - now, Duration::from_millis(240));
    }

    #[test]
    fn an_idle_link_accumulates_no_credit() {
        let now = Instant::now();
        let mut pacer = Pacer::new(Shape::WAN);
        pacer.release_at(now, 1);
        let later = now + Duration::from_secs(10);
        assert_eq!(pacer.release_at(later, 625_000) - later, Duration::from_millis(140));
    }

    #[test]
    fn the_loopback_shape_changes_nothing() {
        let now = Instant::now();
        assert_eq!(Pacer::new(Shape::LOOPBACK).release_at(now, 1 << 30), now);
        assert!(Shape::LOOPBACK.is_unshaped());
        assert!(!Shape::LAN.is_unshaped());
    }
}
