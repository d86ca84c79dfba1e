//! Time and memory of this process.

use nix::sys::resource::{UsageWho, getrusage};
use serde::{Deserialize, Serialize};
use std::time::Instant;

/// Wall time, CPU time and memory of this process.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub struct Resources {
    /// Seconds on the clock since the measurement started.
    pub wall_s: f64,
    /// Seconds of CPU time, user and system, since the measurement started.
    pub cpu_s: f64,
    /// Largest resident memory of the process so far, in bytes.
    pub peak_rss_bytes: u64,
}

/// A running measurement.
pub struct Stopwatch {
    start: Instant,
    cpu_s_at_start: f64,
}

impl Stopwatch {
    /// Starts now.
    pub fn start() -> Self {
        Self { start: Instant::now(), cpu_s_at_start: usage().0 }
    }

    /// What was used since the start.
    pub fn read(&self) -> Resources {
        let (cpu_s, peak_rss_bytes) = usage();
        Resources {
            wall_s: self.start.elapsed().as_secs_f64(),
            cpu_s: cpu_s - self.cpu_s_at_start,
            peak_rss_bytes,
        }
    }
}

fn usage() -> (f64, u64) {
    let Ok(usage) = getrusage(UsageWho::RUSAGE_SELF) else { return (0.0, 0) };
    let seconds = [usage.user_time(), usage.system_time()]
        .iter()
        .map(|time| time.tv_sec() as f64 + time.tv_usec() as f64 / 1e6)
        .sum();
    // Linux counts kibibytes here, macOS bytes.
    let unit = if cfg!(target_os = "macos") { 1 } else { 1024 };
    let inherited = u64::try_from(usage.max_rss()).unwrap_or(0) * unit;
    (seconds, peak_of_this_program().unwrap_or(inherited))
}

/// Largest resident memory since the program was started, if Linux reports it. Its `getrusage` also
/// counts the process before that: a large program that starts this one.
fn peak_of_this_program() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    let kibibytes: u64 = peak.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kibibytes * 1024)
}
