use super::*;

/// A connection on which nothing arrives.
struct Silent;

impl Detached for Silent {
    fn desk(&self) -> Vec<u8> {
        Vec::new()
    }

    fn sent(&self, _: u64) -> (vesica_net::SentDigests, Vec<StreamId>) {
        Default::default()
    }

    fn send(
        &self,
        _: u64,
        _: &[Parcel],
        _: &vesica_net::SentDigests,
        _: &[StreamId],
    ) -> Result<(), TransportError> {
        Ok(())
    }

    fn recall(&self) -> Result<bool, TransportError> {
        Ok(false)
    }

    fn receive(&self, _: &[StreamId]) -> Vec<Received> {
        Vec::new()
    }

    fn listen(&self, _: bool) -> Result<bool, TransportError> {
        Ok(false)
    }
}

/// Workers whose tasks wait for this many bytes of the first stream, whichever bytes they read.
struct Waiting(u64);

impl Workers for Waiting {
    fn group(&self, _: &[u8; 32], _: u64) -> Result<crate::BucketCounts, WorkersFault> {
        Err(WorkersFault)
    }

    fn take(
        &self,
        _: &RunSpec,
        tasks: &[Task],
        _: Vec<(String, Vec<u8>)>,
    ) -> Result<Vec<TaskResult>, WorkersFault> {
        let waits = |task: &Task| TaskResult {
            part: task.part,
            parcels: Vec::new(),
            sent: Vec::new(),
            opened: task.roots.clone(),
            needs: vec![(task.roots[0], self.0)],
            reveals: false,
            ended: None,
            fault: None,
        };
        Ok(tasks.iter().map(waits).collect())
    }
}

fn run_spec() -> RunSpec {
    RunSpec {
        version: String::new(),
        agreement: String::new(),
        row: String::new(),
        is_sender: true,
        session: [0; 32],
        sender_len: 1,
        receiver_len: 1,
        partitions: 1,
        splitter: [0; 32],
        check_secret: [0; 32],
        seed: [0; 32],
        desk: Vec::new(),
        label: String::new(),
    }
}

fn parcel(id: u128, len: u64) -> Received {
    let streams = vec![(StreamId::ROOT, len)];
    let parcel = Parcel { id: id.to_be_bytes(), key: [1; 32], digest: [2; 32], len: 9, streams };
    Received::Parcel(parcel, StreamId::ROOT)
}

/// The peer announces 40 bytes. If a task still waits for 40 bytes, the peer's objects hold fewer:
/// no further task is handed out.
#[test]
fn a_task_that_needs_bytes_that_have_arrived_ends_the_run() {
    let run_spec = run_spec();
    for (needs, expected) in [(41, Ok(0)), (40, Err(Misbehaviour::BrokenFraming.into()))] {
        let workers = Waiting(needs);
        let mut part = Part::new(&Silent, 0, vec![StreamId::ROOT]);
        part.receive(parcel(1, 40), 1000, &mut Vec::new()).unwrap();
        let mut coordinator = Coordinator {
            detached: &Silent,
            workers: &workers,
            run_spec: &run_spec,
            meter: Meter::new(),
            may_reveal: false,
            parts: vec![part],
            most_received_bytes: 1000,
            kept: Vec::new(),
            found: DetachedMatches::default(),
        };
        assert_eq!(coordinator.turn().map(|over| over.len()), expected);
        assert!(coordinator.ready() == 0 || expected.is_err());
    }
}

#[test]
fn a_task_has_a_short_list_of_objects() {
    let mut part = Part::new(&Silent, 0, vec![StreamId::ROOT]);
    let mut receive = |id| part.receive(parcel(id, 1), 1 << 20, &mut Vec::new());
    (0..MOST_OBJECTS as u128).for_each(|id| receive(id).unwrap());
    assert_eq!(receive(u128::MAX), Err(Misbehaviour::Flood.into()));
}
