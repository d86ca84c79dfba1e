//! Errors that only agreements with a helper can have.

use vesica_agreement::AgreementFault;
use vesica_agreement::figures::grouped;

/// What is wrong, and what to do next.
pub(super) fn words(fault: &AgreementFault) -> (String, String) {
    let show = |hint: &str| hint.to_owned();
    match fault {
        AgreementFault::NotWithHelper { field: "hide_sizes" } => (
            show("\"hide_sizes\" is not available with a helper, which sees the size of every set"),
            show(
                "remove it; with protocol = \"server_aided_size_hiding\" the helper does not learn \
                 how many keys are common",
            ),
        ),
        AgreementFault::NotWithHelper { field: "max_repeats" } => (
            show("\"max_repeats\" is not available with a helper: such runs are not counted"),
            show("remove it; runs of two parties without a [helper] are counted"),
        ),
        AgreementFault::NotWithHelper { field: "partition_rows" } => (
            show("\"partition_rows\" is not available with a helper: there are no partitions"),
            show("remove it; the sets of two parties without a [helper] can be split"),
        ),
        AgreementFault::NotWithHelper { field } => (
            format!("{field:?} is not available with a helper, which finds common keys only"),
            show("remove it; it is available to two parties without a [helper]"),
        ),
        AgreementFault::OperationWithHelper { operation } => (
            format!(
                "the operation {operation} is not available with a helper, which finds common keys \
                 only"
            ),
            show(
                "write operation = \"intersection\"; other operations are available to two parties \
                 without a [helper]",
            ),
        ),
        AgreementFault::SameName { name } => (
            format!("the helper and a party are both called {name:?}"),
            show("give the helper another name, for example name = \"cloud\" under [helper]"),
        ),
        AgreementFault::TooManyParties { protocol, most, found } => (
            format!("the protocol {protocol:?} takes {most} parties, not {found}"),
            show("only \"server_aided\" takes more, and its helper must follow the protocol"),
        ),
        AgreementFault::TooWeakAgainstHelper { protocol, offers, asked, parties: 2 } => (
            format!("the protocol {protocol:?} is {offers}, but the agreement requires {asked}"),
            show("remove protocol, or write protocol = \"server_aided_malicious\""),
        ),
        AgreementFault::TooWeakAgainstHelper { asked, parties, .. } => (
            format!(
                "no protocol protects {parties} parties with {asked} security against the helper"
            ),
            show(
                "only \"server_aided\" takes more than two parties: agree on security = \
                 \"semi-honest\" if all accept that; `vesica explain` says what it means",
            ),
        ),
        AgreementFault::CheckTooWeak { check } => (
            format!(
                "{} copies and {} dummies are too few for security = \"malicious\": the chance \
                 that cheating goes unnoticed is above 2^-40",
                check.copies,
                grouped(check.dummies.into())
            ),
            show(
                "remove both fields, so that enough are chosen; or agree on security = \
                 \"semi-honest\" if that chance is acceptable: `vesica explain` shows it",
            ),
        ),
        AgreementFault::ListsTooLong { check, labels } => (
            format!(
                "{} copies make a list of {} labels, which is too long",
                check.copies,
                grouped(*labels)
            ),
            show("agree on fewer copies, or on a smaller max_rows"),
        ),
        AgreementFault::DummiesAreSelfCheck { .. } => (
            show("\"self_check\" cannot be used here, where dummies test the answer"),
            show("remove it; copies and dummies under [helper] set how much is tested"),
        ),
        AgreementFault::IsForAll { protocol } => (
            format!("the protocol {protocol:?} gives both parties the result"),
            show("write receives = \"all\", or use protocol = \"server_aided_malicious\""),
        ),
        AgreementFault::OneRow { field, found, protocol } => (
            format!(
                "{field:?} is {}, but the protocol {protocol:?} compares one value",
                grouped(*found)
            ),
            show("write max_rows = 1, or use protocol = \"server_aided_size_hiding\""),
        ),
        fault => {
            (fault.to_string(), show("correct the file; `vesica explain` shows what it means"))
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::agreement::error;
    use vesica_agreement::Agreement;
    use vesica_link::PublicIdentity;

    fn identity(byte: u8) -> PublicIdentity {
        PublicIdentity::from_bytes([byte; 32])
    }

    fn agreement(parties: u8) -> String {
        let party = |i: u8| {
            let name = char::from(b'a' + i);
            format!("\n[party.{name}]\nidentity = \"{}\"\nmax_rows = 1000\n", identity(i))
        };
        format!(
            "version = 2\ntitle = \"t\"\noperation = \"intersection\"\nreceives = \"all\"\n\
             security = \"semi-honest\"\n\n[helper]\nidentity = \"{}\"\n\n[[key]]\nname = \
             \"email\"\n\
             profile = \"email\"\n{}",
            identity(99),
            (0..parties).map(party).collect::<String>()
        )
    }

    /// Checks the error and the hint for an agreement of this many parties with these changes.
    #[track_caller]
    fn assert_message(parties: u8, changes: &[(&str, &str)], expected: [&str; 2]) {
        let mut text = agreement(parties);
        for (from, to) in changes {
            assert!(text.contains(from), "{from:?}");
            text = text.replacen(from, to, 1);
        }
        let message = error(&Agreement::parse(&text).unwrap_err());
        assert_eq!([&*message.error, &*message.hint], expected);
    }

    const HEAD: &str = "version = 2\n";
    const HELPER: &str = "[helper]\n";
    const SECURITY: (&str, &str) = ("semi-honest", "malicious");

    #[test]
    fn every_fault_says_what_is_wrong_and_what_to_do() {
        assert_message(
            2,
            &[(HEAD, "version = 2\nmax_repeats = 3\n")],
            [
                "the agreement, line 2, column 15: \"max_repeats\" is not available with a helper: \
                 such runs are not counted",
                "remove it; runs of two parties without a [helper] are counted",
            ],
        );
        assert_message(
            2,
            &[(HEAD, "version = 2\npartition_rows = 20000\n")],
            [
                "the agreement, line 2, column 18: \"partition_rows\" is not available with a \
                 helper: there are no partitions",
                "remove it; the sets of two parties without a [helper] can be split",
            ],
        );
        assert_message(
            2,
            &[(HEAD, "version = 2\nhide_sizes = true\n")],
            [
                "the agreement, line 2, column 14: \"hide_sizes\" is not available with a helper, \
                 which sees the size of every set",
                "remove it; with protocol = \"server_aided_size_hiding\" the helper does not learn \
                 how many keys are common",
            ],
        );
        assert_message(
            2,
            &[(HEAD, "version = 2\nmin_matches = 3\n")],
            [
                "the agreement, line 2, column 15: \"min_matches\" is not available with a helper, \
                 which finds common keys only",
                "remove it; it is available to two parties without a [helper]",
            ],
        );
        assert_message(
            2,
            &[("\"intersection\"", "\"union\"")],
            [
                "the agreement, line 3, column 13: the operation union is not available with a \
                 helper, which finds common keys only",
                "write operation = \"intersection\"; other operations are available to two parties \
                 without a [helper]",
            ],
        );
        assert_message(
            1,
            &[],
            [
                "the agreement, line 14, column 2: there must be 2 to 16 parties, not 1",
                "each organisation has its own [party.NAME]; the helper is not a party",
            ],
        );
        let (one, two) = (identity(0).to_string(), identity(1).to_string());
        assert_message(
            3,
            &[(&two, &one)],
            [
                "the agreement, line 19, column 12: a and b have the same identity",
                "each party and the helper must make their own key with `vesica keygen`",
            ],
        );
        assert_message(
            2,
            &[(HELPER, "[helper]\nname = \"b\"\n")],
            [
                "the agreement, line 8, column 8: the helper and a party are both called \"b\"",
                "give the helper another name, for example name = \"cloud\" under [helper]",
            ],
        );
        assert_message(
            2,
            &[("max_rows = 1000", "max_rows = 1000\nmin_rows = 2000")],
            [
                "the agreement, line 17, column 12: the min_rows of the party \"a\", 2,000, is \
                 above its max_rows, 1,000",
                "min_rows must not be above max_rows",
            ],
        );
    }

    #[test]
    fn an_unsuitable_protocol_is_refused_with_a_suitable_one() {
        let named = |id: &str| format!("version = 2\nprotocol = \"{id}\"\n");
        assert_message(
            3,
            &[(HEAD, &named("pet"))],
            [
                "the agreement, line 2, column 12: the protocol \"pet\" takes 2 parties, not 3",
                "only \"server_aided\" takes more, and its helper must follow the protocol",
            ],
        );
        assert_message(
            2,
            &[(HEAD, &named("server_aided")), SECURITY],
            [
                "the agreement, line 2, column 12: the protocol \"server_aided\" is semi-honest, \
                 but the agreement requires malicious",
                "remove protocol, or write protocol = \"server_aided_malicious\"",
            ],
        );
        assert_message(
            3,
            &[SECURITY],
            [
                "the agreement, line 5, column 12: no protocol protects 3 parties with malicious \
                 security against the helper",
                "only \"server_aided\" takes more than two parties: agree on security = \
                 \"semi-honest\" if all accept that; `vesica explain` says what it means",
            ],
        );
        assert_message(
            2,
            &[(HEAD, &named("server_aided_fair")), ("\"all\"", "\"a\"")],
            [
                "the agreement, line 5, column 12: the protocol \"server_aided_fair\" gives both \
                 parties the result",
                "write receives = \"all\", or use protocol = \"server_aided_malicious\"",
            ],
        );
        assert_message(
            2,
            &[(HEAD, &named("pet"))],
            [
                "the agreement, line 17, column 12: \"party.a.max_rows\" is 1,000, but the \
                 protocol \"pet\" compares one value",
                "write max_rows = 1, or use protocol = \"server_aided_size_hiding\"",
            ],
        );
        assert_message(
            2,
            &[(HEAD, &named("server-aided"))],
            [
                "the agreement, line 2, column 12: \"protocol\" cannot be \"server-aided\"",
                "did you mean \"server_aided\"? Possible values: \"auto\", \"server_aided\", \
                 \"server_aided_malicious\", \"server_aided_fair\", \"server_aided_size_hiding\" \
                 and \"pet\"",
            ],
        );
    }

    #[test]
    fn unsuitable_copies_dummies_and_receivers_are_refused() {
        assert_message(
            2,
            &[(HELPER, "[helper]\ncopies = 3\ndummies = 100_000\n"), SECURITY],
            [
                "the agreement, line 8, column 10: 3 copies and 100,000 dummies are too few for \
                 security = \"malicious\": the chance that cheating goes unnoticed is above 2^-40",
                "remove both fields, so that enough are chosen; or agree on security = \
                 \"semi-honest\" if that chance is acceptable: `vesica explain` shows it",
            ],
        );
        assert_message(
            2,
            &[(HELPER, "[helper]\ncopies = 64\ndummies = 2\n"), ("= 1000", "= 1_000_000_000")],
            [
                "the agreement, line 8, column 10: 64 copies make a list of 64,000,000,004 labels, \
                 which is too long",
                "agree on fewer copies, or on a smaller max_rows",
            ],
        );
        assert_message(
            2,
            &[(HELPER, "[helper]\ncopies = 3\n")],
            [
                "the agreement, line 7, column 1: the field \"helper.dummies\" is missing",
                "its meaning: how many made-up keys test the answer; required with copies; `vesica \
                 agree new agreement.toml` writes an example",
            ],
        );
        assert_message(
            2,
            &[(HEAD, "version = 2\nself_check = 16\n"), SECURITY],
            [
                "the agreement, line 2, column 14: \"self_check\" cannot be used here, where \
                 dummies test the answer",
                "remove it; copies and dummies under [helper] set how much is tested",
            ],
        );
        assert_message(
            2,
            &[("\"all\"", "[]")],
            [
                "the agreement, line 4, column 12: \"receives\" names no party",
                "name a party, or write receives = \"all\"",
            ],
        );
        assert_message(
            2,
            &[("\"all\"", "[\"a\", \"a\"]")],
            [
                "the agreement, line 4, column 18: \"receives\" names \"a\" twice",
                "remove one of them",
            ],
        );
        assert_message(
            2,
            &[("\"all\"", "\"c\"")],
            [
                "the agreement, line 4, column 12: \"receives\" cannot be \"c\"",
                "possible values: \"a\", \"b\" and \"all\"",
            ],
        );
        assert_message(
            2,
            &[("party.a", "party.all")],
            [
                "the agreement, line 14, column 8: \"all\" cannot be the name of a party",
                "a name has 1 to 32 characters out of a-z, 0-9, - and _, and is not \"all\"",
            ],
        );
    }
}
