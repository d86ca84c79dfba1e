use super::super::answer::Learned;
use super::*;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use vesica_protocols::kmrs14::CommonRows;

const OWN: [u8; 32] = [7; 32];
const LOCK: &str = "vesica-run.lock";

/// The answer of a party with 70 rows.
fn answer() -> Answer {
    let learned = Learned::Rows(CommonRows { rows: vec![5, 1], items: 2 });
    Answer { scales: vec![7, 7], list_lens: vec![90, 95], learned }
}

/// A run after this party has reached the helper and made its secrets.
fn begin(folder: &Path) -> State {
    let state = State::open(folder, OWN).unwrap();
    state.keep_instance(&[7; 16]).unwrap();
    state.secrets().unwrap();
    state
}

#[test]
fn secrets_stay_the_same_until_the_run_is_forgotten() {
    let parent = tempfile::tempdir().unwrap();
    let folder = parent.path().join("run");
    let secrets = |state: &State| {
        let (meeting, own) = state.secrets().unwrap();
        (meeting.to_bytes().to_vec(), *own.expose())
    };
    let state = State::open(&folder, OWN).unwrap();
    let first = secrets(&state);
    assert_eq!(secrets(&state), first);
    drop(state);
    let state = State::open(&folder, OWN).unwrap();
    assert_eq!(secrets(&state), first);
    assert_eq!(state.shares(|| vec![1]).unwrap(), [1]);
    assert_eq!(state.shares(|| vec![2]).unwrap(), [1]);
    assert!(state.keep_rows(&[3; 32]).unwrap() && state.keep_rows(&[3; 32]).unwrap());
    assert!(!state.keep_rows(&[4; 32]).unwrap());
    state.forget().unwrap();
    assert_ne!(secrets(&state), first);
    state.remove().unwrap();
    assert!(!folder.exists());
}

#[test]
fn what_a_forgetting_left_half_way_is_removed_before_the_next_run() {
    let parent = tempfile::tempdir().unwrap();
    let folder = parent.path().join("run");
    let begin = || {
        let state = State::open(&folder, OWN).unwrap();
        state.secrets().unwrap();
        state.keep_rows(&[3; 32]).unwrap();
        state.keep_answer(&answer(), 70).unwrap();
        state.keep_done(None).unwrap();
    };
    begin();
    let state = State::open(&folder, OWN).unwrap();
    assert!(state.has_sent_done().unwrap());
    assert!(!state.may_have_written(Path::new("a.csv")).unwrap());
    assert_eq!(state.answer(2, 70).unwrap().unwrap(), answer());
    drop(state);
    fs::remove_file(folder.join(MEETING)).unwrap();
    fs::write(folder.join("another's"), "stays").unwrap();
    let state = State::open(&folder, OWN).unwrap();
    assert!(!state.has_sent_done().unwrap() && state.answer(2, 70).is_none());
    assert!(state.keep_rows(&[4; 32]).unwrap());
    drop(state);
    assert_eq!(fs::read(folder.join("another's")).unwrap(), b"stays");
}

#[test]
fn only_the_file_that_was_to_be_written_counts_as_the_runs_own() {
    let parent = tempfile::tempdir().unwrap();
    let state = begin(&parent.path().join("run"));
    let [own, other] = ["a.csv", "b.csv"].map(|name| parent.path().join(name));
    let may = |path: &Path| state.may_have_written(path).unwrap();
    assert!(!may(&own));
    state.keep_done(Some(&own)).unwrap();
    assert!(may(&own) && !may(&other));
    state.keep_done(None).unwrap();
    assert!(!may(&own) && state.has_sent_done().unwrap());
}

#[test]
fn what_the_helper_showed_is_remembered_until_the_run_is_forgotten() {
    let parent = tempfile::tempdir().unwrap();
    let folder = parent.path().join("run");
    let open = || State::open(&folder, OWN).unwrap();
    open().secrets().unwrap();
    for (kind, _) in SEEN {
        assert_eq!(open().is_same(kind, &[1; 32]), Ok(true));
        assert_eq!(open().is_same(kind, &[1; 32]), Ok(true));
        assert_eq!(open().is_same(kind, &[2; 32]), Ok(false));
    }
    open().forget().unwrap();
    let state = open();
    SEEN.iter().for_each(|(kind, _)| assert_eq!(state.is_same(*kind, &[2; 32]), Ok(true)));
    assert!(state.is_same(Kind::Answer, &[2; 32]).is_err());
    state.remove().unwrap();
    assert!(!folder.exists());
}

