//! What the router chooses at each switch, in the order of the walk.

use super::walk::Kept;
use crate::{Network, Permutation, Routing};
use vesica_core::{ParameterError, Secret};
use vesica_net::Pool;
use zeroize::Zeroize;

/// A bit for each switch; secret, wiped when dropped.
pub(super) struct Choices {
    words: Secret<Vec<u64>>,
}

impl Choices {
    /// The choices that bring the rows at `injection` to the front, of `inputs` rows.
    pub(super) fn of(
        pool: &Pool,
        injection: &[u32],
        inputs: usize,
    ) -> Result<Self, ParameterError> {
        let permutation = completed(injection, inputs)?;
        let routing = Routing::waksman_on(pool, &permutation);
        drop(permutation);
        let network = Kept { len: inputs, kept: injection.len() };
        let words = (network.switch_count().div_ceil(64)) as usize;
        let mut bits = Gathered { words: Secret::new(Vec::with_capacity(words)), next: 0, len: 0 };
        let mut places = vec![[0; 2]; routing.network().levels()];
        gather(&routing, network, &mut places, &mut bits);
        if bits.len > 0 {
            bits.words.expose_mut().push(bits.next);
        }
        bits.next.zeroize();
        Ok(Self { words: bits.words })
    }

    /// The words that have the choices from `first` on, a multiple of 64.
    pub(super) fn from(&self, first: u64) -> &[u64] {
        let words = self.words.expose();
        &words[usize::try_from(first / 64).map_or(words.len(), |first| first.min(words.len()))..]
    }
}

/// A permutation that begins with `injection`; what follows is dropped, so its order does not matter.
fn completed(injection: &[u32], inputs: usize) -> Result<Permutation, ParameterError> {
    let mut taken = Secret::new(vec![false; inputs]);
    let mut sources = Vec::with_capacity(inputs.max(injection.len()));
    for source in injection {
        let taken = taken.expose_mut().get_mut(*source as usize);
        let is_new = taken.is_some_and(|taken| !std::mem::replace(taken, true));
        if !is_new {
            sources.zeroize();
            return Err(ParameterError::NotAnInjection);
        }
        sources.push(*source);
    }
    sources.extend((0..).zip(taken.expose()).filter(|(_, taken)| !**taken).map(|(i, _)| i));
    Permutation::from_sources(sources).map_err(|_| ParameterError::NotAnInjection)
}

struct Gathered {
    words: Secret<Vec<u64>>,
    next: u64,
    len: u32,
}

impl Gathered {
    fn push(&mut self, settings: &[bool]) {
        for setting in settings {
            self.next |= u64::from(*setting) << self.len;
            self.len += 1;
            if self.len == u64::BITS {
                self.words.expose_mut().push(self.next);
                (self.next, self.len) = (0, 0);
            }
        }
    }
}

/// `places` has for each level how many of its input and output switches lie to the left.
fn gather(routing: &Routing, this: Kept, places: &mut [[usize; 2]], bits: &mut Gathered) {
    if this.len < 2 {
        return;
    }
    let Some(([input, output], below)) = places.split_first_mut() else { return };
    let level = routing.network().levels() - below.len() - 1;
    let (inputs, outputs) = (this.inputs(), this.outputs());
    bits.push(&routing.input(level)[*input..][..inputs]);
    for part in this.parts() {
        gather(routing, part, below, bits);
    }
    bits.push(&routing.output(level)[*output..][..outputs]);
    // Also those that are left out lie to the left of the next segment.
    *input += this.len / 2;
    *output += Network::waksman(this.len).output_switches(this.len);
}
