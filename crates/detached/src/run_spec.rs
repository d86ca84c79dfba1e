//! What detached tasks need to know of a run.

use crate::PartRun;
use serde::{Deserialize, Serialize};
use vesica_agreement::{Agreement, split};
use vesica_core::hash::derive;
use vesica_core::{Error, Item, PsiParams, Result, Role, Secret, SessionId};
use vesica_own_rows::self_check::shared_items;
use vesica_partitions::{Plan, Splitter};
use vesica_protocols::{Protocol, Step};
use vesica_store_session::DetachedKeys;

const SEED_LABEL: &str = "vesica tasks 2026 seed of a partition v1";

/// What the tasks of a run need to know: secrets of the run, and nothing of the party's identity.
///
/// Anyone with this spec and the party's rows can take the party's place in this run.
#[derive(Clone, Serialize, Deserialize)]
pub struct RunSpec {
    /// The [version](RunSpec::VERSION) of the process that wrote this spec.
    pub version: String,
    /// The agreement's canonical form.
    pub agreement: String,
    /// The id of the protocol in the catalogue.
    pub row: String,
    /// Whether this party is the sender.
    pub is_sender: bool,
    /// The session's id.
    pub session: [u8; 32],
    /// How many items the sender has.
    pub sender_len: u64,
    /// How many items the receiver has.
    pub receiver_len: u64,
    /// How many partitions there are.
    pub partitions: u64,
    /// The secret that assigns items to partitions.
    pub splitter: [u8; 32],
    /// The secret from which the shared self-check items derive.
    pub check_secret: [u8; 32],
    /// The seed of this party's randomness.
    pub seed: [u8; 32],
    /// The keys with which a task stores this party's messages and reads the peer's.
    pub desk: Vec<u8>,
    /// The label under which bytes are counted.
    pub label: String,
}

impl RunSpec {
    /// The version of this package. Tasks of another version refuse the spec, as its fields might
    /// mean something else.
    pub const VERSION: &str = env!("CARGO_PKG_VERSION");

    /// The spec as JSON, which is secret.
    pub fn to_json(&self) -> String {
        serde_json::to_string(self).unwrap_or_default()
    }

    /// The spec in this JSON; `None` if it is malformed.
    pub fn from_json(json: &str) -> Option<Self> {
        serde_json::from_str(json).ok()
    }
}

/// A run spec, read and checked.
pub(crate) struct CheckedSpec {
    pub(crate) row: &'static Protocol,
    pub(crate) role: Role,
    pub(crate) params: PsiParams,
    pub(crate) plan: Plan,
    pub(crate) desk: DetachedKeys,
    splitter: Splitter,
    shared: Vec<Item>,
    seed: Secret<[u8; 32]>,
    label: String,
}

/// The spec is not of this version.
const OTHER: Error = Error::Bug("a task does not understand its run spec");

impl CheckedSpec {
    /// # Errors
    /// [`Error::Bug`] if this is not a spec of this version.
    pub(crate) fn of(run_spec: &RunSpec) -> Result<Self> {
        if run_spec.version != RunSpec::VERSION {
            return Err(OTHER);
        }
        let agreement = Agreement::parse(&run_spec.agreement).map_err(|_| OTHER)?;
        let row = vesica_protocols::find(&run_spec.row)?;
        let session = SessionId::from_bytes(run_spec.session);
        let params = agreement.params(session, run_spec.sender_len, run_spec.receiver_len)?;
        let plan = split::plan(row, &params);
        if plan.partitions() != run_spec.partitions {
            return Err(OTHER);
        }
        Ok(Self {
            row,
            role: if run_spec.is_sender { Role::Sender } else { Role::Receiver },
            params,
            plan,
            desk: DetachedKeys::from_bytes(&run_spec.desk).ok_or(OTHER)?,
            splitter: Splitter::new(&run_spec.splitter),
            shared: shared_items(&run_spec.check_secret, agreement.self_check as usize),
            seed: Secret::new(run_spec.seed),
            label: run_spec.label.clone(),
        })
    }

    /// More bytes than an honest peer sends to a partition: twice those of the protocol's byte
    /// formula, plus room for overhead.
    pub(crate) fn most_received_bytes(&self) -> u64 {
        let all = split::traffic(self.row, &self.params).total();
        2 * all.div_ceil(self.plan.partitions()) + (1 << 20)
    }

    /// How many steps the protocol runs in all partitions together; 1 if each partition runs alone.
    pub(crate) fn steps(&self) -> usize {
        match self.run().steps() {
            None => 1,
            Some(_) => Step::all(self.params.learns()).len(),
        }
    }

    pub(crate) fn run(&self) -> PartRun<'_> {
        let Self { row, role, params, plan, label, .. } = self;
        PartRun { row, role: *role, params, plan: *plan, label }
    }

    /// The shared self-check items in partition `index`.
    pub(crate) fn shared_of(&self, index: u64) -> Vec<Item> {
        let mut prefixes = Vec::new();
        self.splitter.prefixes(&self.shared, &mut prefixes);
        let all = self.shared.iter().zip(prefixes);
        all.filter(|(_, prefix)| self.plan.partition_of(*prefix) == index)
            .map(|(item, _)| *item)
            .collect()
    }

    /// The seed of the randomness in a step of partition `index`.
    pub(crate) fn seed_of(&self, index: u64, step: Step) -> Secret<[u8; 32]> {
        let step = [step as u8];
        Secret::new(derive(SEED_LABEL, &[self.seed.expose(), &index.to_le_bytes(), &step]))
    }
}
