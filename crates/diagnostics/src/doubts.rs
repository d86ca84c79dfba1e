//! Usable columns that may cost matches, or match what they should not: warnings about the keys of
//! a file.

use crate::words::counted;
use vesica_agreement::figures::grouped;
use vesica_records::{FloatTexts, FrequentKey, Misfit};

/// A key that many of the `rows` have. Names its shape, never its value.
pub(crate) fn frequent(key: &FrequentKey, rows: u64) -> String {
    let shapes: Vec<String> = key
        .shapes
        .iter()
        .map(|part| format!("column {:?} like {}", part.column, part.pattern))
        .collect();
    let rule = key.rule.as_ref().map(|rule| format!(" under the rule {rule:?}"));
    let what = if key.is_transformed {
        "all of them match if one does. If placeholders make it, exclude their values with never = \
         [...] at their key; if the rule is too coarse, add a column to it. Both change the \
         agreement, which both sides must do"
    } else {
        "a placeholder matches the other side's. If it is one, exclude its value with never = \
         [...] at this key in the agreement, which both sides must then change, or clean the file"
    };
    format!(
        "one key{} is in {}{} of {} rows, for example in {} ({}): {what}",
        rule.unwrap_or_default(),
        if key.is_exact { "" } else { "at least " },
        grouped(key.count),
        grouped(rows),
        key.first,
        shapes.join(", "),
    )
}

/// Numbers of a column that look like floating-point ones.
pub(crate) fn floats(floats: &FloatTexts) -> String {
    let places: Vec<String> = floats.first.iter().map(ToString::to_string).collect();
    let more = if floats.count > places.len() as u64 { " and more" } else { "" };
    format!(
        "column {:?} has numbers such as 123.0 or 1.5e+10, which programs write for whole numbers \
         that became floating point; 123.0 does not equal 123; in {}: {}{more}",
        floats.column,
        counted(floats.count, "row"),
        places.join(", "),
    )
}

/// A column whose profile refuses many of its values.
pub(crate) fn misfit(misfit: &Misfit) -> String {
    let Misfit { column, profile, refused, values, better } = misfit;
    let tenths = refused.saturating_mul(1000) / (*values).max(1);
    let names = misfit.better_in_words();
    let what = match names {
        None => {
            "check the column and the reasons. Another profile needs an agreement that both sides \
             change"
                .to_owned()
        }
        Some(name) if better.len() == 1 => format!(
            "the profile {name} takes most of them. To use it, both sides must change the agreement"
        ),
        Some(names) => format!(
            "the profile {names} takes most of them, and the column does not show which is right. \
             To use one, both sides must change the agreement"
        ),
    };
    format!(
        "the profile {profile} refuses {}.{} % of the values of column {column:?} ({} of \
         {}): {what}",
        tenths / 10,
        tenths % 10,
        grouped(*refused),
        grouped(*values),
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use vesica_records::PartShape;
    use vesica_tables::Place;

    #[test]
    fn a_frequent_key_is_told_by_count_place_and_shape() {
        let part = |column: &str, pattern: &str| PartShape {
            column: column.to_owned(),
            pattern: pattern.to_owned(),
        };
        let shapes = vec![part("name", "A+"), part("id", "9+")];
        let mut key = FrequentKey {
            count: 1500,
            is_exact: true,
            first: Place::Line(9),
            shapes,
            rule: None,
            is_transformed: false,
        };
        let text = frequent(&key, 20_000);
        let told = "one key is in 1,500 of 20,000 rows, for example in line 9 (column \"name\" \
                    like A+, column \"id\" like 9+): ";
        assert!(text.starts_with(told), "{text}");
        assert!(text.contains("never = [...]"), "{text}");
        key.is_exact = false;
        assert!(frequent(&key, 20_000).contains("in at least 1,500 of"));
        (key.rule, key.is_transformed) = (Some("sound".to_owned()), true);
        let text = frequent(&key, 20_000);
        assert!(
            text.starts_with("one key under the rule \"sound\" is in at least 1,500"),
            "{text}"
        );
        assert!(text.contains("if the rule is too coarse, add a column to it"), "{text}");
    }

    #[test]
    fn a_misfit_names_the_profiles_that_take_the_values() {
        let profile = |name: &str| name.parse().unwrap();
        let mut column = Misfit {
            column: "born".to_owned(),
            profile: profile("date"),
            refused: 1234,
            values: 3000,
            better: vec![profile("date:dmy")],
        };
        let start = "the profile date refuses 41.1 % of the values of column \"born\" (1,234 of \
                     3,000): ";
        for (better, part) in [
            (vec!["date:dmy"], "the profile date:dmy takes most of them. To use it, both sides"),
            (vec!["date:dmy", "date:mdy"], "date:dmy or date:mdy takes most of them, and the"),
            (vec![], "check the column and the reasons"),
        ] {
            column.better = better.into_iter().map(profile).collect();
            let text = misfit(&column);
            assert!(text.starts_with(start) && text.contains(part), "{text}");
            assert!(text.contains("both sides"), "{text}");
        }
    }
}
