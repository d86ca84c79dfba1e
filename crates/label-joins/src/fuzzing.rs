//! For fuzz targets alone: what a helper and a cluster write for each other, without the digests
//! that stop anything random. No part of the interface.

use crate::cluster::{Copied, JoinAnswer, JoinRequest};
use crate::{Digest, RunName};
use vesica_labels::Format;

/// The request in these bytes, to which the digest is added.
pub fn request(body: &[u8]) -> Option<JoinRequest> {
    let sealed = JoinRequest::sealed_body(body);
    let request = JoinRequest::decode(&sealed)?;
    assert!(request.encode() == sealed, "a request is written as it was read");
    Some(request)
}

/// How many files of bits the answer in these bytes has, to which digests are added; 0 if it says
/// that a list is malformed.
pub fn answer(request: &JoinRequest, body: &[u8]) -> Option<usize> {
    let sealed = request.sealed(body);
    Some(match request.decode_answer(&sealed)? {
        JoinAnswer::Parts(parts) => {
            assert!(request.answer(&parts) == sealed, "an answer is written as it was read");
            assert!(sealed.len() as u64 <= request.answer_max_len());
            let bits_len: u64 = parts.iter().map(|(ranges, _)| request.bits_len(ranges)).sum();
            assert!(request.lens().iter().sum::<u64>().div_ceil(8) <= bits_len, "a bit for each");
            parts.len()
        }
        JoinAnswer::Malformed(list) => {
            assert!(list < request.lens().len(), "a list of the request");
            0
        }
    })
}

/// The bytes of a request for a list of two segments and one of one, without its digest.
pub fn request_body() -> Vec<u8> {
    let list = |scale: u32, counts: &[u32]| Copied {
        format: Format::new(scale, 80),
        counts: counts.to_vec(),
        digests: vec![Digest::default(); counts.len()],
    };
    let lists = vec![list(19, &[7, 9]), list(3, &[5])];
    let mut bytes = JoinRequest::new(RunName([1; 16]), [2; 16], lists).encode();
    bytes.truncate(bytes.len() - size_of::<Digest>());
    bytes
}
