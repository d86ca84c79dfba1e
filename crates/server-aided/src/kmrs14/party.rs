//! A party: which figure it runs, what it enters into a run, and the steps that its figures share.
//!
//! Every step first checks whether the board has its outcome. A party that was interrupted runs the
//! same program again, with the same secrets and the same rows, and resumes where it stopped.

use super::board::{Board, Boards, Wanted};
use super::catalogue::Variant;
use super::label_keys::LabelKeys;
use super::list::{CommonRows, Means, OwnList, SentList};
use super::slot::{Kind, Slot, answer_parts};
use super::spec::Spec;
use vesica_core::{Error, Items, Misbehaviour, Refusal, Result, Secret};
use vesica_labels::{Bits, Format, ListError};

/// Bytes of a digest, a secret or a share.
pub(super) const DIGEST_LEN: usize = 32;

/// Bytes that sealing adds.
pub const SEAL_LEN: usize = 16;

/// Runs the party of `run` with its `items` to the end. The caller stores the outcome and then
/// sends `done` to the helper.
///
/// # Errors
/// Any [`Error`]. The caller can call it again after [`Error::Transport`], and after a refusal that
/// [passes](vesica_core::Refusal::passes).
pub fn run(
    run: &RunFacts<'_>,
    items: &dyn Items,
    means: &Means<'_>,
    boards: &dyn Boards,
) -> Result<Outcome> {
    let party = PartySteps::new(run, means, boards)?;
    match run.spec.variant {
        Variant::SemiHonest => {
            let f_k = LabelKeys::new(run.secret.expose(), run.spec, run.party);
            party.semi_honest(&f_k, items)
        }
        Variant::Malicious => party.malicious(items),
        Variant::Fair => party.fair(items),
        Variant::SizeHiding | Variant::Pet if run.party == 0 => party.size_hiding_p_1(items),
        Variant::SizeHiding | Variant::Pet => party.size_hiding_p_2(items),
    }
}

/// The exchange of Figures 1 and 2 with the items themselves as labels: an intersection by a helper
/// that hides nothing. For comparison of costs only; the helper sees all items.
///
/// # Errors
/// As [`run`].
pub fn run_in_clear(
    run: &RunFacts<'_>,
    items: &dyn Items,
    means: &Means<'_>,
    boards: &dyn Boards,
) -> Result<Outcome> {
    let items_themselves = LabelKeys::in_clear(run.spec, run.party);
    PartySteps::new(run, means, boards)?.semi_honest(&items_themselves, items)
}

/// What a party knows of a run once the parties have met and tossed their coins.
pub struct RunFacts<'a> {
    /// The spec that the helper has.
    pub spec: &'a Spec,
    /// The index of this party in the spec.
    pub party: u8,
    /// The scales that the parties announced in their signed hellos.
    pub scales: &'a [u32],
    /// The secret that the parties tossed. Fresh in every run: labels of an earlier run would
    /// distinguish dummies from items.
    pub secret: &'a Secret<[u8; 32]>,
    /// Random bytes of this party only, the same whenever it comes back to the same run.
    pub own_secret: &'a Secret<[u8; 32]>,
    /// Seals messages to the other party, which pass through the helper.
    pub seal: &'a dyn Seal,
    /// What the helper has already shown this party in this run.
    pub memory: &'a dyn Memory,
}

/// What a party remembers of a run, even if it is interrupted and comes back. Without it a helper
/// could show the party something else the second time, and learn its reaction to both.
pub trait Memory: Sync {
    /// Whether `digest` equals the first one given for what the helper shows in slots of `kind`.
    /// The first one is stored before this returns, and kept until the run ends.
    ///
    /// # Errors
    /// [`Error::Storage`].
    fn is_same(&self, kind: Kind, digest: &[u8; DIGEST_LEN]) -> Result<bool>;
}

/// Seals bytes from one party to the other under a key that the helper does not have.
pub trait Seal: Sync {
    /// Seals `body` for the other party; [`SEAL_LEN`] bytes longer. The same body gives the same
    /// bytes.
    ///
    /// # Errors
    /// [`Error::Bug`].
    fn seal(&self, kind: Kind, part: u32, body: Vec<u8>) -> Result<Vec<u8>>;

