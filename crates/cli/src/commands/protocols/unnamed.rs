//! What a protocol is chosen for if an agreement names none. This is found by parsing agreements,
//! so that the text cannot differ from the choice.

use vesica_agreement::Agreement;
use vesica_link::PublicIdentity;
use vesica_protocols::{Operation, Protocol, Security};

/// A kind of question that agreements ask.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Question {
    pub(super) operation: Operation,
    /// Whether it has `min_matches` or `max_matches`.
    pub(super) is_bounded: bool,
}

/// The questions for which `row` may be chosen with `auto`, in the order of its operations, without
/// bounds first.
pub(super) fn questions(row: &Protocol) -> Vec<Question> {
    let kinds = row.operations.iter().flat_map(|operation| {
        [false, true].map(|is_bounded| Question { operation: *operation, is_bounded })
    });
    kinds.filter(|question| is_chosen(row, *question)).collect()
}

/// When `row` runs, in words.
pub(super) fn words(row: &Protocol) -> String {
    let questions = questions(row);
    if questions.is_empty() {
        return match row.security {
            Security::Insecure => "only if an agreement names it, and with --insecure",
            _ => "only if an agreement names it; here for comparison",
        }
        .into();
    }
    let all = row.operations.iter().flat_map(|operation| {
        [false, true].map(|is_bounded| Question { operation: *operation, is_bounded })
    });
    if all.filter(|question| takes(row, *question)).all(|all| questions.contains(&all)) {
        return "if an agreement names it, or leaves the choice open".into();
    }
    let list = names(row, &questions).join(", ");
    format!("if an agreement names it, or leaves the choice open and asks for: {list}")
}

/// The names of the questions: the operation alone if bounds make no difference.
pub(super) fn names(row: &Protocol, questions: &[Question]) -> Vec<String> {
    let name = |operation: &Operation| {
        let has = |is_bounded| questions.contains(&Question { operation: *operation, is_bounded });
        let can_be_bounded = takes(row, Question { operation: *operation, is_bounded: true });
        match [has(false), has(true)] {
            [false, false] => None,
            [false, true] => Some(format!("{operation} with bounds")),
            [true, false] if can_be_bounded => Some(format!("{operation} without bounds")),
            _ => Some(operation.to_string()),
        }
    };
    row.operations.iter().filter_map(name).collect()
}

/// Whether an agreement that names `row` may ask `question`.
fn takes(row: &Protocol, question: Question) -> bool {
    let named = format!("protocol = \"{}\"\n", row.id);
    agreements(question, &[row.security], &named).next().is_some()
}

fn is_chosen(row: &Protocol, question: Question) -> bool {
    let is_candidate = |agreement: Agreement| {
        agreement.is_auto() && agreement.candidates().iter().any(|other| other.id == row.id)
    };
    agreements(question, &[Security::SemiHonest, Security::OneSided, Security::Malicious], "")
        .any(is_candidate)
}

/// Agreements that ask `question`, with every kind of key, of values and of holder that could make
/// a difference. Agreements that no protocol can answer are left out.
fn agreements(
    question: Question,
    securities: &[Security],
    protocol: &str,
) -> impl Iterator<Item = Agreement> {
    const VALUES: [&str; 3] = [
        "column = \"v\"\nbits = 8\n",
        "columns = [\"v\", \"w\"]\nbits = 8\n",
        "column = \"v\"\nbits = 8\nsigned = true\n",
    ];
    let values_of = |table: &str| {
        let of = |of: &str, values: &str| format!("[{table}]\nof = \"{of}\"\n{values}\n");
        ["one", "two"].iter().flat_map(|party| VALUES.map(|values| of(party, values))).collect()
    };
    let tables: Vec<String> = match question.operation {
        Operation::Sum => values_of("sum"),
        Operation::InnerProduct => {
            let factor = "times = \"w\"\ntimes_bits = 8\n\n";
            values_of("product").into_iter().map(|table| table + factor).collect()
        }
        Operation::SharedValues => values_of("shares"),
        _ => vec![String::new()],
    };
    let more = match question.operation {
        Operation::Threshold => "threshold = 7\n",
        _ => "",
    };
    let bounds = if question.is_bounded { "min_matches = 3\n" } else { "" };
    let receives = if question.operation.is_for_both() { "all" } else { "one" };
    let operation = question.operation.name();
    let [one, two] = [1, 2].map(|byte| PublicIdentity::from_bytes([byte; 32]));
    let mut texts = Vec::new();
    for security in securities {
        for profile in ["lower", "integer:16"] {
            for table in &tables {
                texts.push(format!(
                    "version = 2\ntitle = \"-\"\noperation = \"{operation}\"\nreceives = \
                     \"{receives}\"\n\
                     security = \"{security}\"\n{protocol}{more}{bounds}\n[[key]]\nname = \"k\"\n\
                     profile = \"{profile}\"\n\n{table}[party.one]\nidentity = \"{one}\"\nmax_rows \
                     = 1000\n\n\
                     [party.two]\nidentity = \"{two}\"\nmax_rows = 1000\n"
                ));
            }
        }
    }
    texts.into_iter().filter_map(|text| Agreement::parse(&text).ok())
}

