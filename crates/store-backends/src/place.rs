//! Stores opened by the name of their place.

use crate::bucket::Bucket;
use crate::error::{Service, StoresError, UrlFault};
use crate::sftp::Sftp;
use crate::ssh::Target;
use std::ffi::OsStr;
use std::path::Path;
use std::sync::Arc;
use vesica_store_session::{FolderStore, Store};

/// The schemes of URLs that name a place.
pub const SCHEMES: [&str; 5] = ["file", "s3", "gs", "az", "sftp"];

/// The store that `place` names: a folder by its path or a URL `file:///…`, `s3://bucket/prefix`,
/// `gs://bucket/prefix`, `az://container/prefix` or `sftp://user@host:port/folder`. It must exist.
/// Credentials for buckets come from the environment; for SFTP `ssh` finds them.
///
/// # Errors
/// [`StoresError`].
pub fn open(place: impl AsRef<OsStr>) -> Result<Arc<dyn Store>, StoresError> {
    let place = place.as_ref();
    let Some((scheme, rest)) = place.to_str().and_then(scheme) else {
        return folder(Path::new(place));
    };
    let bucket = |service| {
        let (name, prefix) = bucket_of(rest).map_err(StoresError::Url)?;
        Ok(Arc::new(Bucket::open(service, name, prefix)?) as Arc<dyn Store>)
    };
    match &*scheme.to_ascii_lowercase() {
        "file" => folder(Path::new(file_of(rest).map_err(StoresError::Url)?)),
        "s3" => bucket(Service::S3),
        "gs" => bucket(Service::Google),
        "az" => bucket(Service::Azure),
        "sftp" => {
            let (target, root) = server_of(rest).map_err(StoresError::Url)?;
            Ok(Arc::new(Sftp::open(target, root)?))
        }
        _ => Err(StoresError::UnknownScheme),
    }
}

/// `place` for people to read, without a password that it may contain.
#[must_use]
pub fn shown(place: impl AsRef<OsStr>) -> String {
    let place = place.as_ref().to_string_lossy();
    let Some((scheme, rest)) = scheme(&place) else { return place.into_owned() };
    let (authority, path) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
    let path = path.split(['?', '#']).next().unwrap_or_default();
    let authority = match authority.rsplit_once('@') {
        Some((user, host)) => match user.split_once(':') {
            Some((user, _)) => format!("{user}:…@{host}"),
            None => authority.to_owned(),
        },
        None => authority.to_owned(),
    };
    format!("{scheme}://{authority}{path}")
}

fn folder(path: &Path) -> Result<Arc<dyn Store>, StoresError> {
    match FolderStore::open(path) {
        Ok(store) => Ok(Arc::new(store)),
        Err(error) => Err(StoresError::Folder(error.kind())),
    }
}

/// The scheme of a URL, and what follows `://`.
fn scheme(place: &str) -> Option<(&str, &str)> {
    let (scheme, rest) = place.split_once("://")?;
    let mut letters = scheme.bytes();
    let is_scheme = letters.next().is_some_and(|letter| letter.is_ascii_alphabetic())
        && letters.all(|letter| letter.is_ascii_alphanumeric() || b"+-.".contains(&letter));
    is_scheme.then_some((scheme, rest))
}

/// The path in a URL `file://…`, on this machine.
fn file_of(rest: &str) -> Result<&str, UrlFault> {
    let path = rest.strip_prefix("localhost").unwrap_or(rest);
    if path.starts_with('/') { Ok(path) } else { Err(UrlFault::NoPath) }
}

/// The bucket, and the prefix without a `/` before or after it.
fn bucket_of(rest: &str) -> Result<(&str, &str), UrlFault> {
    let (name, prefix) = rest.split_once('/').unwrap_or((rest, ""));
    if name.contains('@') {
        return Err(UrlFault::Secret);
    }
    if name.contains(':') || rest.contains(['?', '#']) {
        return Err(UrlFault::Extra);
    }
    if name.is_empty() {
        return Err(UrlFault::NoName);
    }
    let is_name = |c: char| c.is_ascii_alphanumeric() || ".-_".contains(c);
    let prefix = prefix.trim_matches('/');
    let is_part = |part: &str| {
        part.is_empty() && prefix.is_empty()
            || !part.is_empty()
                && part != "."
                && part != ".."
                && part.chars().all(|c| c.is_ascii_alphanumeric() || "!-_.*'()=+,@".contains(c))
    };
    if name.chars().all(is_name) && prefix.split('/').all(is_part) {
        Ok((name, prefix))
    } else {
        Err(UrlFault::Name)
    }
}

