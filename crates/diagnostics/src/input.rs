//! Data that cannot be used, and results that cannot be written.

mod hints;

use crate::columns;
use crate::words::counted;
use crate::{Message, Speech, doubts, files};
use hints::{converted, foreign, missing_column, workbook};
use std::path::Path;
use vesica_agreement::figures::grouped;
use vesica_engine::InputFault;
use vesica_records::{Faults, KeyCounts, Profile, Refusal};
use vesica_tables::{
    Content, EncodingGuess, FRAME, FileKind, Format, InputError, Misquoted, OutputError, Place,
    Stray, StrayKind, Unlike, ValueFault, shown,
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
    let floats = counts.floats.iter().map(doubts::floats);
    let misfits = counts.misfits.iter().map(doubts::misfit);
    let frequent = counts.frequent.iter().map(|key| doubts::frequent(key, counts.rows));
    let rules = counts.by_rule.iter().flat_map(|of_rule| {
        let reasons = [
            (of_rule.too_many, "more keys than were agreed"),
            (of_rule.not_taken, "a value that a transform does not take"),
        ];
        reasons.into_iter().filter(|(rows, _)| *rows > 0).map(move |(rows, why)| {
            let (rows, name) = (counted(rows, "row"), &of_rule.name);
            format!("{rows} with {why} have no key under the rule {name:?}")
        })
    });
    quoted.chain(floats).chain(misfits).chain(frequent).chain(rules).collect()
}

/// An input as the subject of a sentence.
fn input(path: &Path) -> String {
    if path == Path::new(FRAME) {
        FRAME.to_owned()
    } else {
        format!("the input file {}", shown(path))
    }
}