#[cfg(test)]
mod tests {
    use super::*;
    use vesica_protocols::catalogue;

    /// The protocols that agreements of some kind may choose, written independently of the code
    /// above.
    fn candidates(
        operation: Operation,
        bounds: &str,
        profile: &str,
        of: &str,
    ) -> Vec<&'static str> {
        let receives = if operation.is_for_both() { "all" } else { "two" };
        let figures = match operation {
            Operation::Threshold => "threshold = 7",
            _ => "",
        };
        let table = match operation {
            Operation::Sum => format!("[sum]\n{of}"),
            Operation::InnerProduct => {
                format!("[product]\n{of}times = \"w\"\ntimes_bits = 8\n")
            }
            Operation::SharedValues => format!("[shares]\n{of}"),
            _ => String::new(),
        };
        let parties = [3, 4].map(|byte| PublicIdentity::from_bytes([byte; 32]));
        let mut found = Vec::new();
        for security in ["semi-honest", "one-sided", "malicious"] {
            let text = format!(
                "version = 2\ntitle = \"t\"\noperation = \"{operation}\"\nreceives = \
                 \"{receives}\"\n\
                 security = \"{security}\"\nprotocol = \
                 \"auto\"\n{figures}\n{bounds}\n\n[[key]]\nname = \"a\"\n\
                 profile = \"{profile}\"\n\n{table}\n[party.two]\nidentity = \"{}\"\nmax_rows = \
                 50000\n\n\
                 [party.six]\nidentity = \"{}\"\nmax_rows = 900\n",
                parties[0], parties[1]
            );
            if let Ok(agreement) = Agreement::parse(&text) {
                found.extend(agreement.candidates().iter().map(|row| row.id));
            }
        }
        found
    }

    #[test]
    fn the_text_on_every_protocol_agrees_with_the_choice() {
        const OF: [&str; 4] = [
            "of = \"two\"\ncolumn = \"x\"\nbits = 20\n",
            "of = \"six\"\ncolumn = \"x\"\nbits = 20\n",
            "of = \"two\"\ncolumns = [\"x\", \"y\"]\nbits = 30\nsigned = true\n",
            "of = \"six\"\ncolumns = [\"x\", \"y\"]\nbits = 30\nsigned = true\n",
        ];
        for row in catalogue() {
            let words = words(row);
            let (_, list) = words.split_once("asks for: ").unwrap_or_default();
            let listed: Vec<&str> = list.split(", ").collect();
            for operation in row.operations {
                for (bounds, with) in
                    [("", "without bounds"), ("max_matches = 40000", "with bounds")]
                {
                    let is_chosen = ["email", "integer:16"].iter().any(|profile| {
                        OF.iter()
                            .any(|of| candidates(*operation, bounds, profile, of).contains(&row.id))
                    });
                    let is_listed = if words.starts_with("only") {
                        false
                    } else if list.is_empty() {
                        bounds.is_empty()
                            || takes(row, Question { operation: *operation, is_bounded: true })
                    } else {
                        let name = operation.name();
                        let bare = listed.contains(&name)
                            && (bounds.is_empty()
                                || takes(
                                    row,
                                    Question { operation: *operation, is_bounded: true },
                                ));
                        bare || listed.contains(&&*format!("{name} {with}"))
                    };
                    assert_eq!(is_listed, is_chosen, "{}, {operation} {with}: {words}", row.id);
                }
            }
            assert!(
                row.security > Security::Insecure || words.contains("--insecure"),
                "{}",
                row.id
            );
        }
    }

    #[test]
    fn a_circuit_protocol_lists_what_it_is_chosen_for() {
        let words = |id| words(vesica_protocols::find(id).unwrap());
        assert!(
            words("scs_wn").contains("leaves the choice open and asks for: "),
            "{}",
            words("scs_wn")
        );
        assert!(!words("scs_wn").contains("intersection,"), "{}", words("scs_wn"));
        assert_eq!(words("dh"), "if an agreement names it, or leaves the choice open");
        assert_eq!(words("naive_hash"), "only if an agreement names it, and with --insecure");
        assert_eq!(words("psz14"), "only if an agreement names it; here for comparison");
    }
}
