//! Every message that a test can construct: of this side's data, settings and service. `runs.rs`
//! has those of runs.

use crate::runs;
use std::io::ErrorKind;
use std::ops::ControlFlow;
use std::path::PathBuf;
use vesica_agreement::Agreement;
use vesica_core::Error;
use vesica_diagnostics::arguments::ArgumentFault;
use vesica_diagnostics::helper::{HelperFailure, HelperPlaces};
use vesica_diagnostics::{
    Message, Speech, agreement, arguments, defect, helper, input, link, no_memory, no_threads,
    shares, stores,
};
use vesica_engine::InputFault;
use vesica_engine::shares::SharesError;
use vesica_helper::{OptionsError, Settings, StartError, StoreError};
use vesica_label_joins::{BackendError, BadUrl};
use vesica_link::{IdentityError, LinkError, PublicIdentity};
use vesica_records::{Extra, Faults, KeyColumn, KeyItems, KeyLimits, Refusal, Survey, survey_keys};
use vesica_store_backends::{Service, SshFault, StoresError, UrlFault};
use vesica_store_session::RunsError;
use vesica_tables::{
    Codec, Columns, Content, EncodingGuess, FileKind, Foreign, Format, InputError, Misquoted,
    OutputError, Place, ReadOptions, Source, Stray, StrayKind, Unlike, ValueFault, Workbook,
};

/// The messages for a reader who calls Vesica as in `say`.
pub(crate) fn all(say: Speech) -> Vec<Message> {
    let mut messages = vec![defect("the test", say), no_threads(say), no_memory(say)];
    messages.extend(argument_faults().iter().map(|fault| arguments::error(fault, say)));
    messages.extend(identity_errors().iter().map(|error| link::identity(error, say)));
    messages.extend(input_errors().iter().map(|error| input::data(error, say)));
    messages.extend(output_errors().iter().map(|error| input::output(error, say)));
    messages.extend(input_faults().iter().map(|fault| input::fault(fault, say)));
    messages.extend(
        ["x,1\n", "x,1\nx,2\n", "x,1\nx,2\n7,1,2\n"]
            .map(|rows| input::faults(&faults_of(rows), say)),
    );
    messages.extend(share_errors().iter().map(|error| shares::error(error, say)));
    messages.extend(helper_failures().iter().map(|failure| helper::failure(failure, say)));
    messages.extend(["", "version = 1", "version = \"\"", "version = 2\nhidden = 1"].map(|text| {
        agreement::error(&Agreement::parse(text).expect_err("an agreement that lacks a field"))
    }));
    let faults =
        [RunsError::CannotList, RunsError::CannotRemove, RunsError::Store(ErrorKind::NotFound)];
    for place in PLACES {
        messages.extend(faults.map(|fault| vesica_diagnostics::runs::error(fault, place)));
        messages.extend(stores_errors().iter().map(|error| stores::error(place, error, say)));
    }
    messages.extend(runs::all(say));
    messages
}

/// A place of each kind.
pub(crate) const PLACES: [&str; 5] = [
    "a folder",
    "s3://bucket/prefix",
    "gs://bucket/prefix",
    "az://container/prefix",
    "sftp://user@host/folder",
];

fn stores_errors() -> Vec<StoresError> {
    let mut errors = vec![StoresError::UnknownScheme, StoresError::OtherRegion];
    let kinds = [
        ErrorKind::PermissionDenied,
        ErrorKind::NotFound,
        ErrorKind::TimedOut,
        ErrorKind::Unsupported,
        ErrorKind::StorageFull,
    ];
    errors.extend(kinds.map(StoresError::Folder));
    errors.extend(kinds.map(StoresError::Ssh));
    errors.extend(kinds.map(StoresError::Runtime));
    for fault in [
        UrlFault::NoName,
        UrlFault::NoPath,
        UrlFault::Secret,
        UrlFault::Extra,
        UrlFault::Name,
        UrlFault::Port,
    ] {
        errors.push(StoresError::Url(fault));
    }
    for service in [Service::S3, Service::Google, Service::Azure] {
        errors.extend([
            StoresError::NoCredentials(service),
            StoresError::Settings(service),
            StoresError::NoBucket(service),
            StoresError::Refused(service),
        ]);
        errors.extend(kinds.map(|kind| StoresError::Service { service, kind }));
    }
    for fault in [
        SshFault::NoProgram,
        SshFault::HostKey,
        SshFault::Login,
        SshFault::UnknownHost,
        SshFault::NoSftp,
        SshFault::Settings,
    ] {
        errors.push(StoresError::SshRefused(fault));
    }
    errors
}

