use super::*;

/// A connection on which nothing comes.
struct Silent;

impl Apart for Silent {
    fn desk(&self) -> Vec<u8> {
        Vec::new()
    }

    fn said(&self, _: u64) -> (vesica_net::Said, Vec<StreamId>) {
        Default::default()
    }

    fn say(
        &self,
        _: u64,
        _: &[Parcel],
        _: &vesica_net::Said,
        _: &[StreamId],
    ) -> Result<(), TransportError> {
        Ok(())
    }

    fn recall(&self) -> Result<bool, TransportError> {
        Ok(false)
    }

    fn hear(&self, _: &[StreamId]) -> Vec<Heard> {
        Vec::new()
    }

    fn listen(&self, _: bool) -> Result<bool, TransportError> {
        Ok(false)
    }
}

/// Tasks that wait for this many bytes of the first stream, whatever they read.
struct Waiting(u64);

impl Hands for Waiting {
    fn group(&self, _: &[u8; 32], _: u64) -> Result<crate::Bucketed, HandsFault> {
        Err(HandsFault)
    }

    fn take(
        &self,
        _: &Orders,
        tasks: &[Task],
        _: Vec<(String, Vec<u8>)>,
    ) -> Result<Vec<Taken>, HandsFault> {
        let waits = |task: &Task| Taken {
            part: task.part,
            parcels: Vec::new(),
            said: Vec::new(),
            opened: task.roots.clone(),
            needs: vec![(task.roots[0], self.0)],
            reveals: false,
            ended: None,
            fault: None,
        };
        Ok(tasks.iter().map(waits).collect())
    }
}

fn orders() -> Orders {
    Orders {
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

fn parcel(id: u128, len: u64) -> Heard {
    let streams = vec![(StreamId::ROOT, len)];
    let parcel = Parcel { id: id.to_be_bytes(), key: [1; 32], digest: [2; 32], len: 9, streams };
    Heard::Parcel(parcel, StreamId::ROOT)
}

/// A peer's names count for 40 bytes, but the objects have 39: no task is given out after that.
#[test]
fn a_task_that_needs_bytes_that_have_arrived_ends_the_run() {
    let orders = orders();
    for (needs, expected) in [(41, Ok(0)), (40, Err(Misbehaviour::BrokenFraming.into()))] {
        let hands = Waiting(needs);
        let mut part = Part::new(&Silent, 0, vec![StreamId::ROOT]);
        part.hear(parcel(1, 40), 1000, &mut Vec::new()).unwrap();
        let mut board = Board {
            apart: &Silent,
            hands: &hands,
            orders: &orders,
            meter: Meter::new(),
            may_reveal: false,
            parts: vec![part],
            most_heard: 1000,
            kept: Vec::new(),
            found: FoundElsewhere::default(),
        };
        assert_eq!(board.turn().map(|over| over.len()), expected);
        assert!(board.ready() == 0 || expected.is_err());
    }
}

#[test]
fn a_task_has_a_short_list_of_objects() {
    let mut part = Part::new(&Silent, 0, vec![StreamId::ROOT]);
    let mut hear = |id| part.hear(parcel(id, 1), 1 << 20, &mut Vec::new());
    (0..MOST_OBJECTS as u128).for_each(|id| hear(id).unwrap());
    assert_eq!(hear(u128::MAX), Err(Misbehaviour::Flood.into()));
}
