//! Data that cannot be used, and results that cannot be written.

use crate::words::{counted, list};
use crate::{Message, Speech, doubts, files};
use std::path::Path;
use vesica_agreement::explain::grouped;
use vesica_engine::InputFault;
use vesica_records::{
    Content, EncodingGuess, FRAME, Faults, InputError, KeyCounts, Misquoted, OutputError, Profile,
    Refusal, Stray, ValueFault,
};

/// An input file, or an output, that cannot be used.
pub fn fault(fault: &InputFault, say: Speech) -> Message {
    match fault {
        InputFault::Data(error) => data(error, say),
        InputFault::Output(error) => output(error, say),
        InputFault::TooFewKeys { distinct, min } => Message::here(
            format!(
                "the input has {} different keys; the agreement requires at least {} (min_rows)",
                grouped(*distinct),
                grouped(*min)
            ),
            "provide more rows, or agree on a smaller min_rows with the other side",
        ),
        InputFault::TooFewDifferent { min } => Message::here(
            format!(
                "the input has fewer different keys than the agreement requires: at least {} \
                 (min_rows)",
                grouped(*min)
            ),
            "some of its rows have the same key: provide more rows, or agree on a smaller min_rows \
             with the other side",
        ),
        InputFault::OtherRows { state } => Message::here(
            format!("{} changed since the run in {} began", say.input(), state.display()),
            format!(
                "restore {} and {}; or add {}, which ends the run for all parties and begins a new \
                 one",
                say.input(),
                say.again(),
                say.restart()
            ),
        ),
        fault => Message::here(fault.to_string(), check_it(say)),
    }
}

fn check_it(say: Speech) -> &'static str {
    say.either("run `vesica check` on the file", "call `vesica.check` on the input")
}

/// What is wrong with rows of the file; the list of faults has been printed before.
pub fn faults(faults: &Faults, say: Speech) -> Message {
    match faults.kinds() {
        [kind] if kind.count == 1 => data(&kind.example, say),
        [kind] => Message::here(
            format!(
                "{} rows of the input have the same fault: {}",
                grouped(kind.count),
                kind_of(&kind.example)
            ),
            data(&kind.example, say).hint,
        ),
        kinds => Message::here(
            format!(
                "the rows of the input have {} faults of {} kinds",
                grouped(faults.total()),
                kinds.len()
            ),
            say.either(
                "fix all those listed above: `vesica run` stops at the first",
                "fix all of them: `vesica.run` stops at the first",
            ),
        ),
    }
}

/// What is wrong with rows of one kind, anywhere in the file.
pub fn kind_of(error: &InputError) -> String {
    match error {
        InputError::Ragged { expected, .. } => {
            format!("more or fewer than {}", counted(*expected as u64, "field"))
        }
        InputError::InvalidUtf8 { column: None, .. } => "text that is not UTF-8".to_owned(),
        InputError::InvalidUtf8 { column: Some(column), .. } => {
            format!("column {column:?} is not UTF-8")
        }
        InputError::Stray { stray, .. } => stray.to_string(),
        InputError::Misquoted { column, how, .. } => format!("column {column:?} {how}"),
        InputError::UnterminatedQuote { .. } => "a quote that is never closed".to_owned(),
        InputError::RecordTooLong { limit_bytes, .. } => {
            format!("a row longer than {} bytes", grouped(*limit_bytes))
        }
        InputError::BadValue { column, fault, .. } => format!("column {column:?} {fault}"),
        InputError::TotalTooLarge { column, .. } => {
            format!(
                "the values of one key in column {column:?} add up to more than the agreed bits \
                 can hold"
            )
        }
        InputError::DuplicateKey { .. } => {
            "a key that an earlier row has too, which the agreement refuses".to_owned()
        }
        InputError::KeyTooLong { column, max_bytes, .. } => format!(
            "column {column:?} makes the key longer than {} bytes",
            grouped(*max_bytes as u64)
        ),
        InputError::Refused { column, reason, .. } => {
            format!("column {column:?} {}", refusal(*reason))
        }
        error => error.to_string(),
    }
}

/// Warnings about a usable file: contents that may cost matches.
pub fn warnings(counts: &KeyCounts) -> Vec<String> {
    let quoted = counts.single_quoted.iter().map(|quoted| {
        let places: Vec<String> = quoted.first.iter().map(ToString::to_string).collect();
        let more = if quoted.count > places.len() as u64 { " and more" } else { "" };
        format!(
            "column {:?} has values in single quotes, and the quotes are compared too, in {}: \
             {}{more}",
            quoted.column,
            counted(quoted.count, "row"),
            places.join(", "),
        )
    });
    let misfits = counts.misfits.iter().map(doubts::misfit);
    let frequent = counts.frequent.iter().map(|key| doubts::frequent(key, counts.rows));
    quoted.chain(misfits).chain(frequent).collect()
}

