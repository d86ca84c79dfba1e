//! Measures one run through a folder: bytes per second from one party to the other, and both
//! parties' processor time.
//!
//! `cargo run --release -p vesica-store-session --example folder_throughput -- [GIB] [FOLDER]`
//!
//! Both parties are in this process and wait for each other. Their states and the folder between
//! them are in FOLDER, by default the folder for temporary files.

#![allow(clippy::print_stdout, reason = "an example prints its result")]

use std::error::Error;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};
use vesica_link::{CancelToken, Identity};
use vesica_net::{Connection, StreamId, Streams};
use vesica_store_session::{Conversation, FolderStore, Options, State, meet};

/// How much a channel gives to its stream at once.
const BLOCK_BYTES: usize = 128 << 10;

fn main() -> Result<(), Box<dyn Error + Send + Sync>> {
    let mut arguments = std::env::args().skip(1);
    let gib: f64 = arguments.next().map_or(Ok(1.0), |text| text.parse())?;
    let folder = match arguments.next() {
        Some(folder) => tempfile::tempdir_in(folder)?,
        None => tempfile::tempdir()?,
    };
    let identities = [Identity::generate()?, Identity::generate()?];
    let (a, b) = std::thread::scope(|scope| {
        let other = scope.spawn(|| begin(folder.path(), &identities, 1));
        let a = begin(folder.path(), &identities, 0);
        (a, other.join())
    });
    let (a, b) = (a?, b.map_err(|_| "a thread panicked")??);

    let blocks = (gib * f64::from(1 << 30) / BLOCK_BYTES as f64) as u64;
    let (started, cpu) = (Instant::now(), cpu_seconds());
    let sending = std::thread::spawn(move || {
        let (mut reader, mut writer) = a.open(StreamId::ROOT)?;
        let block = vec![7; BLOCK_BYTES];
        (0..blocks).try_for_each(|_| writer.write_all(&block))?;
        a.close()?;
        let sent = cpu_of_thread();
        reader.read_exact(&mut [0])?;
        Ok::<_, vesica_core::TransportError>(sent)
    });
    let (mut reader, mut writer) = b.open(StreamId::ROOT)?;
    let mut block = vec![0; BLOCK_BYTES];
    for _ in 0..blocks {
        reader.read_exact(&mut block)?;
    }
    let received = cpu_of_thread();
    let (elapsed, cpu) = (started.elapsed(), cpu_seconds() - cpu);
    writer.write_all(&[0])?;
    b.close()?;
    let sent = sending.join().map_err(|_| "a thread panicked")??;
    let gigabytes = gib * f64::from(1 << 30) / 1e9;
    println!("{gib} GiB in {elapsed:.2?}: {:.2} GB/s", gigabytes / elapsed.as_secs_f64());
    println!("CPU of both {cpu:.2} s, sender {sent:.2} s, receiver {received:.2} s");
    Ok(())
}

fn begin(
    folder: &Path,
    identities: &[Identity; 2],
    party: usize,
) -> Result<Conversation, Box<dyn Error + Send + Sync>> {
    let state = Arc::new(State::open(&folder.join(format!("state-{party}")), [party as u8; 32])?);
    let between = folder.join("between");
    std::fs::create_dir_all(&between)?;
    let options = Options {
        store: Arc::new(FolderStore::open(&between)?),
        wait: Duration::from_secs(60),
        restart: false,
        max_repeats: 0,
        memory_bytes: 1 << 30,
        cancel: CancelToken::new(),
        on_event: Arc::new(|_| ()),
    };
    let parties = identities.each_ref().map(Identity::public);
    Ok(meet(options, &identities[party], &parties, party as u8, &[7; 32], &state)?)
}

/// User and system time of this process so far, in seconds.
fn cpu_seconds() -> f64 {
    cpu_of("/proc/self/stat")
}

/// User and system time of this thread so far, in seconds.
fn cpu_of_thread() -> f64 {
    cpu_of("/proc/thread-self/stat")
}

fn cpu_of(path: &str) -> f64 {
    // Fields 14 and 15, in hundredths of a second; they are counted from after the name.
    let stat = std::fs::read_to_string(path).unwrap_or_default();
    let after_name = stat.rsplit(')').next().unwrap_or_default();
    let field = |n: usize| after_name.split_whitespace().nth(n).and_then(|s| s.parse().ok());
    (field(11).unwrap_or(0.0) + field(12).unwrap_or(0.0)) / 100.0
}
