//! Amounts of memory, as people and other programs write them.

use std::str::FromStr;
use vesica_agreement::figures::bytes;

/// An amount of memory, for example `512MB`, `2GiB`, `1.5Gi`, `512m` or `1073741824`.
///
/// A number, with a point or without, and a unit: `kB`, `MB`, `GB` and `TB` are powers of 1000,
/// `KiB`, `MiB`, `GiB` and `TiB` powers of 1024, in letters of either case. Kubernetes' short units
/// are `M`, `G`, `T` (powers of 1000), `Ki`, `Mi`, `Gi`, `Ti`; Docker's are `k`, `m`, `g`, `t`
/// (powers of 1024). Without a unit the number is in bytes.
///
/// ```
/// use vesica_diagnostics::memory::MemorySize;
///
/// let bytes = |text: &str| text.parse::<MemorySize>().map(MemorySize::bytes);
/// assert_eq!(bytes("512M"), Ok(512_000_000));
/// assert_eq!(bytes("512m"), bytes("512Mi"));
/// assert!(bytes("much").is_err());
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MemorySize(u64);

/// The least memory for intermediate data: with less, most time would go to reading and writing
/// files.
const LEAST_BYTES: u64 = 16_000_000;

/// The most memory, above what any machine has.
const MOST_BYTES: u64 = 1 << 50;

/// Most digits after a point.
const MOST_DECIMALS: usize = 9;

/// A text that is not an amount of memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum MemorySizeError {
    /// It has another form.
    #[error("an amount of memory is a number and a unit, for example 512MB, 2GiB, 1.5Gi or 512m")]
    Form,
    /// It is too little or too much.
    #[error("an amount of memory is from {} to {}", bytes(LEAST_BYTES), bytes(MOST_BYTES))]
    Range,
}

impl FromStr for MemorySize {
    type Err = MemorySizeError;

    fn from_str(text: &str) -> Result<Self, MemorySizeError> {
        let is_number = |c: char| c.is_ascii_digit() || c == '.';
        let end = text.find(|c| !is_number(c)).unwrap_or(text.len());
        let (number, unit) = text.split_at(end);
        let unit = unit_bytes(unit.trim_start()).ok_or(MemorySizeError::Form)?;
        let (whole, decimals) = match number.split_once('.') {
            Some((_, "")) => return Err(MemorySizeError::Form),
            Some(parts) => parts,
            None => (number, ""),
        };
        let is_short = decimals.len() <= MOST_DECIMALS && !decimals.contains('.');
        if whole.is_empty() || !is_short {
            return Err(MemorySizeError::Form);
        }
        // A number that is too long for a u64 is too much memory.
        let whole: u128 = whole.parse::<u64>().map_err(|_| MemorySizeError::Range)?.into();
        let scale = 10_u128.pow(decimals.len() as u32);
        let decimals: u128 = if decimals.is_empty() {
            0
        } else {
            decimals.parse().map_err(|_| MemorySizeError::Form)?
        };
        let size = (whole * scale + decimals) * u128::from(unit) / scale;
        let size = u64::try_from(size).map_err(|_| MemorySizeError::Range)?;
        let fits = (LEAST_BYTES..=MOST_BYTES).contains(&size);
        fits.then_some(Self(size)).ok_or(MemorySizeError::Range)
    }
}

/// The bytes of a unit; 1 for no unit.
fn unit_bytes(unit: &str) -> Option<u64> {
    let short = match unit {
        "" => Some(1),
        "K" => Some(1000),
        "M" => Some(1_000_000),
        "G" => Some(1_000_000_000),
        "T" => Some(1_000_000_000_000),
        "k" => Some(1 << 10),
        "m" => Some(1 << 20),
        "g" => Some(1 << 30),
        "t" => Some(1 << 40),
        _ => None,
    };
    short.or_else(|| match unit.to_ascii_lowercase().as_str() {
        "b" => Some(1),
        "kb" => Some(1000),
        "mb" => Some(1_000_000),
        "gb" => Some(1_000_000_000),
        "tb" => Some(1_000_000_000_000),
        "ki" | "kib" => Some(1 << 10),
        "mi" | "mib" => Some(1 << 20),
        "gi" | "gib" => Some(1 << 30),
        "ti" | "tib" => Some(1 << 40),
        _ => None,
    })
}

impl MemorySize {
    /// The amount in bytes.
    pub fn bytes(self) -> u64 {
        self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn size(text: &str) -> Result<u64, MemorySizeError> {
        text.parse::<MemorySize>().map(MemorySize::bytes)
    }

    #[test]
    fn amounts_are_numbers_with_units() {
        for (text, expected) in [
            ("512MB", 512_000_000),
            ("512mb", 512_000_000),
            ("2GiB", 2 << 30),
            ("16000 kB", 16_000_000),
            ("1gb", 1_000_000_000),
            ("0.5GB", 500_000_000),
            ("1.5GiB", 3 << 29),
            ("0.0625gib", 64 << 20),
            // Kubernetes.
            ("512M", 512_000_000),
            ("1G", 1_000_000_000),
            ("512Mi", 512 << 20),
            ("1Gi", 1 << 30),
            ("1048576Ki", 1 << 30),
            // Docker.
            ("512m", 512 << 20),
            ("1g", 1 << 30),
            ("1048576k", 1 << 30),
            ("1073741824b", 1 << 30),
            ("1073741824", 1 << 30),
        ] {
            assert_eq!(size(text), Ok(expected), "{text}");
        }
    }

    #[test]
    fn other_texts_are_refused() {
        for bad in [
            "",
            "MB",
            "-1MB",
            "+1GB",
            "1 XB",
            "1MBx",
            "1.GB",
            ".5GB",
            "1.5.5GB",
            "1,5GB",
            "1e9",
            "1Pi",
            "1.0000000001GB",
            "²GB",
            "1 G B",
        ] {
            assert_eq!(size(bad), Err(MemorySizeError::Form), "{bad}");
        }
        for bad in
            ["15MB", "0GB", "512", "2000000GB", "18446744073709551615TiB", "99999999999999999999"]
        {
            assert_eq!(size(bad), Err(MemorySizeError::Range), "{bad}");
        }
    }
}