/// An input file that cannot be used.
pub fn data(error: &InputError, say: Speech) -> Message {
    match error {
        InputError::Missing { path } => Message::here(
            format!("the input file {} does not exist", shown(path)),
            "check the name and the directory you are in",
        ),
        InputError::NotAFile { path, kind } => Message::here(
            format!("the input {} is {kind}", shown(path)),
            match kind {
                FileKind::Pipe | FileKind::Device => {
                    "give a regular file: it is read twice, once for its keys and once for the \
                     result; write what comes from a program, or from <(…), to a file first"
                }
                _ => {
                    "give a regular file, or a folder of such files: an input is read twice, once \
                     for its keys and once for the result"
                }
            },
        ),
        InputError::StandardInput => Message::here(
            "the input - would be standard input, which can be read only once",
            "the input is read twice, once for its keys and once for the result: write it to a \
             file first, and give that; /dev/stdin and <(…) cannot be read twice either",
        ),
        InputError::Workbook { path, workbook: kind } => {
            Message::here(format!("{} is {kind}", input(path)), workbook(path, say))
        }
        InputError::Unreadable { path, reason } => Message::here(
            format!("the input file {} cannot be read: {}", shown(path), files::cause(*reason)),
            files::read_hint(*reason),
        ),
        InputError::UnknownFormat { path } => Message::here(
            format!("the name of {} does not show its format", shown(path)),
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
        InputError::BadComment { comment } => Message::here(
            format!("lines of comments cannot begin with the byte {comment:#04x}"),
            "give one ASCII character other than a quote, a line end or the delimiter",
        ),
        InputError::WrongContent { path, expected, found } => Message::here(
            match found {
                Content::Foreign(found) => format!("{} holds {found}", shown(path)),
                _ => format!("{} should be {expected} but holds {found}", shown(path)),
            },
            match found {
                Content::Foreign(found) => foreign(*found).to_owned(),
                Content::Zip => "unpack it, and give the file with the rows".to_owned(),
                Content::Gzip => "give it a name that ends in .gz".to_owned(),
                Content::Zstd => "give it a name that ends in .zst".to_owned(),
                Content::Parquet => {
                    format!("give it a name that ends in .parquet, or add {}", say.parquet())
                }
                _ if matches!(expected, Content::Gzip | Content::Zstd) => {
                    "give it a name without .gz or .zst if it is not compressed".to_owned()
                }
                _ => format!("check the file, or name its format with {}", say.format()),
            },
        ),
        InputError::Empty { path } => {
            Message::here(format!("{} is empty", input(path)), "check how it was exported")
        }
        InputError::AllSkipped { path, lines } => Message::here(
            format!("{} has only {}", input(path), counted(*lines, "line")),
            format!("{} must leave the header and rows", say.skip_rows()),
        ),
        InputError::NoRows { path, format } => Message::here(
            format!("{} has column names but no rows", input(path)),
            format!(
                "check how it was {}; an {} without rows is allowed only with min_rows = 0 in the \
                 agreement",
                match format {
                    Format::Csv | Format::Tsv => say.either(
                        "exported; if its first row is data, add --no-header",
                        "exported; if its first row is data, add `header=False`",
                    ),
                    _ => "made",
                },
                say.either("input file", "input")
            ),
        ),
        InputError::ColumnMissing { path, column, nearest, guessed, columns } => Message::here(
            format!("{} has no column {column:?}", input(path)),
            missing_column(column, nearest, *guessed, columns, say),
        ),
        InputError::DuplicateColumn { path, column, first, second } => Message::here(
            format!(
                "{} has two columns {column:?}, column {first} and column {second}",
                input(path)
            ),
            format!(
                "rename one of them, or choose another column with {}, where KEY is its name in \
                 the agreement",
                say.key_column()
            ),
        ),
        InputError::Ragged { path, line, expected, found } => Message::here(
            format!(
                "{}, line {line}: the row has {} instead of {expected}",
                shown(path),
                counted(*found as u64, "field"),
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
                shown(path),
                column.as_ref().map_or(String::new(), |column| format!(", column {column:?}")),
            ),
            match guess {
                EncodingGuess::Unknown if matches!(place, Place::Row(_)) => {
                    "binary columns are compared as UTF-8; if they hold UUIDs, agree on the \
                     profile uuid; if digests, on hex: and the digest's name, as hex:sha256"
                        .to_owned()
                }
                EncodingGuess::SingleByte => format!(
                    "it is in another encoding, in western Europe often WINDOWS-1252; convert it \
                     with the name of its own encoding: {}",
                    converted(path, "WINDOWS-1252")
                ),
                EncodingGuess::Utf16 => {
                    format!("it looks like UTF-16; convert it: {}", converted(path, "UTF-16"))
                }
                _ => "export the file again as UTF-8".to_owned(),
            },
        ),
        InputError::Stray { path, line, byte, stray } => Message::here(
            format!("{}, line {line}, byte {byte}: {stray}", shown(path)),
            match stray {
                Stray::Nul => "the file is damaged, binary or UTF-16; export it again as UTF-8",
                Stray::AfterBackslash => {
                    "write a quote inside a quoted value twice, as \"\"; Spark does so with \
                     .option(\"escape\", \"\\\"\")"
                }
                _ => "write a quote inside a quoted value twice, as \"\"",
            },
        ),
        InputError::Misquoted { path, place, column, how } => Message::here(
            format!("{}, {place}: column {column:?} {how}", shown(path)),
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
            format!("{}, line {line}: the quote that opens here is never closed", shown(path)),
            "close the quote, or write a quote inside a value twice, as \"\"",
        ),
        InputError::RecordTooLong { path, line, limit_bytes } => Message::here(
            format!(
                "{}, line {line}: the row is longer than {} bytes",
                shown(path),
                grouped(*limit_bytes)
            ),
            "check the line for a quote that is never closed",
        ),
        InputError::DamagedCompression { path, codec } => Message::here(
            format!("{}: the {codec} data is damaged or cut off", shown(path)),
            "copy or compress the file again",
        ),
        InputError::WindowTooLarge { path } => Message::here(
            format!("{}: the zstd data needs a window of more than 128 MiB", shown(path)),
            format!(
                "the file is intact, but was compressed with {} or more: compress it again without \
                 that option, or give it uncompressed",
                say.either("`zstd --long=28`", "a window of 2^28 bytes (zstd's option `long`)")
            ),
        ),
        InputError::TooManyOpen { path } => Message::here(
            format!(
                "{} cannot be opened: this process or the machine has too many open files",
                shown(path)
            ),
            files::MORE_FILES,
        ),
        InputError::DamagedParquet { path } => Message::here(
            format!("{}: the Parquet data is damaged, or of an unsupported kind", shown(path)),
            "copy or export the file again; encrypted Parquet is not supported",
        ),
        InputError::DamagedColumn { path, column } => Message::here(
            format!(
                "{}: column {column:?} is damaged, or encrypted, or of an unsupported kind",
                shown(path)
            ),
            "the result holds whole rows: copy or export the file again, or leave the column out",
        ),
        InputError::UnsupportedKeyType { .. }
        | InputError::UnsupportedValueType { .. }
        | InputError::DayWithTimeZone { .. }
        | InputError::SixteenBytes { .. }
        | InputError::TimestampRange { .. } => columns::unusable(error, say),
        InputError::BadValue { path, place, column, fault } => Message::here(
            format!("{}, {place}: column {column:?} {fault}", shown(path)),
            match fault {
                ValueFault::OutOfRange { bits: 64 } => "correct the number, or agree on a text",
                ValueFault::TooLarge { .. } | ValueFault::OutOfRange { .. } => {
                    "agree on more bits, or correct the value"
                }
                ValueFault::Negative => {
                    "values are whole numbers from 0 up, unless the agreement has signed = true; \
                     an empty cell counts as 0"
                }
                ValueFault::NoGroup => {
                    "agree on all groups, or correct the cell; a row with an empty cell is in no \
                     group"
                }
                ValueFault::TooLong { .. } => "agree on more bytes, or shorten it: no text is cut",
                ValueFault::NotADate => "write dates as 2026-11-29, or leave the cell empty",
                _ => {
                    "values are whole numbers in plain digits, for example cents in place of \
                     euros; in a sum an empty cell counts as 0"
                }
            },
        ),
        InputError::TotalTooLarge { .. } => Message::here(
            error.to_string(),
            "rows with the same key are added up: agree on more bits, on duplicates = \"first\", \
             or on a key that fewer rows share",
        ),
        InputError::DuplicateKey { path, first, second } => Message::here(
            format!("{}, {second}: the key is already in {first}", shown(path)),
            "remove one of them, or agree on duplicates = \"first\", or for values \"sum\"",
        ),
        InputError::KeyTooLong { path, place, column, max_bytes } => Message::here(
            format!(
                "{}, {place}: column {column:?} makes the key longer than {} bytes",
                shown(path),
                grouped(*max_bytes as u64)
            ),
            "agree on more key_bytes in [union], or correct the value",
        ),
        InputError::Refused { path, place, column, reason } => Message::here(
            format!("{}, {place}: column {column:?} {}", shown(path), refusal(*reason)),
            format!(
                "correct the value, or {} to skip and count such rows",
                say.either("leave out --strict", "give `strict=False`")
            ),
        ),
        InputError::NoKeys { path, rows, empty, refused } => Message::here(
            format!(
                "{}: none of the {} rows has a usable key: {} empty, {} refused",
                shown(path),
                grouped(*rows),
                grouped(*empty),
                grouped(*refused)
            ),
            format!(
                "the column ({}) or the profile may be wrong; {} shows the reasons, and the shapes \
                 of the values",
                say.column(),
                say.check()
            ),
        ),
        InputError::AlreadyRead { path } => Message::here(
            format!("{} was read before, and can be read only once", input(path)),
            "give the frame, or the path of the file, again",
        ),
        InputError::BadBatch { path } => Message::here(
            format!("{}: its source failed, or supplied damaged columns", input(path)),
            "read it to its end without Vesica: the library that made it says what is wrong",
        ),
        InputError::TooManyRows { path, limit } => Message::here(
            format!("{} has more than {}", shown(path), counted(*limit, "row")),
            "this is max_rows in the agreement: agree on a larger number, or provide fewer rows",
        ),
        InputError::Changed { path } => Message::here(
            format!("{} was changed, replaced or removed during the run", input(path)),
            "no result was written; run again with a file that does not change during the run",
        ),
        InputError::NoParts { path } => Message::here(
            format!("the input folder {} holds no file with rows", path.display()),
            "empty files, and files whose names begin with _ or ., do not count: check how the \
             folder was written",
        ),
        InputError::StrayEntry { path, kind, .. } => stray(path, *kind, say),
        InputError::UnlikeParts { unlike, .. } => Message::here(
            format!("the files of a folder are one table, but {error}"),
            match unlike {
                Unlike::Formats => "put the files of each format into a separate folder",
                Unlike::Columns => say.either(
                    "export all files with the same columns in the same order; if the files have \
                     no header, add --no-header",
                    "export all files with the same columns in the same order; if the files have \
                     no header, add `header=False`",
                ),
                Unlike::Types { .. } => "export all files with the same types",
                _ => "folders within the folder are named column=value, all after the same columns",
            },
        ),
        InputError::ColumnOfFolders { path, column } => Message::here(
            format!(
                "{}: the names of folders give column {column:?} a second time",
                path.display()
            ),
            "rename the folders, or write the files without this column",
        ),
        error => Message::here(error.to_string(), check_it(say)),
    }
}

/// An entry of a folder that does not belong to its data.
fn stray(path: &Path, kind: StrayKind, say: Speech) -> Message {
    let what = format!("the input folder holds {}, {kind}", path.display());
    match kind {
        StrayKind::OtherFile => Message::here(
            what,
            format!(
                "remove it, or put _ before its name; if it holds rows, add {}",
                say.either(
                    "--format csv, tsv or parquet",
                    "`format=` with \"csv\", \"tsv\" or \"parquet\""
                )
            ),
        ),
        StrayKind::TableLog => Message::here(
            what,
            "old files still hold rows that the table no longer has: export the table to one file, \
             or to a new folder",
        ),
        StrayKind::LinkToFolder => Message::here(what, "replace the link with the folder itself"),
        StrayKind::BadName => {
            Message::here(what, "folder names must be UTF-8, with bytes escaped as in %2F")
        }
        _ => Message::here(
            what,
            "give the folder that holds the files, or name folders within it column=value",
        ),
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
        Refusal::AmbiguousPhone => {
            "holds a telephone number that could begin with a country code (write such numbers \
             with a plus and the country code)"
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
            format!("the name of the output {} does not show its format", shown(path)),
            "give it a name that ends in .csv, .tsv or .parquet",
        ),
        OutputError::NotJson { path } => Message::here(
            format!("the output {} does not end in .json", shown(path)),
            "shares are written as JSON: give it a name that ends in .json",
        ),
        OutputError::Exists { path } => Message::here(
            format!("the output file {} already exists", shown(path)),
            format!("choose another name, or add {} to replace it", say.force()),
        ),
        OutputError::NotAFile { path, kind } => Message::here(
            format!("the output {} is {kind}", shown(path)),
            "give the name of a regular file",
        ),
        OutputError::SameAsInput { path } => Message::here(
            format!("the output {} is the input file itself", shown(path)),
            "choose another name for the output: the input is never overwritten",
        ),
        OutputError::WithinInput { path } => Message::here(
            format!("the output {} is within the folder that is the input", path.display()),
            "choose another place for the output: the next run would read it as input",
        ),
        OutputError::NoDirectory { directory } => Message::here(
            format!("the directory {} for the output does not exist", shown(directory)),
            "create the directory first, or choose another place",
        ),
        OutputError::DiskFull { path } => Message::here(
            format!("the disk is full: {} was not written", shown(path)),
            "free some space or choose a place on another disk, then run again",
        ),
        OutputError::Unwritable { path, reason } => Message::here(
            format!("the output {} cannot be written: {}", shown(path), files::cause(*reason)),
            files::write_hint(*reason),
        ),
        OutputError::TooManyOpen { path } => Message::here(
            format!(
                "the output {} cannot be created: this process or the machine has too many open \
                 files",
                shown(path)
            ),
            files::MORE_FILES,
        ),
        OutputError::ColumnTaken { column, is_mark } => files::column_taken(column, *is_mark, say),
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
