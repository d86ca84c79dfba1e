//! The messages of a mirror, and the names of objects in them.

use crate::name::{self, RunName, parse_object};
use std::io;
use vesica_core::TransportError;
use vesica_net::StreamReader;

pub(super) const HAVE: u8 = 0;
pub(super) const OBJECT: u8 = 1;
pub(super) const LEAVE: u8 = 2;

/// Why a connection ends.
pub(super) enum Fault {
    /// The connection is lost.
    Line,
    /// The folder of this side failed.
    Here(io::ErrorKind),
    /// The other side has sent what no party sends.
    There,
    /// The other side has an object of this side that this side's state does not have.
    SetBack,
}

impl Fault {
    pub(super) fn here(error: io::Error) -> Self {
        Fault::Here(error.kind())
    }
}

impl From<TransportError> for Fault {
    fn from(_: TransportError) -> Self {
        Fault::Line
    }
}

/// Kinds of objects, by who wrote them and when in a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Hello,
    Shares,
    /// A numbered object of the other side.
    Numbered,
    /// A numbered object of this side.
    Own,
    /// The last object of a side.
    Last,
}

impl Kind {
    /// The kind of the object of this name, as party `own` sees it; `None` if no run under the
    /// agreement with this `prefix` has such an object.
    pub(super) fn of(name: &str, prefix: &str, own: u8) -> Option<Self> {
        let (run, object) = name.split_once('/')?;
        RunName::parse(run).filter(|run| run.prefix() == prefix)?;
        let (party, kind) = parse_object(object)?;
        Some(match kind {
            name::Kind::Hello => Kind::Hello,
            name::Kind::Shares => Kind::Shares,
            name::Kind::Numbered if party == own => Kind::Own,
            name::Kind::Numbered => Kind::Numbered,
            // No party writes a detached object to a mirror.
            name::Kind::Detached => return None,
            name::Kind::End | name::Kind::GivenUp => Kind::Last,
        })
    }

    pub(super) fn rank(self) -> u8 {
        match self {
            Kind::Hello => 0,
            Kind::Shares => 1,
            Kind::Numbered | Kind::Own => 2,
            Kind::Last => 3,
        }
    }
}

fn push_name(bytes: &mut Vec<u8>, name: &str) {
    // A name has at most 64 bytes.
    bytes.push(name.len() as u8);
    bytes.extend_from_slice(name.as_bytes());
}

/// The message that lists the objects of this side.
pub(super) fn have_of(names: &[String]) -> Vec<u8> {
    let mut bytes = vec![HAVE];
    bytes.extend_from_slice(&(names.len() as u32).to_le_bytes());
    names.iter().for_each(|name| push_name(&mut bytes, name));
    bytes
}

/// The start of the message that carries an object.
pub(super) fn object_of(name: &str, len: usize) -> Vec<u8> {
    let mut bytes = vec![OBJECT];
    push_name(&mut bytes, name);
    bytes.extend_from_slice(&(len as u32).to_le_bytes());
    bytes
}

pub(super) fn read<const N: usize>(reader: &mut dyn StreamReader) -> Result<[u8; N], Fault> {
    let mut bytes = [0; N];
    reader.read_exact(&mut bytes)?;
    Ok(bytes)
}

pub(super) fn read_name(reader: &mut dyn StreamReader) -> Result<String, Fault> {
    let [len] = read(reader)?;
    let mut bytes = vec![0; len.into()];
    reader.read_exact(&mut bytes)?;
    String::from_utf8(bytes).map_err(|_| Fault::There)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_objects_of_the_agreement_have_a_kind() {
        let kind = |name: &str| Kind::of(name, "0011223344556677", 1);
        assert_eq!(kind("0011223344556677-0001/0-hello"), Some(Kind::Hello));
        assert_eq!(kind("0011223344556677-0001/1-shares"), Some(Kind::Shares));
        assert_eq!(kind("0011223344556677-10001/0-000012"), Some(Kind::Numbered));
        assert_eq!(kind("0011223344556677-0001/1-1000012"), Some(Kind::Own));
        assert_eq!(kind("0011223344556677-0001/1-given-up"), Some(Kind::Last));
        for other in [
            "0011223344556678-0001/0-hello",
            "0011223344556677-001/0-hello",
            "0011223344556677-0001/2-hello",
            "0011223344556677-0001/0-../../x",
            "0011223344556677-0001/../0-hello",
            "0011223344556677-0001/0-00001x",
            "0011223344556677-0001/0-12345",
            "0011223344556677-0001/0-hello/x",
            "0011223344556677-0001",
            "/0011223344556677-0001/0-hello",
        ] {
            assert_eq!(kind(other), None, "{other}");
        }
    }
}
