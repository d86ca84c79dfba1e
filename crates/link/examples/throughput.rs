//! Measures one session: bytes a second on `STREAMS` streams, and the round-trip time.
//!
//! `cargo run --release -p vesica-link --example throughput -- [GIB] [STREAMS] [mendable]`
//!
//! Both ends are in this process, over TLS on 127.0.0.1; the processor time covers both.

#![allow(clippy::print_stdout, reason = "an example prints its result")]

use std::error::Error;
use std::sync::{Arc, Mutex, mpsc};
use std::time::{Duration, Instant};
use vesica_link::{
    CancelToken, Endpoint, Identity, LinkEvent, LinkOptions, OnEvent, PublicIdentity, Session,
    establish, establish_mendable,
};
use vesica_net::{StreamId, Streams};

const BLOCK_BYTES: usize = 1 << 20;
const ROUND_TRIPS: u32 = 5000;

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let gib: f64 = arguments.next().map_or(Ok(4.0), |text| text.parse())?;
    let streams: u64 = arguments.next().map_or(Ok(1), |text| text.parse())?;
    let mendable = arguments.next().is_some_and(|text| text == "mendable");
    let (a, b) = pair(mendable)?;

    let blocks = (gib * f64::from(1 << 30) / BLOCK_BYTES as f64 / streams as f64) as u64;
    let (started, cpu) = (Instant::now(), cpu_seconds());
    let mut threads = Vec::new();
    for index in 0..streams {
        let id = StreamId::ROOT.child(index);
        let (_, mut writer) = a.open(id)?;
        let (mut reader, _) = b.open(id)?;
        threads.push(std::thread::spawn(move || {
            let block = vec![7; BLOCK_BYTES];
            (0..blocks).try_for_each(|_| writer.write_all(&block)).and_then(|()| writer.flush())
        }));
        threads.push(std::thread::spawn(move || {
            let mut block = vec![0; BLOCK_BYTES];
            (0..blocks).try_for_each(|_| reader.read_exact(&mut block))
        }));
    }
    for thread in threads {
        thread.join().map_err(|_| "a thread panicked")??;
    }
    let (wall, cpu) = (started.elapsed().as_secs_f64(), cpu_seconds() - cpu);
    let gigabytes = (blocks * streams * BLOCK_BYTES as u64) as f64 / 1e9;
    println!(
        "{streams} stream(s), {gigabytes:.2} GB: {:.2} GB/s, {:.3} CPU-s/GB for both ends",
        gigabytes / wall,
        cpu / gigabytes
    );

    let (mut near, mut ask) = a.open(StreamId::ROOT)?;
    let (mut far, mut answer) = b.open(StreamId::ROOT)?;
    let echo = std::thread::spawn(move || {
        let mut byte = [0];
        for _ in 0..ROUND_TRIPS {
            far.read_exact(&mut byte)?;
            answer.write_all(&byte)?;
            answer.flush()?;
        }
        Ok::<_, vesica_core::TransportError>(())
    });
    let started = Instant::now();
    let mut byte = [0];
    for _ in 0..ROUND_TRIPS {
        ask.write_all(&byte)?;
        ask.flush()?;
        near.read_exact(&mut byte)?;
    }
    println!("round trip {:.1?}", started.elapsed() / ROUND_TRIPS);
    echo.join().map_err(|_| "a thread panicked")??;

    let other = std::thread::spawn(move || b.close());
    a.close()?;
    other.join().map_err(|_| "a thread panicked")??;
    Ok(())
}

/// Two sessions in one process: the listening end, then the connecting end.
fn pair(mendable: bool) -> Result<(Session, Session), Box<dyn Error>> {
    let (one, two) = (Identity::generate()?, Identity::generate()?);
    let (sender, listening) = mpsc::channel();
    let peer = two.public();
    let first = one.clone();
    let listener = std::thread::spawn(move || {
        let sender = Mutex::new(sender);
        let tell: OnEvent = Arc::new(move |event| {
            if let (LinkEvent::Listening { address }, Ok(sender)) = (event, sender.lock()) {
                let _ = sender.send(address);
            }
        });
        join(&first, peer, Endpoint::Listen("127.0.0.1:0".into()), mendable, tell)
    });
    let address = listening.recv()?;
    let quiet: OnEvent = Arc::new(|_| ());
    let b = join(&two, one.public(), Endpoint::Connect(address.to_string()), mendable, quiet)?;
    Ok((listener.join().map_err(|_| "a thread panicked")??, b))
}

fn join(
    identity: &Identity,
    peer: PublicIdentity,
    endpoint: Endpoint,
    mendable: bool,
    tell: OnEvent,
) -> Result<Session, vesica_link::LinkError> {
    let (wait, idle) = (Duration::from_secs(10), Duration::from_secs(10));
    let options = LinkOptions { endpoint, wait, idle, total: None, proxy: None };
    let cancel = CancelToken::new();
    if mendable {
        establish_mendable(identity, &[peer], &options, wait, &tell, &cancel)
    } else {
        establish(identity, &[peer], &options, &*tell, &cancel)
    }
}

/// User and system time of this process so far.
fn cpu_seconds() -> f64 {
    // Fields 14 and 15 of /proc/self/stat, in hundredths of a second; counted after the name.
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let after_name = stat.rsplit(')').next().unwrap_or_default();
    let field = |n: usize| after_name.split_whitespace().nth(n).and_then(|s| s.parse().ok());
    (field(11).unwrap_or(0.0) + field(12).unwrap_or(0.0)) / 100.0
}