    /// Opens what the other party sealed.
    ///
    /// # Errors
    /// [`Misbehaviour::InvalidValue`] if the other party did not seal it.
    fn open(&self, kind: Kind, part: u32, body: Vec<u8>) -> Result<Vec<u8>>;
}

/// What a party learned.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outcome {
    /// The matching rows. `None` for a party that does not receive, and for one whose answer failed
    /// its checks.
    pub matched: Option<CommonRows>,
    /// Why this party refuses its answer. A refusal can depend on its own items and on what is
    /// common, so no other party may notice it: the caller continues as after a good answer and
    /// sends `done` to the helper. Only then does this party end with an error.
    pub refused: Option<Misbehaviour>,
    /// The number of labels in each party's list, c·n + 2t.
    pub list_lens: Vec<u64>,
}

impl Outcome {
    /// The outcome of the checks of the answer; `None` if the party received no answer.
    pub(super) fn of(checked: Option<Result<CommonRows>>, list_lens: Vec<u64>) -> Result<Self> {
        let (matched, refused) = match checked {
            None => (None, None),
            Some(Ok(matched)) => (Some(matched), None),
            Some(Err(Error::PeerMisbehaved(why))) => (None, Some(why)),
            Some(Err(error)) => return Err(error),
        };
        Ok(Self { matched, refused, list_lens })
    }

    /// The outcome, for a caller that has sent `done`.
    ///
    /// # Errors
    /// [`Error::PeerMisbehaved`] if the party refused the answer.
    pub fn checked(self) -> Result<Self> {
        match self.refused {
            Some(why) => Err(why.into()),
            None => Ok(self),
        }
    }
}

/// The steps of a party, and what they use.
pub(super) struct PartySteps<'a> {
    pub(super) run: &'a RunFacts<'a>,
    /// How each party's list is written.
    pub(super) formats: Vec<Format>,
    pub(super) means: &'a Means<'a>,
    pub(super) boards: &'a dyn Boards,
}

impl<'a> PartySteps<'a> {
    fn new(run: &'a RunFacts<'a>, means: &'a Means<'a>, boards: &'a dyn Boards) -> Result<Self> {
        let formats = run.spec.formats(run.scales).ok_or(Misbehaviour::InvalidValue)?;
        Ok(Self { run, formats, means, boards })
    }
}

