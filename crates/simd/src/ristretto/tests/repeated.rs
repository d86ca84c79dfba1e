//! The group operations with outputs of earlier calls, for tests that run a protocol with the same
//! seeds a thousand times.
//!
//! Half of the time of such tests is group operations on the same scalars and elements. Only
//! programs of tests have the feature `repeated`, and only those that call
//! [`remember_repeated_calls`] keep outputs: the arguments, scalars among them, stay in memory.

use super::error::InvalidPoint;
use super::scalar::Scalar;
use super::{intersection, oblivious};
use std::collections::HashMap;
use std::slice;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

/// Bytes of arguments and outputs to keep at most.
const MOST_BYTES: usize = 256 << 20;

type Point = [u8; 32];

/// The outputs by the name and the arguments of the call.
#[derive(Default)]
struct Outputs {
    of: HashMap<Vec<u8>, Arc<[Point]>>,
    bytes: usize,
}

static OUTPUTS: OnceLock<Mutex<Outputs>> = OnceLock::new();

/// From now on a call with the arguments of an earlier one returns the earlier output.
pub fn remember_repeated_calls() {
    OUTPUTS.get_or_init(Mutex::default);
}

/// Fills `out` by `compute`, or with the output of an earlier call of the same `name` and
/// arguments. Errors are computed every time.
fn once(
    name: &str,
    arguments: &[&[u8]],
    scalars: &[Scalar],
    out: &mut [Point],
    compute: impl FnOnce(&mut [Point]) -> Result<(), InvalidPoint>,
) -> Result<(), InvalidPoint> {
    let Some(outputs) = OUTPUTS.get() else { return compute(out) };
    let outputs = || outputs.lock().unwrap_or_else(PoisonError::into_inner);
    let mut call = name.as_bytes().to_vec();
    for argument in arguments {
        call.extend_from_slice(&argument.len().to_le_bytes());
        call.extend_from_slice(argument);
    }
    scalars.iter().for_each(|scalar| call.extend_from_slice(scalar.half.as_bytes()));
    let earlier = outputs().of.get(&call).cloned();
    if let Some(earlier) = earlier {
        out.copy_from_slice(&earlier);
        return Ok(());
    }
    compute(out)?;
    let mut outputs = outputs();
    let bytes = call.len() + out.as_flattened().len();
    if outputs.bytes + bytes <= MOST_BYTES {
        outputs.bytes += bytes;
        outputs.of.insert(call, Arc::from(&*out));
    }
    Ok(())
}

fn once_without_errors(
    name: &str,
    arguments: &[&[u8]],
    scalars: &[Scalar],
    out: &mut [Point],
    compute: impl FnOnce(&mut [Point]),
) {
    let compute = |out: &mut [Point]| {
        compute(out);
        Ok(())
    };
    once(name, arguments, scalars, out, compute).expect("no point is decoded");
}

/// `intersection::hash_mul`, computed once for the same arguments.
pub fn hash_mul(uniform: &[[u8; 64]], k: &Scalar, out: &mut [Point]) {
    let arguments = [uniform.as_flattened()];
    once_without_errors("hash_mul", &arguments, slice::from_ref(k), out, |out| {
        intersection::hash_mul(uniform, k, out);
    });
}

/// `intersection::decode_mul`, computed once for the same arguments.
///
/// # Errors
/// Its errors.
pub fn decode_mul(points: &[Point], k: &Scalar, out: &mut [Point]) -> Result<(), InvalidPoint> {
    let arguments = [points.as_flattened()];
    once("decode_mul", &arguments, slice::from_ref(k), out, |out| {
        intersection::decode_mul(points, k, out)
    })
}

/// `oblivious::base_mul`, computed once for the same arguments.
pub fn base_mul(ks: &[Scalar], out: &mut [Point]) {
    once_without_errors("base_mul", &[], ks, out, |out| oblivious::base_mul(ks, out));
}

/// `oblivious::base_mul_sub_hash`, computed once for the same arguments.
pub fn base_mul_sub_hash(ks: &[Scalar], uniform: &[[u8; 64]], out: &mut [Point]) {
    once_without_errors("base_mul_sub_hash", &[uniform.as_flattened()], ks, out, |out| {
        oblivious::base_mul_sub_hash(ks, uniform, out);
    });
}

/// `oblivious::point_mul`, computed once for the same arguments.
///
/// # Errors
/// Its errors.
pub fn point_mul(point: &Point, ks: &[Scalar], out: &mut [Point]) -> Result<(), InvalidPoint> {
    once("point_mul", &[point], ks, out, |out| oblivious::point_mul(point, ks, out))
}

/// `oblivious::decode_add_hash_mul`, computed once for the same arguments.
///
/// # Errors
/// Its errors.
pub fn decode_add_hash_mul(
    points: &[Point],
    uniform: &[[u8; 64]],
    k: &Scalar,
    out: &mut [Point],
) -> Result<(), InvalidPoint> {
    let arguments = [points.as_flattened(), uniform.as_flattened()];
    once("decode_add_hash_mul", &arguments, slice::from_ref(k), out, |out| {
        oblivious::decode_add_hash_mul(points, uniform, k, out)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// One test, since the switch is for the whole program.
    #[test]
    fn a_repeated_call_returns_the_earlier_output_and_others_are_computed() {
        let call = |argument: u8, output: u8| {
            let mut out = [[0; 32]; 2];
            let compute = |out: &mut [Point]| {
                out.fill([output; 32]);
                if output == 9 { Err(InvalidPoint { index: 1 }) } else { Ok(()) }
            };
            once("a call", &[&[argument]], &[], &mut out, compute).map(|()| out[1][31])
        };
        assert_eq!((call(1, 2), call(1, 3)), (Ok(2), Ok(3)), "nothing is remembered at first");
        remember_repeated_calls();
        assert_eq!((call(1, 4), call(1, 5), call(2, 6)), (Ok(4), Ok(4), Ok(6)));
        assert_eq!((call(3, 9), call(3, 7)), (Err(InvalidPoint { index: 1 }), Ok(7)));
    }
}