pub(crate) fn path() -> PathBuf {
    PathBuf::from("a folder/a file")
}

pub(crate) fn identity() -> PublicIdentity {
    PublicIdentity::from_bytes([7; 32])
}

fn argument_faults() -> Vec<ArgumentFault> {
    let name = || "north".to_owned();
    vec![
        ArgumentFault::NothingToRestart,
        ArgumentFault::ListenWithHelper,
        ArgumentFault::ExchangeWithHelper,
        ArgumentFault::NoRunsWithHelper,
        ArgumentFault::NotANumberOfAParty { asked: name() },
        ArgumentFault::NoHelperAddress { helper: name() },
        ArgumentFault::NoAddress,
        ArgumentFault::NoKey,
        ArgumentFault::OtherParty { asked: name(), is: name() },
        ArgumentFault::NoSuchParty { asked: name(), known: vec![name(), name()] },
    ]
}

fn identity_errors() -> Vec<IdentityError> {
    let kind = ErrorKind::PermissionDenied;
    vec![
        IdentityError::Missing { path: path() },
        IdentityError::Unreadable { path: path(), kind },
        IdentityError::NotAKeyFile { path: path() },
        IdentityError::BadChecksum { path: path() },
        IdentityError::IsPublic { path: path() },
        IdentityError::OfAnother { path: path(), owner: 1000 },
        IdentityError::TooOpen { path: path(), mode: 0o644, owner: None, can_change: true },
        IdentityError::TooOpen { path: path(), mode: 0o644, owner: Some(0), can_change: false },
        IdentityError::Exists { path: path() },
        IdentityError::Unwritable { path: path(), kind },
        IdentityError::NoRandomness,
    ]
}

fn input_faults() -> Vec<InputFault> {
    vec![
        InputFault::Data(InputError::Empty { path: path() }),
        InputFault::Output(OutputError::DiskFull { path: path() }),
        InputFault::TooFewKeys { distinct: 3, min: 5 },
        InputFault::TooFewDifferent { min: 5 },
        InputFault::OtherRows { state: path() },
    ]
}

