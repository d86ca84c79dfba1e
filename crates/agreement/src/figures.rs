//! Numbers for people.

/// `n` with commas between groups of three digits: `5,000,000`.
pub fn grouped(n: u64) -> String {
    grouped_digits(&n.to_string())
}

/// `digits`, a decimal number, with commas between groups of three.
pub fn grouped_digits(digits: &str) -> String {
    let mut grouped = String::with_capacity(digits.len() + digits.len() / 3);
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            grouped.push(',');
        }
        grouped.push(digit);
    }
    grouped
}

/// `n` bytes in the decimal unit that suits: `344.0 MB`.
pub fn bytes(n: u64) -> String {
    const UNITS: [&str; 5] = ["kB", "MB", "GB", "TB", "PB"];
    if n < 1000 {
        return format!("{n} bytes");
    }
    let mut value = n as f64 / 1000.0;
    let mut unit = 0;
    // Rounding to one digit must not give "1000.0 kB".
    while value >= 999.95 && unit + 1 < UNITS.len() {
        value /= 1000.0;
        unit += 1;
    }
    format!("{value:.1} {}", UNITS[unit])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_grouped_by_three() {
        let cases = [(0, "0"), (999, "999"), (1000, "1,000"), (5_000_000, "5,000,000")];
        for (n, expected) in cases {
            assert_eq!(grouped(n), expected);
        }
    }

    #[test]
    fn bytes_are_shown_in_the_unit_that_suits() {
        let cases = [
            (0, "0 bytes"),
            (999, "999 bytes"),
            (1000, "1.0 kB"),
            (999_949, "999.9 kB"),
            (999_950, "1.0 MB"),
            (344_000_000, "344.0 MB"),
        ];
        for (n, expected) in cases {
            assert_eq!(bytes(n), expected);
        }
    }
}
