//! Sizes in the documents agree with those that the program computes.

use std::path::Path;
use vesica_core::Item;
use vesica_protocols::kmrs14::{Check, MAX_ROWS, PartySpec, Room, Slot, Spec, Variant};

/// Bytes of intermediate data for each label: for sorting, and for finding its row again.
const SORTED: u64 = 16;
const WAY_BACK: u64 = 5;

fn page(name: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs").join(name);
    std::fs::read_to_string(path).unwrap()
}

/// A run of two parties with `rows` rows each.
fn spec(variant: Variant, rows: u64) -> Spec {
    let check = match variant {
        Variant::SemiHonest => Check { copies: 1, dummies: 16 },
        _ => Check::cheapest(rows),
    };
    let party = |number| PartySpec {
        identity: [number; 32],
        max_rows: rows.min(MAX_ROWS),
        min_rows: 0,
        receives: true,
    };
    let Check { copies, dummies } = check;
    let parties = vec![party(1), party(2)];
    Spec { variant, agreement: [9; 32], parties, copies, dummies }
}

fn scales(spec: &Spec, rows: u64) -> [u32; 2] {
    [spec.scale(rows); 2]
}

/// The bytes of a cell such as "10.2 GB"; of several figures the first.
fn bytes(cell: &str) -> f64 {
    let mut words = cell.split([' ', ',']).filter(|word| !word.is_empty());
    let number: f64 = words.next().unwrap().parse().unwrap_or_else(|_| panic!("{cell:?}"));
    let unit = match words.next().unwrap() {
        "KB" => 1e3,
        "MB" => 1e6,
        "GB" => 1e9,
        unit => panic!("{unit:?} in {cell:?}"),
    };
    number * unit
}

/// Within 5 %, because the figures have two digits.
#[track_caller]
fn is_about(cell: &str, real: u64) {
    let stated = bytes(cell);
    assert!((stated / real as f64 - 1.0).abs() < 0.05, "{cell}: it is {real} bytes");
}

/// The rows of the table that follows `head`: the number 10^k in the first cell, and all cells.
fn table(text: &str, head: &str) -> Vec<(u64, Vec<String>)> {
    let after = text.split_once(head).unwrap_or_else(|| panic!("no table {head:?}")).1;
    let rows = after.lines().skip(2).take_while(|line| line.starts_with('|'));
    let cells = rows.map(|row| row.trim_matches('|').split('|').map(|cell| cell.trim().to_owned()));
    let rows = cells.map(Iterator::collect::<Vec<String>>);
    rows.filter_map(|cells| Some((power(&cells[0])?, cells))).collect()
}

fn power(cell: &str) -> Option<u64> {
    Some(10_u64.pow(cell.strip_prefix("10^")?.parse().ok()?))
}

/// The bytes of a run's slots without the parties' meeting.
fn slots(room: &Room) -> u64 {
    let meeting = 2 * (Slot::HELLO_MAX_LEN + Slot::SHARE_MAX_LEN) as u64;
    room.put.iter().chain(&room.written).sum::<u64>() - meeting
}

#[test]
fn the_documented_disk_of_runs_is_what_a_helper_reserves() {
    let rows = table(&page("helper.md"), "| keys each | `server_aided` |");
    assert_eq!(rows.len(), 4);
    for (keys, cells) in rows {
        let all = [Variant::SemiHonest, Variant::Malicious, Variant::Fair, Variant::SizeHiding];
        for (variant, cell) in all.into_iter().zip(&cells[1..]) {
            let spec = spec(variant, keys);
            let room = spec.room(&scales(&spec, keys), 0);
            is_about(cell, slots(&room));
            if let Some((_, scratch)) = cell.split_once("and ") {
                is_about(scratch, SORTED * spec.list_len(keys));
                assert!(room.scratch >= SORTED * spec.list_len(keys));
            }
        }
    }
}

#[test]
fn all_documents_give_the_same_memory_and_disk_for_a_party() {
    let text = page("server-aided.md");
    let disk = |rows: u64, copies, files| rows * files + (copies * rows) * (SORTED + WAY_BACK);
    let rows = table(&text, "| rows | server_aided, on disk |");
    assert_eq!(rows.len(), 3);
    for (keys, cells) in rows {
        is_about(&cells[1], disk(keys, 1, Item::LEN as u64));
        let dummies = 2 * u64::from(Check::cheapest(keys).dummies) * (SORTED + WAY_BACK);
        is_about(&cells[2], disk(keys, 3, Item::LEN as u64) + dummies);
    }
    let billion = 1_000_000_000;
    for (stated, real) in [
        ("21 GB", disk(billion, 1, 0)),
        ("37 GB", disk(billion, 1, Item::LEN as u64)),
        ("20 GB of lists", {
            let spec = spec(Variant::SemiHonest, billion);
            slots(&spec.room(&scales(&spec, billion), 0))
        }),
    ] {
        is_about(stated, real);
        let stated = stated.replace(' ', "\n");
        let flat = text.replace(' ', "\n");
        assert!(flat.contains(&stated), "{stated}");
    }
}

#[test]
fn bytes_on_the_wire_are_those_of_the_formula_in_every_table() {
    let of = |keys| {
        let spec = spec(Variant::SemiHonest, keys);
        spec.bytes(&scales(&spec, keys), &[keys; 2])[0]
    };
    let rows = table(&page("server-aided.md"), "| items each | paper (Table 1) |");
    assert!(rows.iter().any(|(keys, _)| *keys == 1_000_000_000));
    for (keys, cells) in rows {
        let (sent, received) = of(keys);
        is_about(&cells[3], sent + received);
    }
    let text = page("protocols/kmrs14.md");
    let row = |name: &str| -> Vec<String> {
        let row = text.lines().find(|line| line.starts_with(name)).unwrap();
        row.trim_matches('|').split('|').skip(1).map(|cell| cell.trim().to_owned()).collect()
    };
    for (items, list) in row("| items each |").iter().zip(row("| bytes of a list |")) {
        is_about(&list, of(power(items).unwrap()).0);
    }
}
