//! Two real processes over TLS on real data, compared with a plain join.

use crate::support;
use std::collections::HashSet;
use std::fs;
use support::{Place, TERMS, Terms, people, vesica, word_list};

fn words(name: &str) -> Vec<String> {
    let text = fs::read_to_string(word_list(name)).unwrap();
    text.lines().filter(|line| !line.is_empty()).map(str::to_owned).collect()
}

fn word_terms(receives: &'static str) -> Terms<'static> {
    Terms { key: "word", profile: "exact", receives, ..TERMS }
}

#[test]
fn american_and_british_words_in_common() {
    let place = Place::new();
    fs::copy(word_list("american-english-huge"), place.path("american.txt")).unwrap();
    let british = words("british-english-huge");
    let mut csv = String::from("line;wort\n");
    for (i, word) in british.iter().enumerate() {
        csv.push_str(&format!("{i};\"{word}\"\r\n"));
    }
    place.write("british.csv", csv);
    place.agreement("words.toml", &word_terms("all"));

    let mut one = place.run("words.toml", "one", "american.txt", Some("one.txt"));
    one.args(["--no-header", "--column", "word=1"]);
    let mut two = place.run("words.toml", "two", "british.csv", Some("two.parquet"));
    two.args(["--column", "word=wort", "--report"]).arg(place.path("report.json"));
    for ended in place.run_both(one, two) {
        ended.assert_code(0);
    }

    let american = words("american-english-huge");
    let (set_1, set_2): (HashSet<&String>, HashSet<&String>) =
        (american.iter().collect(), british.iter().collect());
    let expected: Vec<&String> = american.iter().filter(|word| set_2.contains(word)).collect();
    let written = place.read("one.txt");
    let written: Vec<&str> = written.lines().collect();
    assert_eq!(written.len(), expected.len());
    assert!(written.iter().eq(expected.iter()), "the rows are not the plain join's, in order");
    assert!(expected.len() > 200_000, "only {} words in common", expected.len());

    let report: serde_json::Value = serde_json::from_str(&place.read("report.json")).unwrap();
    let common = british.iter().filter(|word| set_1.contains(word)).count();
    assert_eq!(report["result"]["rows_written"], common);

    // The Parquet result can be an input: the American list has all of its words.
    place.agreement("again.toml", &word_terms("two"));
    let mut one = place.run("again.toml", "one", "american.txt", None);
    one.args(["--no-header", "--column", "word=1"]);
    let mut two = place.run("again.toml", "two", "two.parquet", Some("again.csv"));
    two.args(["--column", "word=wort"]);
    for ended in place.run_both(one, two) {
        ended.assert_code(0);
    }
    let again = place.read("again.csv");
    let mut lines = again.lines();
    assert_eq!(lines.next(), Some("line,wort"));
    let expected: Vec<String> = british
        .iter()
        .enumerate()
        .filter(|(_, word)| set_1.contains(word))
        .map(|(i, word)| format!("{i},{word}"))
        .collect();
    assert!(lines.eq(expected.iter().map(String::as_str)));
}

#[test]
fn addresses_are_compared_as_the_integers_they_are() {
    let place = Place::new();
    // 203.0.x.y; both sides have the multiples of 15 below 15,000.
    let addresses = |step: u32, extra: &str| {
        let mut csv = String::from("address,seen\n");
        for i in (0..15_000_u32).step_by(step as usize) {
            csv.push_str(&format!("203.{}.{}.{},{i}\n", i >> 16, i >> 8 & 255, i & 255));
        }
        csv + extra
    };
    place.write("one.csv", addresses(3, "203.0.113.256,1\n,2\n"));
    place.write("two.csv", addresses(5, ""));
    for (protocol, receives) in [
        ("ot_phasing", "one"),
        ("ot_phasing", "all"),
        ("ot_phasing_paper", "one"),
        ("psz14", "one"),
        ("kkrt16", "one"),
    ] {
        let security = "semi-honest";
        let key = "address";
        let terms = Terms { key, profile: "ipv4", protocol, security, receives, ..TERMS };
        place.agreement("agreement.toml", &terms);
        let out = format!("{protocol}-{receives}.csv");
        let mut one = place.run("agreement.toml", "one", "one.csv", Some(&out));
        one.arg("--report").arg(place.path("report.json"));
        let other = (receives == "all").then_some("other.csv");
        let two = place.run("agreement.toml", "two", "two.csv", other);
        for ended in place.run_both(one, two) {
            ended.assert_code(0);
        }
        let expected = addresses(15, "");
        assert_eq!(place.read(&out), expected, "{protocol}, {receives}");
        if let Some(other) = other {
            assert_eq!(place.read(other), expected);
            fs::remove_file(place.path(other)).unwrap();
        }
        let report: serde_json::Value = serde_json::from_str(&place.read("report.json")).unwrap();
        assert_eq!(report["protocol"]["id"], protocol);
        assert_eq!(report["input"]["refused"], 1);
    }
}

#[test]
fn numbers_of_too_many_bits_are_refused_and_never_cut() {
    let place = Place::new();
    // 4294967301 is 5 + 2^32.
    place.write("one.csv", "id\n5\n7\n4294967303\n");
    place.write("two.csv", "id\n4294967301\n7\n9\n");
    let (security, protocol) = ("semi-honest", "ot_phasing");
    let terms =
        Terms { key: "id", profile: "integer:32", protocol, security, receives: "one", ..TERMS };
    place.agreement("agreement.toml", &terms);
    let one = place.run("agreement.toml", "one", "one.csv", Some("out.csv"));
    let two = place.run("agreement.toml", "two", "two.csv", None);
    for ended in place.run_both(one, two) {
        ended.assert_code(0);
    }
    assert_eq!(place.read("out.csv"), "id\n7\n");
    let mut one = place.run("agreement.toml", "one", "one.csv", Some("strict.csv"));
    one.arg("--strict");
    let two = place.run("agreement.toml", "two", "two.csv", None);
    let [one, _] = place.run_both(one, two);
    one.assert_code(3);
    assert!(!place.path("strict.csv").exists());
}

#[test]
fn only_the_receiver_gets_a_result_and_the_sender_reports_none() {
    let place = Place::new();
    place.write("one.csv", people(0..2000));
    place.write("two.csv", people(1500..5000));
    place.agreement("agreement.toml", &Terms { protocol: "dh", ..TERMS });
    let mut one = place.run("agreement.toml", "one", "one.csv", Some("out.csv"));
    one.arg("--report").arg(place.path("one.json"));
    let mut two = place.run("agreement.toml", "two", "two.csv", None);
    two.arg("--report").arg(place.path("two.json"));
    for ended in place.run_both(one, two) {
        ended.assert_code(0);
    }
    assert_eq!(place.read("out.csv"), people(1500..2000));
    let report =
        |name: &str| -> serde_json::Value { serde_json::from_str(&place.read(name)).unwrap() };
    let (one, two) = (report("one.json"), report("two.json"));
    assert_eq!(one["result"]["matched_keys"], 500);
    assert_eq!(two["result"]["learned"], false);
    assert!(two["result"]["matched_keys"].is_null());
    assert_eq!(one["agreement"]["hash"], two["agreement"]["hash"]);
    assert_eq!(one["network"]["payload_sent"], two["network"]["payload_received"]);
    // 32 self-check items for each side: 32 bytes a point each way, and tags of 40 + 11 + 12 bits,
    // rounded up.
    let (n_x, n_y) = (3500 + 32, 2000 + 32);
    assert_eq!(one["network"]["payload_sent"], 32 * n_y);
    assert_eq!(two["network"]["payload_sent"], 32 * n_x + 8 * n_y);
}

#[test]
fn both_sides_measure_the_network_and_choose_the_same_protocol() {
    let place = Place::new();
    place.write("one.csv", people(0..150_000));
    place.write("two.csv", people(149_000..300_000));
    place.agreement("agreement.toml", &TERMS);
    let mut one = place.run("agreement.toml", "one", "one.csv", Some("out.csv"));
    one.arg("--report").arg(place.path("one.json"));
    let mut two = place.run("agreement.toml", "two", "two.csv", None);
    two.arg("--report").arg(place.path("two.json"));
    let ended = place.run_both(one, two);
    for ended in &ended {
        ended.assert_code(0);
    }
    assert_eq!(place.read("out.csv"), people(149_000..150_000));

    let report =
        |name: &str| -> serde_json::Value { serde_json::from_str(&place.read(name)).unwrap() };
    let (one, two) = (&report("one.json")["protocol"], &report("two.json")["protocol"]);
    assert_eq!(one["agreed"], "auto");
    assert_eq!(one, two, "the same choice, from the same figures, for the same reason");
    assert!(one["round_trip_s"].as_f64().unwrap() > 0.0, "{one}");
    assert!(one["to_receiver_bytes_per_s"].as_u64().unwrap() > 1_000_000, "{one}");
    assert!(one["candidates"].as_array().unwrap().len() > 2, "{one}");
    assert_ne!(one["id"], "naive_hash");
    let id = one["id"].as_str().unwrap();
    assert!(ended.iter().all(|ended| ended.stderr.contains(&format!("protocol {id}: "))));
}

#[test]
fn the_insecure_protocol_needs_the_agreement_and_the_flag() {
    let place = Place::new();
    place.write("one.csv", people(0..100));
    place.write("two.csv", people(50..150));
    let terms = Terms { security: "insecure", protocol: "naive_hash", ..TERMS };
    place.agreement("agreement.toml", &terms);
    let one = || place.run("agreement.toml", "one", "one.csv", Some("out.csv"));
    let two = || place.run("agreement.toml", "two", "two.csv", None);

    let mut refused = one();
    refused.args(["--listen", "127.0.0.1:0"]);
    support::Running::start(refused).wait().assert_failed(3, "insecure");

    let (mut one, mut two) = (one(), two());
    one.arg("--insecure");
    two.arg("--insecure");
    for ended in place.run_both(one, two) {
        ended.assert_code(0);
    }
    assert_eq!(place.read("out.csv"), people(50..100));
}

#[test]
fn hidden_sizes_do_not_change_the_result() {
    let place = Place::new();
    place.write("one.csv", people(0..100));
    place.write("two.csv", people(90..150));
    let terms = Terms { max_rows: 3000, more: "hide_sizes = true", ..TERMS };
    place.agreement("agreement.toml", &terms);
    let mut two = place.run("agreement.toml", "two", "two.csv", None);
    two.arg("--report").arg(place.path("two.json"));
    let one = place.run("agreement.toml", "one", "one.csv", Some("out.csv"));
    for ended in place.run_both(one, two) {
        ended.assert_code(0);
    }
    assert_eq!(place.read("out.csv"), people(90..100));
    let report: serde_json::Value = serde_json::from_str(&place.read("two.json")).unwrap();
    for party in [0, 1] {
        assert_eq!(report["parties"][party]["keys"], 3000);
    }
}

#[test]
fn logs_hold_no_key_and_no_item() {
    let place = Place::new();
    place.write("one.csv", people(0..50));
    place.write("two.csv", people(25..75));
    place.agreement("agreement.toml", &TERMS);
    let mut one = place.run("agreement.toml", "one", "one.csv", Some("out.csv"));
    one.args(["--log", "json"]);
    let mut two = place.run("agreement.toml", "two", "two.csv", None);
    two.args(["--log", "text"]);
    for ended in place.run_both(one, two) {
        ended.assert_code(0);
        assert!(!ended.stderr.contains("user3") && !ended.stderr.contains("@example"));
        assert!(!ended.stdout.contains("user3") && !ended.stdout.contains("@example"));
    }
}

#[test]
fn the_benchmark_checks_its_result_and_its_bytes() {
    for protocol in ["dh", "naive_hash"] {
        for network in ["loopback", "lan"] {
            let output = vesica()
                .args(["bench", protocol, "--size", "3000,500", "--network", network])
                .args(["--runs", "1", "--json"])
                .output()
                .unwrap();
            let json = String::from_utf8(output.stdout).unwrap();
            let json: serde_json::Value = serde_json::from_str(&json).expect(&json);
            assert_eq!(json["result_ok"], true);
            assert_eq!(json["protocol"], protocol);
            assert_eq!(json["network"], network);
            assert_eq!(json["threads"], 1);
            assert_eq!(json["rows"][0], 3000);
            assert_eq!(json["median"]["bytes_total"], json["formula_bytes"]);
            assert!(json["median"]["wall_s"].as_f64().unwrap() > 0.0);
            assert!(json["median"]["cpu_s"].as_f64().unwrap() >= 0.0);
            assert!(json["median"]["peak_rss_bytes"].as_u64().unwrap() > 1 << 20);
        }
    }
}

#[test]
fn the_memory_of_the_program_that_starts_a_run_is_not_counted() {
    const LARGE: usize = 400 << 20;
    let place = Place::new();
    place.write("one.csv", people(0..100));
    place.write("two.csv", people(90..150));
    place.agreement("agreement.toml", &TERMS);
    // Not zeros, for which the system would not allocate memory.
    let ours = vec![1_u8; LARGE];
    let mut two = place.run("agreement.toml", "two", "two.csv", None);
    two.arg("--report").arg(place.path("two.json"));
    let one = place.run("agreement.toml", "one", "one.csv", Some("out.csv"));
    for ended in place.run_both(one, two) {
        ended.assert_code(0);
    }
    assert!(std::hint::black_box(&ours).iter().all(|byte| *byte == 1));
    let report: serde_json::Value = serde_json::from_str(&place.read("two.json")).unwrap();
    let peak = report["resources"]["peak_rss_bytes"].as_u64().unwrap();
    assert!((1 << 20..LARGE as u64 / 2).contains(&peak), "{peak} bytes");
}

#[test]
fn a_reader_that_has_seen_enough_of_a_benchmark_is_no_failure() {
    let mut bench = vesica();
    bench.args(["bench", "rr22", "--size", "100", "--runs", "1"]);
    let mut child = bench.stdout(std::process::Stdio::piped()).spawn().unwrap();
    drop(child.stdout.take());
    assert!(child.wait().unwrap().success());
}
