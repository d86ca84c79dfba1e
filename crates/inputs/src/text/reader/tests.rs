//! Compares the reader with a slow twin without buffers.

use super::*;
use crate::error::EncodingGuess;
use proptest::prelude::*;

/// Cells and line of every record, or the error.
type Records = Result<Vec<(u64, Vec<String>)>, InputError>;

fn read(data: &[u8], delimiter: u8, buffer_bytes: usize) -> Records {
    let stream = ByteStream::from_memory(data.to_vec());
    let mut reader = RecordReader::with_buffer(stream, delimiter, buffer_bytes)?;
    let mut records = Vec::new();
    let mut scratch = Vec::new();
    while let Some(record) = reader.next_record()? {
        let cells = (0..record.len())
            .map(|index| String::from_utf8(record.cell(index, &mut scratch).to_vec()).unwrap())
            .collect();
        records.push((record.line(), cells));
    }
    Ok(records)
}

/// Reads character by character. `None` if the reader must return an error.
fn slowly(text: &str, delimiter: char) -> Option<Vec<(u64, Vec<String>)>> {
    let chars: Vec<char> = text.strip_prefix('\u{feff}').unwrap_or(text).chars().collect();
    if chars.contains(&'\0') {
        return None;
    }
    let is_end = |c: char| c == '\n' || c == '\r';
    let (mut at, mut line) = (0, 1);
    let mut records = Vec::new();
    // Length of the line end at a position.
    let end_len =
        |at: usize| 1 + usize::from(chars[at] == '\r' && chars.get(at + 1) == Some(&'\n'));
    'records: while at < chars.len() {
        if is_end(chars[at]) {
            at += end_len(at);
            line += 1;
            continue;
        }
        let (first_line, mut cells) = (line, Vec::new());
        loop {
            let mut cell = String::new();
            if chars.get(at) == Some(&'"') {
                at += 1;
                loop {
                    match chars.get(at)? {
                        '"' if chars.get(at + 1) == Some(&'"') => {
                            cell.push('"');
                            at += 2;
                        }
                        '"' => break,
                        c if is_end(*c) => {
                            let len = end_len(at);
                            cell.extend(&chars[at..at + len]);
                            at += len;
                            line += 1;
                        }
                        c => {
                            cell.push(*c);
                            at += 1;
                        }
                    }
                }
                at += 1;
                if chars.get(at).is_some_and(|c| *c != delimiter && !is_end(*c)) {
                    return None;
                }
            } else {
                while let Some(c) = chars.get(at).filter(|c| **c != delimiter && !is_end(**c)) {
                    cell.push(*c);
                    at += 1;
                }
            }
            cells.push(cell);
            match chars.get(at) {
                Some(c) if *c == delimiter => at += 1,
                Some(_) => {
                    at += end_len(at);
                    line += 1;
                    break;
                }
                None => {
                    records.push((first_line, cells));
                    break 'records;
                }
            }
        }
        records.push((first_line, cells));
    }
    Some(records)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(3000))]

    #[test]
    fn records_agree_with_the_slow_twin(
        text in "\u{feff}?([ab,;\"\r\n\u{e9}\u{1f600}]|\"\"|\r\n|\0{0,1}a){0,40}",
        buffer_bytes in 3_usize..40,
        semicolon in any::<bool>(),
    ) {
        let delimiter = if semicolon { ';' } else { ',' };
        let got = read(text.as_bytes(), delimiter as u8, buffer_bytes);
        match slowly(&text, delimiter) {
            Some(records) => prop_assert_eq!(got, Ok(records)),
            None => prop_assert!(got.is_err(), "{:?}", got),
        }
    }

    #[test]
    fn buffer_size_changes_nothing(
        data in prop::collection::vec(
            prop_oneof![Just(b','), Just(b'"'), Just(b'\n'), Just(b'\r'), Just(0xc3), any::<u8>()],
            0..200,
        ),
        buffer_bytes in 3_usize..40,
    ) {
        // The guess depends on neighbouring bytes, which may be gone already.
        let without_guess = |records| match records {
            Err(InputError::InvalidUtf8 { path, place, byte, column, .. }) => {
                let guess = EncodingGuess::Unknown;
                Err(InputError::InvalidUtf8 { path, place, byte, column, guess })
            }
            other => other,
        };
        prop_assert_eq!(
            without_guess(read(&data, b',', buffer_bytes)),
            without_guess(read(&data, b',', 1 << 16))
        );
    }
}

/// The number of records and of faults of a reader that continues after a fault.
fn with_faults(data: Vec<u8>) -> (usize, usize) {
    let mut reader = RecordReader::new(ByteStream::from_memory(data), b',').unwrap();
    reader.go_on_after_faults();
    let (mut records, mut faults) = (0, 0);
    loop {
        match reader.next_record() {
            Ok(Some(_)) => records += 1,
            Ok(None) => return (records, faults),
            Err(_) => faults += 1,
        }
    }
}

#[test]
fn bytes_that_are_all_wrong_take_no_longer_than_others() {
    let start = std::time::Instant::now();
    for wrong in [b"\0".as_slice(), b"\xff", b"\xe9\0"] {
        let head = b"k\n1\n".as_slice();
        let of_one_line = [head, &wrong.repeat(4 << 20), b"\n2\n"].concat();
        assert_eq!(with_faults(of_one_line), (3, 1), "{wrong:?}");
        let line = [b"a".as_slice(), wrong, b"b\n"].concat();
        let of_many = [head, &line.repeat(1 << 20), b"2\n"].concat();
        assert_eq!(with_faults(of_many), (3, 1 << 20), "{wrong:?}");
    }
    // Were each looked for from the end of the one before, this would take hours.
    assert!(start.elapsed().as_secs() < 60, "{:?}", start.elapsed());
}