/// An input as the subject of a sentence.
fn input(path: &Path) -> String {
    match path == Path::new(FRAME) {
        true => FRAME.to_owned(),
        false => format!("the input file {}", path.display()),
    }
}

/// An input file that cannot be used.
pub fn data(error: &InputError, say: Speech) -> Message {
    match error {
        InputError::Missing { path } => Message::here(
            format!("the input file {} does not exist", path.display()),
            "check the name and the directory you are in",
        ),
        InputError::NotAFile { path, kind } => Message::here(
            format!("the input {} is {kind}", path.display()),
            "give a regular file: it is read twice, once for its keys and once for the result",
        ),
        InputError::Unreadable { path, reason } => Message::here(
            format!("the input file {} cannot be read: {}", path.display(), files::cause(*reason)),
            files::read_hint(*reason),
        ),
        InputError::UnknownFormat { path } => Message::here(
            format!("the name of {} does not show its format", path.display()),
            format!(
                "add {}, or use a name that ends in .csv, .tsv, .txt or .parquet; .gz or .zst may \
                 follow the first three",
                say.either(
                    "--format csv, tsv or parquet",
                    "`format=` with \"csv\", \"tsv\" or \"parquet\""
                )
            ),
        ),
        InputError::BadDelimiter { delimiter } => Message::here(
            format!("the byte {delimiter:#04x} cannot be a delimiter"),
            "a delimiter is one ASCII character other than a quote or a line end",
        ),
        InputError::WrongContent { path, expected, found } => Message::here(
            format!("{} should be {expected} but holds {found}", path.display()),
            match found {
                Content::Zip => "save the workbook as CSV, and give that file".to_owned(),
                Content::Gzip => "give it a name that ends in .gz".to_owned(),
                Content::Zstd => "give it a name that ends in .zst".to_owned(),
                Content::Parquet => {
                    format!("give it a name that ends in .parquet, or add {}", say.parquet())
                }
                _ => format!("check the file, or name its format with {}", say.format()),
            },
        ),
        InputError::Empty { path } => {
            Message::here(format!("{} is empty", input(path)), "check how it was exported")
        }
        InputError::NoRows { path } => Message::here(
            format!("{} has column names but no rows", input(path)),
            say.either(
                "check how it was exported; if its first row is data, add --no-header; an empty \
                 file is allowed only with min_rows = 0 in the agreement",
                "check how it was made; if the first row of a file is data, add `header=False`; \
                 an input without rows is allowed only with min_rows = 0 in the agreement",
            ),
        ),
        InputError::ColumnMissing { path, column, nearest, guessed } => Message::here(
            format!("{} has no column {column:?}", input(path)),
            if nearest.is_empty() {
                let delimiter = guessed.map_or(String::new(), |guessed| {
                    let by = match guessed {
                        b'\t' => "tabs".to_owned(),
                        byte => format!("{:?}", char::from(byte)),
                    };
                    format!(
                        "; its fields seem to be separated by {by}, {} sets another character",
                        say.delimiter()
                    )
                });
                format!(
                    "choose a column {}with {}, where KEY is its name in the agreement; if the \
                     first row {}is data, add {} and give the number of the column{delimiter}",
                    say.either("of the file ", ""),
                    say.key_column(),
                    say.either("", "of a file "),
                    say.no_header()
                )
            } else {
                format!(
                    "similar columns: {}; choose one with {}, where KEY is its name in the \
                     agreement",
                    list(nearest),
                    say.key_column()
                )
            },
        ),
        InputError::DuplicateColumn { path, first, second } => Message::here(
            format!(
                "{} has two columns with the same name, column {first} and column {second}",
                input(path)
            ),
            format!(
                "rename one of them; if the first row {}is data, add {}",
                say.either("", "of a file "),
                say.no_header()
            ),
        ),
        InputError::Ragged { path, line, expected, found } => Message::here(
            format!(
                "{}, line {line}: the row has {found} fields instead of {expected}",
                path.display()
            ),
            format!(
                "look at the line: often a delimiter or a quote inside a value is not quoted; {} \
                 sets another delimiter",
                say.delimiter()
            ),
        ),
        InputError::InvalidUtf8 { path, place, byte, column, guess } => Message::here(
            format!(
                "{}, {place}, byte {byte}{}: the text is not UTF-8",
                path.display(),
                column.as_ref().map_or(String::new(), |column| format!(", column {column:?}")),
            ),
            match guess {
                EncodingGuess::SingleByte => format!(
                    "it looks like Latin-1 or Windows-1252; convert it: iconv -f WINDOWS-1252 -t \
                     UTF-8 {} > converted.csv",
                    path.display()
                ),
                EncodingGuess::Utf16 => format!(
                    "it looks like UTF-16; convert it: iconv -f UTF-16 -t UTF-8 {} > converted.csv",
                    path.display()
                ),
                _ => "export the file again as UTF-8".to_owned(),
            },
        ),
        InputError::Stray { path, line, byte, stray } => Message::here(
            format!("{}, line {line}, byte {byte}: {stray}", path.display()),
            match stray {
                Stray::Nul => "the file is damaged, binary or UTF-16; export it again as UTF-8",
                _ => "write a quote inside a quoted value twice, as \"\"",
            },
        ),
        InputError::Misquoted { path, place, column, how } => Message::here(
            format!("{}, {place}: column {column:?} {how}", path.display()),
            match how {
                Misquoted::BlankBeforeQuote => {
                    "the blanks and the quotes would be compared too: remove the blanks between a \
                     delimiter and a quote, or export the file again"
                }
                _ => {
                    "the quotes would be compared too, because only \" quotes a value in CSV: \
                     export the file again with \" as the quote, or without quotes"
                }
            },
        ),
        InputError::UnterminatedQuote { path, line } => Message::here(
            format!("{}, line {line}: the quote that opens here is never closed", path.display()),
            "close the quote, or write a quote inside a value twice, as \"\"",
        ),
        InputError::RecordTooLong { path, line, limit_bytes } => Message::here(
            format!(
                "{}, line {line}: the row is longer than {} bytes",
                path.display(),
                grouped(*limit_bytes)
            ),
            "check the line for a quote that is never closed",
        ),
        InputError::DamagedCompression { path, codec } => Message::here(
            format!("{}: the {codec} data is damaged or cut off", path.display()),
            "copy or compress the file again",
        ),
        InputError::WindowTooLarge { path } => Message::here(
            format!("{}: the zstd data needs a window of more than 128 MiB", path.display()),
            format!(
                "the file is intact, but was compressed with {} or more: compress it again without \
                 that option, or give it uncompressed",
                say.either("`zstd --long=28`", "a window of 2^28 bytes (zstd's option `long`)")
            ),
        ),
        InputError::TooManyOpen { path } => Message::here(
            format!(
                "{} cannot be opened: this process or the machine has too many open files",
                path.display()
            ),
            files::MORE_FILES,
        ),
        InputError::DamagedParquet { path } => Message::here(
            format!("{}: the Parquet data is damaged, or of an unsupported kind", path.display()),
            "copy or export the file again; encrypted Parquet is not supported",
        ),
        InputError::UnsupportedKeyType { path, column, type_name } => Message::here(
            format!("{}: column {column:?} of type {type_name} cannot be a key", path.display()),
            say.either(
                "export the column as text, a whole number, a decimal or a date",
                "make the column text, whole numbers, decimals or dates",
            ),
        ),
        InputError::UnsupportedValueType { path, column, type_name } => Message::here(
            format!(
                "{}: column {column:?} of type {type_name} does not hold whole numbers",
                path.display()
            ),
            say.either(
                "export the column as whole numbers, or as text",
                "make the column whole numbers, or text",
            ),
        ),
        InputError::BadValue { path, place, column, fault } => Message::here(
            format!("{}, {place}: column {column:?} {fault}", path.display()),
            match fault {
                ValueFault::TooLarge { .. } | ValueFault::OutOfRange { .. } => {
                    "agree on more bits in the agreement, or correct the value"
                }
                ValueFault::Negative => {
                    "values are whole numbers from 0 up, unless the agreement has signed = true; \
                     an empty cell counts as 0"
                }
                ValueFault::NoGroup => {
                    "agree on all groups, or correct the cell; a row with an empty cell is in no \
                     group"
                }
                _ => {
                    "values are whole numbers in plain digits, for example cents in place of \
                     euros; an empty cell counts as 0"
                }
            },
        ),
        InputError::TotalTooLarge { .. } => Message::here(
            error.to_string(),
            "rows with the same key are added up: agree on more bits, on duplicates = \"first\", \
             or on a key that fewer rows share",
        ),
        InputError::DuplicateKey { path, first, second } => Message::here(
            format!("{}, {second}: the key is already in {first}", path.display()),
            "the agreement refuses rows with the same key: remove one of them, or agree on \
             duplicates = \"sum\" or \"first\"",
        ),
        InputError::KeyTooLong { path, place, column, max_bytes } => Message::here(
            format!(
                "{}, {place}: column {column:?} makes the key longer than {} bytes",
                path.display(),
                grouped(*max_bytes as u64)
            ),
            "agree on more key_bytes in [union], or correct the value",
        ),
        InputError::Refused { path, place, column, reason } => Message::here(
            format!("{}, {place}: column {column:?} {}", path.display(), refusal(*reason)),
            format!(
                "correct the value, or {} to skip and count such rows",
                say.either("leave out --strict", "give `strict=False`")
            ),
        ),
        InputError::NoKeys { path, rows, empty, refused } => Message::here(
            format!(
                "{}: none of the {} rows has a usable key: {} empty, {} refused",
                path.display(),
                grouped(*rows),
                grouped(*empty),
                grouped(*refused)
            ),
            format!(
                "the column ({}) or the profile may be wrong; {} shows the shapes of the values",
                say.column(),
                say.check()
            ),
        ),
        InputError::AlreadyRead { path } => Message::here(
            format!("{} was read before, and can be read only once", input(path)),
            "give the frame, or the path of the file, again",
        ),
        InputError::BadBatch { path } => Message::here(
            format!("{}: what hands it over failed, or handed over damaged columns", input(path)),
            "read it to its end without Vesica: the library that made it says what is wrong",
        ),
        InputError::TooManyRows { path, limit } => Message::here(
            format!("{} has more than {}", path.display(), counted(*limit, "row")),
            "this is max_rows in the agreement: agree on a larger number, or provide fewer rows",
        ),
        InputError::Changed { path } => Message::here(
            format!("{} was changed, replaced or removed during the run", input(path)),
            "no result was written; run again with a file that does not change during the run",
        ),
        error => Message::here(error.to_string(), check_it(say)),
    }
}

