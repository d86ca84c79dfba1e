//! Names of the columns of a result.

/// Makes column names distinct: a name that occurs earlier in the list gets `_` appended until it
/// is unique. So the first names of the table never change.
pub fn distinct_columns<N: AsRef<str>>(names: &[N]) -> Vec<String> {
    let mut distinct: Vec<String> = Vec::with_capacity(names.len());
    for name in names {
        let mut name = name.as_ref().to_owned();
        if distinct.contains(&name) {
            // A later name stays unchanged.
            let is_taken = |name: &String| {
                distinct.contains(name) || names.iter().any(|other| other.as_ref() == name)
            };
            while is_taken(&name) {
                name.push('_');
            }
        }
        distinct.push(name);
    }
    distinct
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn column_names_are_distinct_and_the_first_are_unchanged() {
        for (names, distinct) in [
            (&["a", "b"][..], &["a", "b"][..]),
            (&["a", "a"], &["a", "a_"]),
            (&["a", "a", "a_", "a"], &["a", "a__", "a_", "a___"]),
            (&["", ""], &["", "_"]),
            (&[], &[]),
        ] {
            assert_eq!(distinct_columns(names), distinct);
        }
    }
}
