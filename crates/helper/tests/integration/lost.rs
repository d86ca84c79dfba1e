//! Slots that are damaged on the helper's disk after a party has its answer.

use crate::aided::{is_right, run_party};
use crate::common::{Fixture, MAX_ROWS, SOON, refusal, slot, until};
use std::fs;
use std::time::Duration;
use vesica_core::Refusal;
use vesica_helper::Service;
use vesica_helper_client::Remote;
use vesica_server_aided::kmrs14::{Boards, Kind, Slot, Spec};

/// A run whose parties have their answers, and are not done; then the service is started again with
/// these slots damaged.
fn answered(fixture: &Fixture, spec: &Spec, damaged: &[Slot]) -> (Service, [Remote; 2]) {
    let service = fixture.start();
    let place = service.addresses()[0].to_string();
    let remotes = [0, 1].map(|party| {
        let mut options = fixture.remote_options(&service, party, spec);
        // A get that would never end.
        options.link.total = Some(SOON);
        Remote::new(options)
    });
    std::thread::scope(|scope| {
        for (party, remote) in remotes.iter().enumerate() {
            scope.spawn(move || {
                assert!(is_right(&run_party(remote, spec, party, MAX_ROWS).unwrap(), MAX_ROWS));
            });
        }
    });
    drop(service);
    let run = fs::read_dir(fixture.state().join("runs")).unwrap().next().unwrap().unwrap().path();
    for Slot { kind, party, part } in damaged {
        let file = run.join(format!("{:02x}-{party:02x}-{part:08x}", *kind as u8));
        let bytes = fs::read(&file).unwrap();
        fs::write(&file, &bytes[..bytes.len() / 2]).unwrap();
    }
    let service = fixture.start_with(|options| options.listen = place);
    (service, remotes)
}

#[test]
fn a_party_that_has_its_answer_is_done_whatever_is_damaged_since() {
    for damaged in [&[Kind::Size][..], &[Kind::Labels, Kind::Answer], &[Kind::Hello]] {
        let fixture = Fixture::new(2);
        let slots: Vec<Slot> = damaged.iter().map(|kind| slot(*kind, 0)).collect();
        let (_service, remotes) = answered(&fixture, &fixture.spec(2), &slots);
        assert_eq!(remotes[0].done(), Ok(()), "{damaged:?}");
        assert_eq!(remotes[1].done(), Ok(()), "{damaged:?}");
        until("the run is forgotten", || {
            fs::read_dir(fixture.state().join("runs")).unwrap().count() == 0
        });
    }
}

#[test]
fn a_party_is_not_left_waiting_for_one_that_is_done_and_whose_list_is_lost() {
    let fixture = Fixture::new(2);
    let damaged = [slot(Kind::Labels, 0), slot(Kind::Answer, 1)];
    let (_service, remotes) = answered(&fixture, &fixture.spec(2), &damaged);
    let [first, second] = &remotes;
    std::thread::scope(|scope| {
        let waiting =
            scope.spawn(|| second.open()?.get(slot(Kind::Answer, 1), Slot::MAX_LEN).map(drop));
        std::thread::sleep(Duration::from_millis(800));
        assert!(!waiting.is_finished(), "the first party could send its list again");
        first.done().unwrap();
        assert_eq!(refusal(waiting.join().unwrap()), Refusal::Expired);
    });
    assert_eq!(refusal(second.open()), Refusal::Expired);
}