fn input_errors() -> Vec<InputError> {
    let (path, line, reason) = (path(), 3, ErrorKind::PermissionDenied);
    let place = || Place::Line(3);
    let column = || "email".to_owned();
    let path = || path.clone();
    let type_name = || "Struct".to_owned();
    let missing = |nearest: &[&str], guessed| InputError::ColumnMissing {
        path: path(),
        column: column(),
        nearest: nearest.iter().map(ToString::to_string).collect(),
        guessed,
        columns: Box::default(),
    };
    let at_line = |line| InputError::ColumnMissing {
        path: path(),
        column: column(),
        nearest: Vec::new(),
        guessed: None,
        columns: Box::new(Columns { count: 2, from_header: true, line, ..Columns::default() }),
    };
    let mut errors = vec![
        at_line(Some(4)),
        at_line(None),
        InputError::StandardInput,
        InputError::BadComment { comment: b'"' },
        InputError::AllSkipped { path: path(), lines: 1 },
        InputError::Workbook { path: path(), workbook: Workbook::Excel },
        InputError::Missing { path: path() },
        InputError::NotAFile { path: path(), kind: FileKind::Pipe },
        InputError::Unreadable { path: path(), reason },
        InputError::UnknownFormat { path: path() },
        InputError::BadDelimiter { delimiter: b'"' },
        InputError::Empty { path: path() },
        InputError::NoRows { path: path(), format: Format::Csv },
        InputError::NoRows { path: path(), format: Format::Parquet },
        missing(&["mail", "e_mail"], None),
        missing(&[], None),
        missing(&[], Some(b'\t')),
        missing(&[], Some(b';')),
        InputError::DuplicateColumn { path: path(), column: column(), first: 1, second: 2 },
        InputError::Ragged { path: path(), line, expected: 2, found: 3 },
        InputError::UnterminatedQuote { path: path(), line },
        InputError::RecordTooLong { path: path(), line, limit_bytes: 1 << 20 },
        InputError::DamagedCompression { path: path(), codec: Codec::Gzip },
        InputError::WindowTooLarge { path: path() },
        InputError::TooManyOpen { path: path() },
        InputError::DamagedParquet { path: path() },
        InputError::UnsupportedKeyType { path: path(), column: column(), type_name: type_name() },
        InputError::UnsupportedValueType { path: path(), column: column(), type_name: type_name() },
        InputError::DayWithTimeZone { path: path(), column: column() },
        InputError::SixteenBytes { path: path(), column: column() },
        InputError::TimestampRange { path: path(), column: column() },
        InputError::TotalTooLarge {
            path: path(),
            place: place(),
            column: column(),
            bits: 8,
            signed: true,
        },
        InputError::DuplicateKey { path: path(), first: Place::Row(2), second: Place::Row(4) },
        InputError::KeyTooLong { path: path(), place: place(), column: column(), max_bytes: 64 },
        InputError::NoKeys { path: path(), rows: 9, empty: 4, refused: 5 },
        InputError::TooManyRows { path: path(), limit: 10 },
        InputError::Changed { path: path() },
        InputError::NoParts { path: path() },
        InputError::ColumnOfFolders { path: path(), column: column() },
        InputError::DamagedColumn { path: path(), column: column() },
        InputError::Interrupted,
    ];
    for kind in [
        StrayKind::OtherFile,
        StrayKind::Folder,
        StrayKind::BadName,
        StrayKind::LinkToFolder,
        StrayKind::TableLog,
    ] {
        errors.push(InputError::StrayEntry { folder: path(), path: path().join("x"), kind });
    }
    let types = ["Int64".to_owned(), "Int32".to_owned()];
    let types = Unlike::Types { column: column(), types };
    for unlike in [Unlike::Formats, Unlike::Columns, types, Unlike::Folders] {
        let [first, second] = ["a.csv", "b.csv"].map(|name| path().join(name));
        errors.push(InputError::UnlikeParts { first, second, unlike });
    }
    let mut contents =
        vec![Content::Parquet, Content::Gzip, Content::Zstd, Content::Zip, Content::Unknown];
    let foreign = [Foreign::Markup, Foreign::Xz, Foreign::Pgp, Foreign::LfsPointer, Foreign::Json];
    contents.extend(foreign.map(Content::Foreign));
    errors.extend(contents.into_iter().map(|found| InputError::WrongContent {
        path: path(),
        expected: Content::Text,
        found,
    }));
    for guess in [EncodingGuess::SingleByte, EncodingGuess::Utf16, EncodingGuess::Unknown] {
        let column = Some(column());
        errors.push(InputError::InvalidUtf8 {
            path: path(),
            place: place(),
            byte: 5,
            column,
            guess,
        });
    }
    for stray in [Stray::Nul, Stray::AfterQuote, Stray::AfterBackslash] {
        errors.push(InputError::Stray { path: path(), line, byte: 5, stray });
    }
    for how in [Misquoted::BlankBeforeQuote, Misquoted::SingleQuotes] {
        errors.push(InputError::Misquoted { path: path(), place: place(), column: column(), how });
    }
    let (bits, column) = (8, column());
    for fault in [
        ValueFault::Negative,
        ValueFault::NotPlain,
        ValueFault::TooLarge { bits },
        ValueFault::OutOfRange { bits },
        ValueFault::NotANumber,
        ValueFault::NoGroup,
        ValueFault::TooLong { max_bytes: 24 },
        ValueFault::NotADate,
    ] {
        errors.push(InputError::BadValue {
            path: path(),
            place: place(),
            column: column.clone(),
            fault,
        });
    }
    for reason in [Refusal::NotAnEmail, Refusal::AmbiguousDate, Refusal::TooLong] {
        errors.push(InputError::Refused {
            path: path(),
            place: place(),
            column: column.clone(),
            reason,
        });
    }
    errors
}

fn output_errors() -> Vec<OutputError> {
    let (column, type_name) = ("tags".to_owned(), "List".to_owned());
    vec![
        OutputError::UnknownFormat { path: path() },
        OutputError::Exists { path: path() },
        OutputError::NotAFile { path: path(), kind: FileKind::Directory },
        OutputError::SameAsInput { path: path() },
        OutputError::WithinInput { path: path() },
        OutputError::NoDirectory { directory: path() },
        OutputError::DiskFull { path: path() },
        OutputError::Unwritable { path: path(), reason: ErrorKind::ReadOnlyFilesystem },
        OutputError::TooManyOpen { path: path() },
        OutputError::NotJson { path: path() },
        OutputError::UnsupportedTextType { column: column.clone(), type_name: type_name.clone() },
        OutputError::UnwritableCell {
            place: Place::Row(4),
            column: column.clone(),
            type_name: type_name.clone(),
        },
        OutputError::ColumnTaken { column: column.clone(), is_mark: true },
        OutputError::ColumnTaken { column: column.clone(), is_mark: false },
        OutputError::UnsupportedParquetType { column, type_name },
    ]
}

