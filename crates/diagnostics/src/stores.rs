//! Stores and shared folders that cannot be used.

use crate::{Message, Speech, Who, files, words};
use std::io::ErrorKind;
use vesica_store_backends::{SCHEMES, Service, SshFault, StoresError, UrlFault};

/// Why the store cannot be used; `shown` is its place without secrets.
pub fn error(shown: &str, error: &StoresError, say: Speech) -> Message {
    match *error {
        StoresError::Folder(kind) => cause(shown, kind),
        StoresError::UnknownScheme => Message::here(
            format!("unsupported store URL {shown}"),
            format!(
                "give {} a folder, or a URL that begins with one of {}",
                say.exchange(),
                words::list(&SCHEMES.map(|scheme| format!("{scheme}://")))
            ),
        )
        .by(Who::Caller),
        StoresError::Url(fault) => {
            let error = format!("{shown} is not a valid location: {}", url_fault(fault));
            Message::here(error, url_hint(shown)).by(Who::Caller)
        }
        StoresError::NoCredentials(service) => Message::here(
            format!("{shown} cannot be used: there are no credentials for {}", name(service)),
            format!("set {} in the environment", variables(service)),
        ),
        StoresError::Settings(service) => Message::here(
            format!("the settings for {} in the environment cannot be used", name(service)),
            format!("check {}, and the other variables of its kind", variables(service)),
        ),
        StoresError::OtherRegion => Message::here(
            format!("{shown} is in another region"),
            "set AWS_REGION to the region of the bucket",
        ),
        StoresError::NoBucket(service) => Message::here(
            format!("{shown} cannot be used: {} has no such {}", name(service), bucket(service)),
            format!(
                "check the name{}, or create the {}",
                match service {
                    Service::S3 => ", AWS_REGION and AWS_ENDPOINT_URL",
                    Service::Google => "",
                    Service::Azure => " and AZURE_STORAGE_ACCOUNT_NAME",
                },
                bucket(service)
            ),
        ),
        StoresError::Refused(service) => Message::here(
            format!("{} refuses access to {shown}", name(service)),
            format!(
                "check {}, whether they have expired, and whether they may list the {}",
                variables(service),
                bucket(service)
            ),
        ),
        StoresError::Service { kind, .. } | StoresError::Ssh(kind) => cause(shown, kind),
        StoresError::SshRefused(fault) => ssh(shown, fault),
        StoresError::Runtime(_) => crate::no_threads(say),
        _ => Message::here(format!("{shown} cannot be used"), "choose another place"),
    }
}

pub(crate) fn is_url(place: &str) -> bool {
    place.contains("://")
}

/// The URL, preceded by the kind of store.
fn with_kind(url: &str) -> String {
    let scheme = url.split("://").next().unwrap_or_default().to_ascii_lowercase();
    match &*scheme {
        "s3" => format!("the {} {url}", bucket(Service::S3)),
        "gs" => format!("the {} {url}", bucket(Service::Google)),
        "az" => format!("the {} {url}", bucket(Service::Azure)),
        "sftp" => format!("the SFTP folder {url}"),
        _ => url.to_owned(),
    }
}

/// An error of the store `place` while it is in use. A place that is not a URL is a folder.
pub fn cause(place: &str, kind: ErrorKind) -> Message {
    if !is_url(place) {
        return Message::here(
            format!("the folder {place} cannot be used: {}", files::cause(kind)),
            files::folder_hint(kind),
        );
    }
    let (cause, hint) = match kind {
        ErrorKind::PermissionDenied => (
            "access is refused".to_owned(),
            "check the credentials, whether they have expired, and what they may do there",
        ),
        ErrorKind::NotFound => ("it does not exist".to_owned(), "check its name, or create it"),
        kind if is_of_network(kind) => {
            let error = format!("{} cannot be reached: {kind}", with_kind(place));
            return Message::here(error, "check the address and the network").by(Who::Network);
        }
        ErrorKind::Unsupported => (
            "it cannot do what a run needs".to_owned(),
            "use a store that can write an object only if its name is not taken",
        ),
        kind => (files::cause(kind), "check the place, or choose another one"),
    };
    Message::here(format!("{} cannot be used: {cause}", with_kind(place)), hint)
}

