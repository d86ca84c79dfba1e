//! The causes behind errors of `object_store`.
//!
//! Its own error kinds are few, and the service's answer is only in the text. The codes below are
//! those in the services' answers, in the XML that all three write.

use object_store::client::{HttpError, HttpErrorKind};
use std::error::Error;
use std::io::{self, ErrorKind};

/// Codes for a bucket or a container that does not exist.
const NO_BUCKET: [&str; 3] = ["NoSuchBucket", "ContainerNotFound", "ResourceNotFound"];

/// Codes for credentials that the service does not accept, where its status does not say so.
const REJECTED: [&str; 6] = [
    "ExpiredToken",
    "InvalidToken",
    "TokenRefreshRequired",
    "InvalidAccessKeyId",
    "SignatureDoesNotMatch",
    "AuthenticationFailed",
];

/// Codes for a request that collided with another one for the same name.
const AGAIN: [&str; 2] = ["ConditionalRequestConflict", "OperationAborted"];

/// Codes for a bucket in another region.
const OTHER_REGION: [&str; 3] =
    ["PermanentRedirect", "AuthorizationHeaderMalformed", "IllegalLocationConstraintException"];

/// What failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Cause {
    /// There is no such object.
    NoObject,
    /// There is no such bucket.
    NoBucket,
    /// An object has this name already.
    Exists,
    /// Another request for the name was in progress. An object may have the name now.
    Again,
    /// The credentials are not accepted, or do not permit the request.
    Refused,
    /// The bucket is in another region.
    OtherRegion,
    /// The service did not answer, or answered in an unexpected way.
    Other(ErrorKind),
}

impl Cause {
    pub(crate) fn of(error: &object_store::Error) -> Self {
        use object_store::Error as E;
        let answer = deepest_text(error);
        let has = |codes: &[&str]| codes.iter().any(|code| has_code(&answer, code));
        if has(&NO_BUCKET) {
            return Cause::NoBucket;
        }
        if has(&AGAIN) {
            return Cause::Again;
        }
        if has(&OTHER_REGION) || answer.contains("redirect without LOCATION") {
            return Cause::OtherRegion;
        }
        if has(&REJECTED) {
            return Cause::Refused;
        }
        match error {
            E::NotFound { .. } => Cause::NoObject,
            E::AlreadyExists { .. } | E::Precondition { .. } | E::NotModified { .. } => {
                Cause::Exists
            }
            E::PermissionDenied { .. } | E::Unauthenticated { .. } => Cause::Refused,
            E::NotSupported { .. } | E::NotImplemented { .. } => {
                Cause::Other(ErrorKind::Unsupported)
            }
            E::InvalidPath { .. } => Cause::Other(ErrorKind::InvalidFilename),
            error => Cause::Other(transport(error)),
        }
    }

    /// The error kind that a store returns for this cause.
    pub(crate) fn kind(self) -> ErrorKind {
        match self {
            Cause::NoObject | Cause::NoBucket => ErrorKind::NotFound,
            Cause::Exists => ErrorKind::AlreadyExists,
            Cause::Again => ErrorKind::ResourceBusy,
            Cause::Refused => ErrorKind::PermissionDenied,
            Cause::OtherRegion => ErrorKind::InvalidInput,
            Cause::Other(kind) => kind,
        }
    }
}

/// The text of the innermost error: outer errors also have the names of objects in them.
fn deepest_text(error: &object_store::Error) -> String {
    let mut at: &dyn Error = error;
    while let Some(source) = at.source() {
        at = source;
    }
    at.to_string()
}

fn has_code(answer: &str, code: &str) -> bool {
    answer.contains(&format!("<Code>{code}</Code>"))
}

/// Why a request got no answer.
fn transport(error: &object_store::Error) -> ErrorKind {
    let (mut at, mut found): (Option<&dyn Error>, _) = (Some(error), None);
    while let Some(error) = at {
        if let Some(error) = error.downcast_ref::<HttpError>() {
            found = match error.kind() {
                HttpErrorKind::Timeout => return ErrorKind::TimedOut,
                HttpErrorKind::Connect => Some(ErrorKind::HostUnreachable),
                HttpErrorKind::Request | HttpErrorKind::Interrupted => {
                    Some(ErrorKind::ConnectionReset)
                }
                _ => Some(ErrorKind::InvalidData),
            };
        }
        // The system's error is more exact than the failure to connect.
        if let Some(error) = error.downcast_ref::<io::Error>()
            && !matches!(error.kind(), ErrorKind::Other)
            && error.raw_os_error().is_some()
        {
            return error.kind();
        }
        at = error.source();
    }
    found.unwrap_or(ErrorKind::Other)
}