#[test]
fn a_folder_of_another_run_is_left_as_it_is() {
    let parent = tempfile::tempdir().unwrap();
    let folder = parent.path().join("run");
    let state = State::open(&folder, OWN).unwrap();
    let secret = *state.secrets().unwrap().1.expose();
    state.folder.write(FINISHED, &OWN).unwrap();
    drop(state);
    assert!(matches!(State::open(&folder, [8; 32]), Err(StateError::OfAnother)));
    let state = State::open(&folder, OWN).unwrap();
    assert_eq!(*state.secrets().unwrap().1.expose(), secret);
    assert!(state.has_started() && !state.was_finished());
}

#[test]
fn a_folder_that_cannot_be_read_can_be_given_up() {
    let parent = tempfile::tempdir().unwrap();
    let folder = parent.path().join("run");
    assert!(!begin(&folder).is_damaged());
    let damages = || [vec![], vec![7; 15], vec![0; 32], vec![0; 16], vec![7; 31]];
    for (name, whole) in [(OWNER, OWN.to_vec()), (INSTANCE, vec![7; 16])] {
        for damaged in damages() {
            fs::write(folder.join(name), &damaged).unwrap();
            let state = State::open(&folder, OWN).unwrap();
            assert!(state.is_damaged() && state.has_started(), "{name}: {damaged:?}");
            assert!(name == OWNER || state.instance().unwrap().is_none());
        }
        fs::remove_file(folder.join(name)).unwrap();
        assert!(State::open(&folder, OWN).unwrap().is_damaged(), "no {name}");
        fs::write(folder.join(name), &whole).unwrap();
        assert!(!State::open(&folder, OWN).unwrap().is_damaged());
    }
    for name in [OWNER, INSTANCE] {
        fs::write(folder.join(name), []).unwrap();
    }
    let state = State::open(&folder, OWN).unwrap();
    state.repair().unwrap();
    state.keep_instance(&[8; 16]).unwrap();
    drop(state);
    let state = State::open(&folder, OWN).unwrap();
    assert!(!state.is_damaged() && state.instance().unwrap() == Some([8; 16]));
    state.folder.write(FINISHED, &OWN).unwrap();
    state.give_up().unwrap();
    assert!(!state.has_started() && !folder.join(FINISHED).exists());
    drop(state);
    assert!(!folder.exists());
}

#[test]
fn a_run_that_was_over_is_known_to_be_until_the_folder_is_gone() {
    let parent = tempfile::tempdir().unwrap();
    let folder = parent.path().join("run");
    // A process was killed while it removed the folder.
    let killed = || {
        let state = State::open(&folder, OWN).unwrap();
        state.secrets().unwrap();
        state.folder.write(FINISHED, &OWN).unwrap();
        fs::remove_file(folder.join(MEETING)).unwrap();
        std::mem::forget(state);
    };
    killed();
    // The simulated process still locks this file; a new file is not locked.
    fs::remove_file(folder.join(LOCK)).unwrap();
    fs::write(folder.join(LOCK), "").unwrap();
    let state = State::open(&folder, OWN).unwrap();
    assert!(state.was_finished() && !state.has_started());
    drop(state);
    assert!(!folder.exists());
    killed();
    fs::remove_file(folder.join(LOCK)).unwrap();
    fs::write(folder.join(LOCK), "").unwrap();
    assert!(!State::open(&folder, [8; 32]).unwrap().was_finished());
}

#[test]
fn what_a_process_that_was_killed_was_writing_does_not_stay() {
    let parent = tempfile::tempdir().unwrap();
    let folder = parent.path().join("run");
    let state = State::open(&folder, OWN).unwrap();
    state.secrets().unwrap();
    fs::write(folder.join(UNFINISHED), "half of a secr").unwrap();
    state.keep_done(None).unwrap();
    assert!(!folder.join(UNFINISHED).exists());
    fs::write(folder.join(UNFINISHED), "half of a secr").unwrap();
    state.remove().unwrap();
    assert!(!folder.exists());
}