/// Why a value was refused, completing "the column …".
pub fn refusal(reason: Refusal) -> String {
    match reason {
        Refusal::AmbiguousDate => {
            "holds a date whose day and month could be swapped (the profile date:dmy or date:mdy \
             settles this)"
                .to_owned()
        }
        Refusal::TooLong => {
            format!("holds a value longer than {} MiB", Profile::MAX_LEN >> 20)
        }
        reason => reason.to_string(),
    }
}

/// A result that cannot be written.
pub fn output(error: &OutputError, say: Speech) -> Message {
    match error {
        OutputError::UnknownFormat { path } => Message::here(
            format!("the name of the output {} does not show its format", path.display()),
            "give it a name that ends in .csv, .tsv or .parquet",
        ),
        OutputError::NotJson { path } => Message::here(
            format!("the output {} does not end in .json", path.display()),
            "shares are written as JSON: give it a name that ends in .json",
        ),
        OutputError::Exists { path } => Message::here(
            format!("the output file {} already exists", path.display()),
            format!("choose another name, or add {} to replace it", say.force()),
        ),
        OutputError::NotAFile { path, kind } => Message::here(
            format!("the output {} is {kind}", path.display()),
            "give the name of a regular file",
        ),
        OutputError::SameAsInput { path } => Message::here(
            format!("the output {} is the input file itself", path.display()),
            "choose another name for the output: the input is never overwritten",
        ),
        OutputError::NoDirectory { directory } => Message::here(
            format!("the directory {} for the output does not exist", directory.display()),
            "create the directory first, or choose another place",
        ),
        OutputError::DiskFull { path } => Message::here(
            format!("the disk is full: {} was not written", path.display()),
            "free some space or choose a place on another disk, then run again",
        ),
        OutputError::Unwritable { path, reason } => Message::here(
            format!("the output {} cannot be written: {}", path.display(), files::cause(*reason)),
            files::write_hint(*reason),
        ),
        OutputError::TooManyOpen { path } => Message::here(
            format!(
                "the output {} cannot be created: this process or the machine has too many open \
                 files",
                path.display()
            ),
            files::MORE_FILES,
        ),
        OutputError::UnwritableCell { place, column, type_name } => Message::here(
            format!(
                "{place}: column {column:?} of type {type_name} holds a value that cannot be \
                 written as text"
            ),
            "give the output a name that ends in .parquet, or leave the column out of the input",
        ),
        OutputError::UnsupportedTextType { column, type_name } => Message::here(
            format!("column {column:?} of type {type_name} cannot be written as text"),
            "give the output a name that ends in .parquet",
        ),
        OutputError::UnsupportedParquetType { column, type_name } => Message::here(
            format!("column {column:?} of type {type_name} cannot be written as Parquet"),
            say.either(
                "leave the column out of the input, or export it as another type",
                "leave the column out of the input, or convert it to another type",
            ),
        ),
        error => Message::here(error.to_string(), "choose another place for the output"),
    }
}