impl PartySteps<'_> {
    /// π_i(F_K(S_i^c + D_0 + D_i)), where π_i is the order of the labels.
    pub(super) fn sort(&self, f_k: &LabelKeys, s_i: &dyn Items) -> Result<OwnList> {
        OwnList::make(
            s_i,
            self.format(),
            self.means,
            |items, take| f_k.of_items(items, take),
            |take| f_k.of_dummies(take),
        )
    }

    /// Sends T_i to the helper, then |T_i|.
    pub(super) fn send(&self, board: &mut dyn Board, t_i: OwnList) -> Result<SentList> {
        let place = Slot::new(Kind::Labels, self.run.party);
        let t_i = t_i.send(place, board, self.boards, self.means)?;
        self.send_size(board, t_i.len())?;
        Ok(t_i)
    }

    /// Sends the number of labels of this party's list, which marks it as complete.
    pub(super) fn send_size(&self, board: &mut dyn Board, len: u64) -> Result<()> {
        let (spec, party) = (self.run.spec, self.run.party);
        if len < spec.list_len(spec.parties[self.own()].min_rows) {
            return Err(Refusal::TooFew { party }.into());
        }
        board.put(Slot::new(Kind::Size, party), &len.to_le_bytes())
    }

    /// For each of the `len` labels of this party's list, whether it is in I, and |T_j| of each
    /// party j, in one round trip. A party that does not receive the answer waits until the helper
    /// has stored its list.
    pub(super) fn receive_answer(
        &self,
        board: &mut dyn Board,
        len: u64,
    ) -> Result<(Option<Bits>, Vec<u64>)> {
        let receives = self.run.spec.parties[self.own()].receives;
        let mut wanted = if receives { self.answer_slots(len) } else { Vec::new() };
        let parts = wanted.len();
        wanted.extend(self.size_slots());
        let answer_len = if receives { len.div_ceil(8) as usize } else { 0 };
        let (mut bytes, mut sizes) = (Vec::with_capacity(answer_len), Vec::new());
        board.get_each(&wanted, &mut |number, body| {
            if number < parts {
                bytes.extend_from_slice(&body)
            } else {
                sizes.push(body)
            }
            Ok(())
        })?;
        let i = receives.then(|| bits(bytes, len)).transpose()?;
        Ok((i, self.sizes(sizes, len)?))
    }

    /// |T_j| of each party j; that of this party is `own_len`.
    pub(super) fn receive_sizes(&self, board: &mut dyn Board, own_len: u64) -> Result<Vec<u64>> {
        self.sizes(get_all(board, &self.size_slots())?, own_len)
    }

    /// The slots of the helper's answer to this party's list of `len` labels, with their lengths.
    pub(super) fn answer_slots(&self, len: u64) -> Vec<Wanted> {
        bit_parts(len)
            .map(|(part, len)| Wanted::new(Slot::part(Kind::Answer, self.run.party, part), len))
            .collect()
    }

    /// The slots of the sizes of the others' lists, with their lengths.
    pub(super) fn size_slots(&self) -> Vec<Wanted> {
        let others = (0..self.run.spec.parties.len()).filter(|party| *party != self.own());
        others.map(|party| Wanted::new(Slot::new(Kind::Size, party as u8), 8)).collect()
    }

    /// |T_j| of each party j, from what the slots of the others hold.
    pub(super) fn sizes(&self, of_others: Vec<Vec<u8>>, own_len: u64) -> Result<Vec<u64>> {
        let mut of_others = of_others.into_iter();
        let one = |party: usize| {
            if party == self.own() {
                return Ok(own_len);
            }
            let body = of_others.next().ok_or(Error::Bug("every slot was asked for"))?;
            let len = u64::from_le_bytes(exact(body)?);
            if self.run.spec.takes(party, self.formats[party], len) {
                Ok(len)
            } else {
                Err(Misbehaviour::InvalidValue.into())
            }
        };
        (0..self.run.spec.parties.len()).map(one).collect()
    }

    /// Fails with `otherwise` if the helper has shown this party something else of `kind` before.
    pub(super) fn remember(
        &self,
        kind: Kind,
        digest: &[u8; DIGEST_LEN],
        otherwise: Misbehaviour,
    ) -> Result<()> {
        if self.run.memory.is_same(kind, digest)? { Ok(()) } else { Err(otherwise.into()) }
    }

    pub(super) fn own(&self) -> usize {
        usize::from(self.run.party)
    }

    pub(super) fn format(&self) -> Format {
        self.formats[self.own()]
    }
}

/// The bytes of all of `wanted`.
pub(super) fn get_all(board: &mut dyn Board, wanted: &[Wanted]) -> Result<Vec<Vec<u8>>> {
    let mut bodies = Vec::with_capacity(wanted.len());
    board.get_each(wanted, &mut |_, body| {
        bodies.push(body);
        Ok(())
    })?;
    Ok(bodies)
}

/// Bits over a list of `len` labels, as another party or the helper wrote them.
pub(super) fn bits(bytes: Vec<u8>, len: u64) -> Result<Bits> {
    Bits::from_bytes(bytes, len).ok_or(Misbehaviour::InvalidValue.into())
}

/// The parts of the bits over a list of `len` labels, each with its bytes.
pub(super) fn bit_parts(len: u64) -> impl Iterator<Item = (u32, usize)> {
    let bytes = len.div_ceil(8);
    (0..answer_parts(len)).map(move |part| {
        let rest = bytes - u64::from(part) * Slot::ANSWER_PART_LEN;
        (part, rest.min(Slot::ANSWER_PART_LEN) as usize)
    })
}

/// The error of a list that another party or the helper wrote.
pub(super) fn of_list(error: ListError) -> Error {
    match error {
        ListError::Io(kind) => Error::Storage(kind),
        _ => Misbehaviour::InvalidValue.into(),
    }
}

/// The bytes of a slot of a fixed length.
pub(super) fn exact<const LEN: usize>(body: Vec<u8>) -> Result<[u8; LEN]> {
    body.try_into().map_err(|_| Misbehaviour::InvalidValue.into())
}