/// The message if a store that is an object of the caller's program raised an exception of this
/// `class`, which corresponds to this `kind`. The exception itself is the cause of the error.
pub fn raised(class: &str, kind: ErrorKind, say: Speech) -> Message {
    let who = if is_of_network(kind) { Who::Network } else { Who::Caller };
    let again = say.again();
    Message::here(
        format!("your store object raised {class}"),
        format!("see the cause of this error; then {again}: the run resumes"),
    )
    .by(who)
}

fn is_of_network(kind: ErrorKind) -> bool {
    matches!(
        kind,
        ErrorKind::ConnectionAborted
            | ErrorKind::ConnectionRefused
            | ErrorKind::ConnectionReset
            | ErrorKind::TimedOut
            | ErrorKind::HostUnreachable
            | ErrorKind::NetworkUnreachable
            | ErrorKind::BrokenPipe
    )
}

fn ssh(shown: &str, fault: SshFault) -> Message {
    let (error, hint) = match fault {
        SshFault::NoProgram => (
            "ssh is not installed".to_owned(),
            "install the OpenSSH client, and put it in PATH".to_owned(),
        ),
        SshFault::HostKey => (
            format!("ssh does not know the host key of {shown}, or knows a different one"),
            "connect once with sftp, compare the host key with the one that the server's owner \
             gives you, and accept it"
                .to_owned(),
        ),
        SshFault::Login => (
            format!("the server of {shown} refuses the login"),
            "check the user's name and the key with sftp; the key must be usable without a \
             password, for example through an agent"
                .to_owned(),
        ),
        SshFault::UnknownHost => (
            format!("the host name in {shown} cannot be resolved"),
            "check the name, and the ssh settings".to_owned(),
        ),
        SshFault::NoSftp => (
            format!("the server of {shown} does not offer SFTP"),
            "ask the server's owner to enable the sftp subsystem".to_owned(),
        ),
        _ => (
            "the ssh settings cannot be used".to_owned(),
            "check them with sftp, and VESICA_SSH_CONFIG if it is set".to_owned(),
        ),
    };
    Message::here(error, hint)
}

fn url_fault(fault: UrlFault) -> &'static str {
    match fault {
        UrlFault::NoName => "the name of the bucket or the host is missing",
        UrlFault::NoPath => "the folder is missing",
        UrlFault::Secret => "it must not contain a password or a key",
        UrlFault::Extra => "it has a part that such a URL cannot have",
        UrlFault::Port => "the port is not a number from 1 to 65535",
        _ => "a name in it has characters that are not allowed",
    }
}

/// The form of URLs with the scheme of `shown`.
fn url_hint(shown: &str) -> &'static str {
    match shown.split("://").next().unwrap_or_default() {
        "s3" | "S3" => {
            "write s3://BUCKET/PREFIX; the credentials come from the environment, such as \
             AWS_ACCESS_KEY_ID"
        }
        "gs" | "GS" => {
            "write gs://BUCKET/PREFIX; the credentials come from the environment, such as \
             GOOGLE_APPLICATION_CREDENTIALS"
        }
        "az" | "AZ" => {
            "write az://CONTAINER/PREFIX; the credentials come from the environment, such as \
             AZURE_STORAGE_ACCOUNT_KEY"
        }
        "file" | "FILE" => "write file:///FOLDER, or the folder alone",
        _ => {
            "write sftp://USER@HOST:PORT/FOLDER; ssh finds the key, and `/~/FOLDER` is in the \
             home folder"
        }
    }
}

fn name(service: Service) -> &'static str {
    match service {
        Service::S3 => "S3",
        Service::Google => "Google Cloud Storage",
        Service::Azure => "Azure Blob Storage",
    }
}

fn bucket(service: Service) -> &'static str {
    match service {
        Service::S3 | Service::Google => "bucket",
        Service::Azure => "container",
    }
}

fn variables(service: Service) -> &'static str {
    match service {
        Service::S3 => "AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY",
        Service::Google => "GOOGLE_APPLICATION_CREDENTIALS",
        Service::Azure => "AZURE_STORAGE_ACCOUNT_NAME and AZURE_STORAGE_ACCOUNT_KEY",
    }
}
