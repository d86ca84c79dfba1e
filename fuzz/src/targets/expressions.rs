//! Expressions over shares.

use super::Target;
use vesica_expressions::{Column, Combine, Engine, Expression, Plan, Reveal, Table};

pub(super) const EXPRESSION: Target = Target {
    name: "expression",
    run: expression,
    seeds,
    tokens: &[
        b"sum(", b"count(", b" where ", b" by ", b" in ", b" and ", b" or ", b"not ", b"<=", b">=",
        b"==", b"!=", b"\"b c\"", b"wide", b", ",
    ],
    max_len: 512,
};

fn seeds() -> Vec<Vec<u8>> {
    let texts = [
        "sum(a * wide) > 1000",
        "count() * sum(a * a) - sum(a) * sum(a)",
        "sum(\"b c\" where a != 3 and not wide < -1 by a in 0, 10, 20), 7",
        "count(a >= 1 or a = \"b c\")",
    ];
    texts.map(|text| text.as_bytes().to_vec()).into()
}

/// A text that is an expression, and its plans over small and large tables.
fn expression(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    let Ok(expression) = Expression::parse(&text) else { return };
    assert_eq!(expression.text(), text);
    let column = |name: &str, bits, signed| Column { name: name.to_owned(), bits, signed };
    let columns = vec![column("a", 8, false), column("b c", 12, true), column("wide", 64, true)];
    for entries in [0, 1, 3, 1 << 30] {
        let table = Table { columns: columns.clone(), entries, combine: Combine::Sum };
        let Ok(plan) = Plan::new(&expression, &table) else { continue };
        // Large tables have many blocks, all of the same circuit.
        if entries <= 3 {
            let bytes = plan.bytes(Engine::Garbled, Reveal::Both).expect("counting cannot fail");
            let is_known = bytes.sender_to_receiver == bytes.receiver_to_sender;
            assert!(entries > 0 || is_known, "nothing of an empty table is secret");
        }
    }
}