/// The faults of a file with these rows of a key and a value, where the key must be a number.
fn faults_of(rows: &str) -> Faults {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("faults.csv");
    std::fs::write(&file, format!("number,value\n5,1\n{rows}")).unwrap();
    let source = Source::open(&file, &ReadOptions::default()).unwrap();
    let (name, profile) = ("number".to_owned(), "integer:32".parse().unwrap());
    let columns = [KeyColumn { column: name.clone(), name, profile, never: Vec::new() }];
    let hash = KeyItems::integers(&columns, 1 << 40).expect("one column of integers");
    let limits = KeyLimits { strict: true, ..KeyLimits::default() };
    let mut survey = Survey::new(columns.to_vec(), 1);
    let mut progress = |_| ControlFlow::Continue(());
    survey_keys(&source, Extra::default(), &hash, &limits, &mut survey, &mut progress).unwrap();
    survey.finish().0
}

fn share_errors() -> Vec<SharesError> {
    vec![
        SharesError::Unreadable { path: path(), kind: ErrorKind::NotFound },
        SharesError::NotShares { path: path() },
        SharesError::Version { path: path(), found: 9, known: 1 },
        SharesError::Damaged { path: path(), what: "keys".to_owned() },
        SharesError::Checksum { path: path() },
        SharesError::OutOfRange { column: "amount".to_owned(), bits: 8 },
        SharesError::SameShare { share: 1 },
        SharesError::OtherComputation,
        SharesError::Differ { field: "bits" },
    ]
}

fn helper_failures() -> Vec<HelperFailure> {
    let kind = ErrorKind::PermissionDenied;
    let at = || HelperPlaces {
        listen: "0.0.0.0:7500".to_owned(),
        metrics: "127.0.0.1:7501".to_owned(),
        backend: "redis://host:6379/0".to_owned(),
    };
    let started = [
        StartError::Link(LinkError::PortInUse),
        StartError::Link(LinkError::PortForbidden),
        StartError::Store(StoreError::InUse { path: path() }),
        StartError::Store(StoreError::NotOurs { path: path() }),
        StartError::Store(StoreError::Writable { path: path(), mode: 0o777 }),
        StartError::Store(StoreError::Unusable {
            path: path(),
            kind: ErrorKind::DirectoryNotEmpty,
        }),
        StartError::Store(StoreError::Unusable { path: path(), kind }),
        StartError::Metrics(ErrorKind::AddrInUse),
        StartError::Metrics(kind),
        StartError::MetricsNotLoopback,
        StartError::SameParty { name: "north".to_owned() },
        StartError::OwnIdentity { name: "north".to_owned() },
        StartError::NoThread(ErrorKind::WouldBlock),
        StartError::Backend(BackendError::BadUrl(BadUrl::Encoding)),
        StartError::Backend(BackendError::BadUrl(BadUrl::Port)),
        StartError::Backend(BackendError::Unreachable(ErrorKind::ConnectionRefused)),
        StartError::Backend(BackendError::Refused),
        StartError::Backend(BackendError::WeakAuthentication),
        StartError::Backend(BackendError::Directory(kind)),
        StartError::Backend(BackendError::OutOfSpace),
        StartError::Backend(BackendError::Nonsense),
    ];
    let options = [
        OptionsError::Backend(BackendError::Threads),
        OptionsError::Threads(Error::Bug("the test")),
    ];
    let settings = [
        "",
        "a",
        "other = 1",
        "[helper]\nlisten = 1",
        "[helper]\nbackend = \"other:\"",
        "[party.NORTH]",
        "[party.north]",
        "[party.north]\nidentity = \"vesica1x\"",
        "[party.north]\nidentity = \"vesica1x\"\nmax_rows = -1",
    ];
    let parsed = settings.map(|text| Settings::parse(text).expect_err("faulty settings"));
    let missing = Settings::load(path()).expect_err("no file");
    let started = started.map(|error| HelperFailure::Start { error, at: at() });
    let options = options.map(|error| HelperFailure::Options { error, at: at() });
    let settings = parsed.into_iter().chain([missing]).map(HelperFailure::Settings);
    started.into_iter().chain(options).chain(settings).collect()
}
