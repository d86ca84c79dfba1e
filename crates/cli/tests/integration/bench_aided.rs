//! `vesica bench` of protocols with a helper: right results, and the bytes of the catalogue's
//! formula.

use serde_json::Value;
use std::process::Command;

fn bench(arguments: &[&str]) -> Value {
    let folder = tempfile::tempdir().unwrap();
    let output = Command::new(env!("CARGO_BIN_EXE_vesica"))
        .args(["bench", "--runs", "1", "--json"])
        .args(arguments)
        .current_dir(folder.path())
        .output()
        .unwrap();
    assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0, "nothing is left behind");
    serde_json::from_slice(&output.stdout).unwrap()
}

#[test]
fn every_protocol_with_a_helper_gives_the_right_result_and_sends_what_its_formula_says() {
    for protocol in
        ["server_aided", "server_aided_malicious", "server_aided_fair", "server_aided_size_hiding"]
    {
        let report = bench(&[protocol, "--size", "20000,3000", "--copies", "2", "--dummies", "50"]);
        assert_eq!(report["result_ok"], true, "{protocol}");
        for party in report["runs"][0]["parties"].as_array().unwrap() {
            for way in ["sent", "received"] {
                let of = |what: &str| party[format!("{what}_{way}")].as_u64().unwrap();
                // Requests, replies and the parties' meeting add some kilobytes.
                let more =
                    of("payload").checked_sub(of("formula")).expect("no less than the formula");
                assert!(more < 20_000, "{protocol} {way}: {more} bytes above the formula");
                assert!(of("wire") > of("payload"));
            }
        }
    }
}

/// The round trips of each party to its result: the opening, the hello and the share of the coin
/// toss, then those of the figure. A party far from its helper waits for each of them.
#[test]
fn a_party_waits_for_few_round_trips() {
    for (protocol, round_trips) in [
        ("server_aided", [4, 4]),
        ("server_aided_malicious", [4, 4]),
        ("server_aided_fair", [6, 6]),
        ("server_aided_size_hiding", [7, 7]),
    ] {
        // The parts of the relayed list are fetched together.
        let report = bench(&[protocol, "--size", "150000", "--copies", "2", "--dummies", "50"]);
        let parties = report["runs"][0]["parties"].as_array().unwrap();
        let waits: Vec<u64> =
            parties.iter().map(|party| party["direction_changes"].as_u64().unwrap() / 2).collect();
        assert_eq!(waits, round_trips, "{protocol}");
    }
}

#[test]
fn one_value_is_compared_and_five_parties_intersect() {
    assert_eq!(bench(&["pet", "--size", "1"])["result_ok"], true);
    let five = bench(&["server_aided", "--size", "5000", "--parties", "5", "--threads", "2"]);
    assert_eq!(
        (&five["result_ok"], five["rows"].as_array().unwrap().len()),
        (&Value::Bool(true), 5)
    );
}

#[test]
fn what_is_sent_in_clear_costs_the_same_bytes() {
    let size = ["server_aided", "--size", "30000"];
    let hidden = bench(&size);
    let clear = bench(&[&size[..], &["--in-clear"]].concat());
    assert_eq!(hidden["formula_bytes"], clear["formula_bytes"]);
    assert_eq!((&clear["result_ok"], &clear["in_clear"]), (&Value::Bool(true), &Value::Bool(true)));
}
