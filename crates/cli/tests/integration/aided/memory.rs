//! The bound on a helper's memory, which holds for anything that its parties send.

use crate::aided::scene::{Scene, identity, until};
use std::time::Duration;
use vesica_core::StopReason;
use vesica_link::{CancelToken, Endpoint, Identity, LinkOptions, PublicIdentity, establish};
use vesica_net::{StreamId, Streams};
use vesica_protocols::kmrs14::{Kind, PartySpec, Slot, Spec, Variant};

/// Connections of one party, and bytes of a slot on each.
const CONNECTIONS: usize = 24;
const SLOT_LEN: usize = Slot::MAX_LEN;

fn memory_mb(pid: nix::unistd::Pid, line: &str) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap();
    let line = status.lines().find(|one| one.starts_with(line)).unwrap();
    line.split_whitespace().nth(1).unwrap().parse::<u64>().unwrap() >> 10
}

#[test]
fn slots_of_many_connections_stay_within_the_helpers_memory() {
    let scene = Scene::new();
    let helper = scene.helper(&["--memory", "64MB"]);
    let public = |name: &str| identity(name).parse::<PublicIdentity>().unwrap();
    let party = |name: &str| PartySpec {
        identity: *public(name).as_bytes(),
        max_rows: 1000,
        min_rows: 0,
        receives: true,
    };
    let spec = Spec {
        variant: Variant::SemiHonest,
        agreement: [9; 32],
        parties: vec![party("a"), party("b")],
        copies: 1,
        dummies: 16,
    };
    let spec = spec.to_bytes();
    let [low, high] = vesica_helper::WIRE_VERSION.to_le_bytes();
    let mut opening = [&b"vesica"[..], &[low, high, 1, 0, 0, 0]].concat();
    opening.extend_from_slice(&(spec.len() as u32).to_le_bytes());
    let mut put = vec![1, Kind::Labels as u8, 0, 0, 0, 0, 0, 0];
    put.extend_from_slice(&(SLOT_LEN as u64).to_le_bytes());
    let soon = Duration::from_secs(60);
    let own = Identity::load(scene.path("a.key")).unwrap();
    // Each sends a slot except its last byte, so the helper can do nothing with it yet.
    let cancel = CancelToken::new();
    let threads: Vec<_> = (0..CONNECTIONS)
        .map(|_| {
            let endpoint = Endpoint::Connect(scene.address.clone());
            let options =
                LinkOptions { endpoint, wait: soon, idle: soon, total: None, proxy: None };
            let session = establish(&own, &[public("helper")], &options, &|_| (), &cancel).unwrap();
            let (mut reader, mut writer) = session.open(StreamId::ROOT).unwrap();
            let mut say = |message: &[u8]| {
                writer.write_all(&(message.len() as u32).to_le_bytes()).unwrap();
                writer.write_all(message).unwrap();
                writer.flush().unwrap();
            };
            say(&opening);
            say(&[&[0; 16][..], &spec].concat());
            let mut welcome = [1; 4 + 52];
            reader.read_exact(&mut welcome).unwrap();
            assert_eq!(welcome[4..6], [0, 0]);
            say(&put);
            cancel.on_cancel(move || session.abort(StopReason::Cancelled));
            std::thread::spawn(move || {
                // Blocks from when the helper stops reading until the connection ends.
                let _ = writer.write_all(&(SLOT_LEN as u32).to_le_bytes());
                let piece = [7; 1 << 16];
                let mut left = SLOT_LEN - 1;
                while left > 0 && writer.write_all(&piece[..left.min(piece.len())]).is_ok() {
                    left -= left.min(piece.len());
                }
                let _ = writer.flush();
                let _ = reader.read_exact(&mut [0]);
            })
        })
        .collect();
    until("the helper has received all bytes", || {
        let before = memory_mb(helper.pid(), "VmRSS");
        std::thread::sleep(Duration::from_millis(1500));
        before > 30 && memory_mb(helper.pid(), "VmRSS").abs_diff(before) < 2
    });
    // The limit of 64 MB, and 4 MB of each connection that the helper has not read yet. Without a
    // limit it would be 400 MB or more.
    let peak = memory_mb(helper.pid(), "VmHWM");
    assert!(peak < 64 + 4 * CONNECTIONS as u64 + 64, "{peak} MB");
    assert!(scene.get("/healthz").ends_with("ok\n"));
    cancel.cancel();
    threads.into_iter().for_each(|thread| thread.join().unwrap());
}