#[test]
fn the_directory_is_private_and_used_by_one_process() {
    let parent = tempfile::tempdir().unwrap();
    let folder = parent.path().join("run");
    let state = State::open(&folder, OWN).unwrap();
    state.secrets().unwrap();
    state.keep_answer(&answer(), 70).unwrap();
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(&folder), 0o700);
    for name in [MEETING, ANSWER] {
        assert_eq!(mode(&folder.join(name)), 0o600, "{name}");
    }
    assert!(matches!(State::open(&folder, OWN), Err(StateError::Folder(FolderError::InUse))));
}

#[test]
fn a_folder_with_something_else_in_it_is_left_as_it_is() {
    let parent = tempfile::tempdir().unwrap();
    let folder = parent.path().join("mine");
    fs::create_dir(&folder).unwrap();
    fs::set_permissions(&folder, fs::Permissions::from_mode(0o755)).unwrap();
    fs::write(folder.join(ROWS), "mine").unwrap();
    assert!(matches!(State::open(&folder, OWN), Err(StateError::Folder(FolderError::NotOurs))));
    assert_eq!(fs::metadata(&folder).unwrap().permissions().mode() & 0o777, 0o755);
    assert_eq!(fs::read(folder.join(ROWS)).unwrap(), b"mine");
    fs::remove_file(folder.join(ROWS)).unwrap();
    assert!(State::open(&folder, OWN).is_ok());
}

/// Only a superuser can give files away; `vesica_link::access_of_others` has the rule for all
/// users.
#[test]
fn a_folder_of_another_user_is_refused_and_unchanged() {
    let parent = tempfile::tempdir().unwrap();
    let [started, empty] = ["run", "empty"].map(|name| parent.path().join(name));
    begin(&started);
    fs::create_dir(&empty).unwrap();
    fs::set_permissions(&empty, fs::Permissions::from_mode(0o755)).unwrap();
    for folder in [started, empty] {
        let mode = fs::metadata(&folder).unwrap().permissions().mode();
        match std::os::unix::fs::chown(&folder, Some(12_345), None) {
            Ok(()) => {
                let opened = State::open(&folder, OWN);
                assert!(matches!(opened, Err(StateError::Folder(FolderError::OfAnotherUser))));
                assert_eq!(fs::metadata(&folder).unwrap().permissions().mode(), mode);
                std::os::unix::fs::chown(&folder, Some(0), None).unwrap();
            }
            Err(error) => assert_eq!(error.kind(), io::ErrorKind::PermissionDenied),
        }
        assert!(State::open(&folder, OWN).is_ok());
    }
}

#[test]
fn a_folder_of_a_run_that_others_can_enter_is_refused() {
    let parent = tempfile::tempdir().unwrap();
    let folder = parent.path().join("run");
    begin(&folder);
    for mode in [0o701, 0o710, 0o750, 0o770, 0o777, 0o755] {
        fs::set_permissions(&folder, fs::Permissions::from_mode(mode)).unwrap();
        let Err(StateError::Folder(FolderError::TooOpen { mode: found })) =
            State::open(&folder, OWN)
        else {
            panic!("{mode:o}")
        };
        assert_eq!(found, mode);
    }
    fs::set_permissions(&folder, fs::Permissions::from_mode(0o700)).unwrap();
    assert!(State::open(&folder, OWN).unwrap().has_started());
}

#[test]
fn damaged_secrets_are_an_error_and_never_replaced() {
    let parent = tempfile::tempdir().unwrap();
    let state = State::open(&parent.path().join("run"), OWN).unwrap();
    state.secrets().unwrap();
    let path = state.folder().join(MEETING);
    let mut bytes = fs::read(&path).unwrap();
    bytes[50] ^= 1;
    fs::write(&path, &bytes).unwrap();
    assert_eq!(state.secrets().err().unwrap().kind(), io::ErrorKind::InvalidData);
    assert_eq!(fs::read(&path).unwrap(), bytes);
}
