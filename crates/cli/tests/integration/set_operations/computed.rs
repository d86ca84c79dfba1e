//! Expressions that are computed on shares.

use super::*;
use crate::exchange::Scene;
use crate::support::{Running, cutting_relay, free_port};

const EXPRESSION: &str = "sum(amount * change) < -1000, sum(amount by change in -17)";
const HEADER: &str = "\"sum(amount * change) < -1000\",\"sum(amount) for change < -17\",\
                      \"sum(amount) for change >= -17\",keys_in_common";

fn table(circuit: &str) -> String {
    format!(
        "[shares]\n{}compute = \"{EXPRESSION}\"\ncircuit = \"{circuit}\"\n",
        WIDE.replace("bits = 64", "bits = 9")
    )
}

#[test]
fn two_processes_compute_an_expression_and_no_share_is_written() {
    for (receives, circuit) in
        [("one", "garbled"), ("two", "gmw"), ("all", "gmw"), ("all", "garbled")]
    {
        let (place, more) = (place(0..20, 15..40), table(circuit));
        let terms = Terms { operation: "shares", receives, more: &more, ..TERMS };
        let learns = |party: &str| receives == "all" || receives == party;
        let outputs = ["one", "two"].map(|party| learns(party).then_some(party));
        let files = outputs.map(|party| party.map(|party| format!("{party}.out.csv")));
        let files = files.each_ref().map(Option::as_deref);
        let ended = run_well(&place, &terms, files);
        for ((party, ended), file) in ["one", "two"].iter().zip(&ended).zip(files) {
            let result = result(&place, &format!("{party}.json"));
            assert_eq!(result["learned"], learns(party));
            assert!(result["shared_entries"].is_null());
            let Some(file) = file else {
                assert!(ended.stdout.starts_with("done; "), "{ended:#?}");
                assert!(result["answers"].is_null());
                continue;
            };
            // 15 to 19: amounts 45 to 57, changes -15 to -19.
            let written = place.read(file);
            assert_eq!(written.replace('"', ""), HEADER.replace('"', "") + "\ntrue,111,144,5\n");
            let says = "5 keys in common\nsum(amount * change) < -1000: yes\n\
                        sum(amount) for change < -17: 111\nsum(amount) for change >= -17: 144; \
                        written to ";
            assert!(ended.stdout.starts_with(says), "{ended:#?}");
            let answers = &result["answers"];
            assert_eq!(answers[0]["holds"], true);
            assert_eq!(
                (&answers[2]["number"], &answers[2]["holds"]),
                (&"144".into(), &Value::Null)
            );
        }
    }
}

#[test]
fn an_expression_needs_no_file_and_its_faults_end_no_run() {
    let (place, more) = (place(0..20, 15..40), table("garbled"));
    let terms = Terms { operation: "shares", receives: "all", more: &more, ..TERMS };
    for ended in run_well(&place, &terms, [None, None]) {
        assert!(ended.stdout.contains("sum(amount) for change < -17: 111\n"), "{ended:#?}");
    }
    let bad = more.replace("amount by", "cost by");
    place.agreement("bad.toml", &Terms { more: &bad, ..terms });
    let mut command = vesica();
    command.arg("explain").arg(place.path("bad.toml"));
    let ended = Running::start(command).wait();
    let says = "the expression in \"shares.compute\" cannot be computed: at character 35: the \
                shares have no column \"cost\"";
    ended.assert_failed(3, says);
    let mut command = place.run("agreement.toml", "one", "one.csv", None);
    command.args(["--listen", "127.0.0.1:0", "--order"]).arg(place.path("order.csv"));
    let ordered = command.output().unwrap();
    let complaint = String::from_utf8(ordered.stderr).unwrap();
    assert!(complaint.contains("this agreement gives what is computed on them"), "{complaint}");
}

/// Values of the party `two`, whose numbers of people are in the column `id`.
const OF_IDS: &str = "[shares]\nof = \"two\"\ncolumn = \"id\"\nbits = 16\n\
                      compute = \"sum(id * id) > 1000, sum(id), count(id < 700)\"\n";

#[test]
fn an_expression_is_computed_through_a_folder_and_when_commands_take_turns() {
    for (circuit, in_turns) in [("garbled", false), ("gmw", false), ("garbled", true)] {
        let more = format!("{OF_IDS}circuit = \"{circuit}\"\n");
        let terms = Terms { operation: "shares", more: &more, ..crate::exchange::BOTH };
        let scene = Scene::new(&terms);
        if in_turns {
            let mut done = [false; 2];
            for visit in 0.. {
                let party = visit % 2;
                if !done[party] {
                    let ended = scene.run(["one", "two"][party], &["--once"]);
                    done[party] = ended.code != Some(75);
                    assert!(!done[party] || ended.code == Some(0), "{ended:#?}");
                }
                if done == [true; 2] {
                    break;
                }
                assert!(visit < 100, "they do not come to an end");
            }
        } else {
            let running = ["one", "two"]
                .map(|party| Running::start(scene.command(party, &["--wait", "60s"])));
            running.map(Running::wait).iter().for_each(|ended| {
                ended.assert_code(0);
            });
        }
        let [one, two] = ["one", "two"].map(|party| scene.place.read(&format!("{party}.out.csv")));
        assert_eq!(one, two, "{circuit}");
        assert!(one.contains("\ntrue,"), "{one}");
    }
}

#[test]
fn an_expression_survives_lost_connections() {
    let (place, more) = (place(0..400, 100..500), table("garbled").replace("= 9", "= 12"));
    let terms = Terms { operation: "shares", receives: "all", more: &more, ..TERMS };
    place.agreement("agreement.toml", &terms);
    let listen = free_port();
    let connect = cutting_relay(listen, 3, [150_000, 400_000]);
    let ways = [("one", "--listen", listen), ("two", "--connect", connect)];
    let running = ways.map(|(party, way, port)| {
        let (input, output) = (format!("{party}.csv"), format!("{party}.out.csv"));
        let limits = ["30s", "20s"];
        let mut command = place.run_within(limits, "agreement.toml", party, &input, Some(&output));
        command.args([way, &format!("127.0.0.1:{port}")]);
        Running::start(command)
    });
    for ended in running.map(Running::wait) {
        ended.assert_code(0);
        assert!(ended.stderr.contains("is lost ("), "{ended:#?}");
    }
    let [one, two] = ["one", "two"].map(|party| place.read(&format!("{party}.out.csv")));
    assert_eq!(one, two);
    assert!(one.lines().nth(1).unwrap().ends_with(",300"), "{one}");
}

#[test]
fn a_new_agreement_has_the_expression() {
    let expression = "sum(amount) > 7, count(\"net price\" = 1)";
    let words = [
        "--operation",
        "shares",
        "--shares-column",
        "amount",
        "--shares-column",
        "net price",
        "--compute",
        expression,
        "--circuit",
        "gmw",
    ];
    let output = vesica().args(["agree", "new"]).args(words).output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    for line in [
        "operation = \"shares\"",
        "receives = \"publisher\"",
        "of = \"shop\"",
        "min_matches = 100",
        "compute = \"sum(amount) > 7, count(\\\"net price\\\" = 1)\"",
        "circuit = \"gmw\"",
    ] {
        assert!(text.lines().any(|one| one.starts_with(line)), "{line} is not in\n{text}");
    }
    let refused = ["agree", "new", "--operation", "shares", "--compute", "sum(cost)"];
    let output = vesica().args(refused).output().unwrap();
    let complaint = String::from_utf8(output.stderr).unwrap();
    assert!(complaint.contains("the shares have no column \"cost\""), "{complaint}");
}