/// The server, and the folder on it, starting with the first `/`.
fn server_of(rest: &str) -> Result<(Target, &str), UrlFault> {
    let (authority, root) = rest.split_at(rest.find('/').ok_or(UrlFault::NoPath)?);
    let (user, host) = match authority.rsplit_once('@') {
        Some((user, host)) => (Some(user), host),
        None => (None, authority),
    };
    if user.is_some_and(|user| user.contains(':')) {
        return Err(UrlFault::Secret);
    }
    let (host, port) = match host.strip_prefix('[').and_then(|host| host.split_once(']')) {
        Some((host, "")) => (host, None),
        Some((host, port)) => (host, Some(port.strip_prefix(':').ok_or(UrlFault::Name)?)),
        None => match host.split_once(':') {
            Some((host, port)) => (host, Some(port)),
            None => (host, None),
        },
    };
    if host.is_empty() {
        return Err(UrlFault::NoName);
    }
    if root.trim_matches('/').is_empty() {
        return Err(UrlFault::NoPath);
    }
    if root.contains(['?', '#']) {
        return Err(UrlFault::Extra);
    }
    // Also refuses what `ssh` would take for an option or expand.
    let is_name = |name: &str, more: &str| {
        !name.is_empty()
            && !name.starts_with('-')
            && name
                .chars()
                .all(|c| c.is_ascii_alphanumeric() || "-._".contains(c) || more.contains(c))
    };
    if !is_name(host, ":") || !user.is_none_or(|user| is_name(user, "+\\")) {
        return Err(UrlFault::Name);
    }
    if root.contains(|c: char| c.is_control() || c == '%')
        || root.split('/').any(|part| part == "..")
    {
        return Err(UrlFault::Name);
    }
    let port = port.map(|port| port.parse().ok().filter(|port| *port != 0).ok_or(UrlFault::Port));
    let target =
        Target { user: user.map(str::to_owned), host: host.to_owned(), port: port.transpose()? };
    Ok((target, root.trim_end_matches('/')))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fault(place: &str) -> StoresError {
        open(place).err().unwrap()
    }

    #[test]
    fn a_path_and_a_file_url_are_the_same_folder() {
        let root = tempfile::tempdir().unwrap();
        let path = root.path().to_str().unwrap();
        let one = open(path).unwrap();
        assert!(one.put_if_absent("run/a", b"one").unwrap());
        for place in [format!("file://{path}"), format!("FILE://localhost{path}")] {
            let read = open(place).unwrap().get("run/a", vesica_store_session::Lengths::ANY);
            assert_eq!(read.unwrap().unwrap(), b"one");
        }
        assert_eq!(fault("/no/such/folder"), StoresError::Folder(std::io::ErrorKind::NotFound));
        assert_eq!(fault("file://folder"), StoresError::Url(UrlFault::NoPath));
    }

    #[test]
    fn urls_that_name_no_place_are_refused_before_anything_is_asked() {
        for scheme in ["http", "ftp", "s3a", "memory"] {
            assert_eq!(fault(&format!("{scheme}://host/x")), StoresError::UnknownScheme);
        }
        for (place, expected) in [
            ("s3://", UrlFault::NoName),
            ("s3:///x", UrlFault::NoName),
            ("s3://key:secret@bucket/x", UrlFault::Secret),
            ("gs://bucket:1/x", UrlFault::Extra),
            ("s3://bucket/x?versions", UrlFault::Extra),
            ("az://container/a//b", UrlFault::Name),
            ("az://container/../b", UrlFault::Name),
            ("s3://buck et/b", UrlFault::Name),
            ("sftp://host", UrlFault::NoPath),
            ("sftp://host/", UrlFault::NoPath),
            ("sftp:///x", UrlFault::NoName),
            ("sftp://user:secret@host/x", UrlFault::Secret),
            ("sftp://-oProxyCommand=x/x", UrlFault::Name),
            ("sftp://-x@host/x", UrlFault::Name),
            ("sftp://host:0/x", UrlFault::Port),
            ("sftp://host:65536/x", UrlFault::Port),
            ("sftp://host:ssh/x", UrlFault::Port),
            ("sftp://host/a/../b", UrlFault::Name),
        ] {
            assert_eq!(fault(place), StoresError::Url(expected), "{place}");
        }
    }

    #[test]
    fn the_parts_of_urls_are_found() {
        assert_eq!(bucket_of("bucket"), Ok(("bucket", "")));
        assert_eq!(bucket_of("bucket/a/b/"), Ok(("bucket", "a/b")));
        let server = |rest| server_of(rest).map(|(target, root)| (target.to_string(), root));
        for (rest, target, root) in [
            ("host/x", "host", "/x"),
            ("user@host:22/x/y/", "user@host:22", "/x/y"),
            ("[::1]:22/x", "[::1]:22", "/x"),
            ("host/~/x", "host", "/~/x"),
        ] {
            assert_eq!(server(rest), Ok((target.to_owned(), root)));
        }
    }

    #[test]
    fn no_password_is_shown() {
        for (place, expected) in [
            ("/mnt/a:b@c", "/mnt/a:b@c"),
            ("s3://key:secret@bucket/x", "s3://key:…@bucket/x"),
            ("sftp://user@host/x", "sftp://user@host/x"),
            ("az://container/x?sig=secret", "az://container/x"),
        ] {
            assert_eq!(shown(place), expected);
        }
    }
}
