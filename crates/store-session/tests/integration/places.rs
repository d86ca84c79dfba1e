//! What others can put into a shared folder in place of an object, and parties with two states.

use crate::runs::program;
use crate::support::{AGREEMENT, Scene};
use nix::sys::stat::{Mode, SFlag, mknod};
use std::fs;
use std::os::unix::fs::symlink;
use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};
use vesica_link::CancelToken;
use vesica_store_session::{
    ActualKind, ExchangeError, FolderStore, NotAnObject, Options, State, Store, meet,
};

const RUN: &str = "0707070707070707-0001";

/// Longer than any check may take.
const SOON: Duration = Duration::from_secs(10);

fn options(scene: &Scene, shared: &Path) -> Options {
    let store: Arc<dyn Store> = Arc::new(FolderStore::open(shared).unwrap());
    Options { store, wait: Duration::from_millis(40), ..scene.options(&CancelToken::new()) }
}

fn turn(scene: &Scene, shared: &Path, party: usize) -> Result<(), ExchangeError> {
    let start = Instant::now();
    let ended = scene.run(party, options(scene, shared), None, 1, program).map(drop);
    assert!(start.elapsed() < SOON, "{ended:?}");
    ended
}

/// The name of a kind of file, how the store's error describes such a file, and how to make one.
type Thing = (&'static str, ActualKind, Box<dyn Fn()>);

/// What the tests put at `path` in place of an object. The link leads to `original`.
fn things(path: &Path, original: &Path) -> Vec<Thing> {
    let at = || path.to_path_buf();
    let (pipe, link, folder, socket, device, sparse) = (at(), at(), at(), at(), at(), at());
    let original = original.to_path_buf();
    let is = ActualKind::NotAFile;
    let length = ActualKind::Length { bytes: (1 << 30) + 1 };
    vec![
        ("pipe", is, Box::new(move || nix::unistd::mkfifo(&pipe, Mode::S_IRWXU).unwrap())),
        ("link", is, Box::new(move || symlink(&original, &link).unwrap())),
        ("folder", is, Box::new(move || fs::create_dir(&folder).unwrap())),
        ("socket", is, Box::new(move || drop(UnixListener::bind(&socket).unwrap()))),
        (
            "device",
            is,
            Box::new(move || {
                // Only a superuser can make a device; a link to one serves as well.
                let zero = nix::sys::stat::makedev(1, 5);
                if mknod(&device, SFlag::S_IFCHR, Mode::S_IRWXU, zero).is_err() {
                    symlink("/dev/zero", &device).unwrap();
                }
            }),
        ),
        (
            "sparse file",
            length,
            Box::new(move || fs::File::create(&sparse).unwrap().set_len((1 << 30) + 1).unwrap()),
        ),
    ]
}

fn clear(path: &Path) {
    let _ = fs::remove_file(path).or_else(|_| fs::remove_dir(path));
}

#[test]
fn what_is_no_object_is_named_and_neither_followed_nor_waited_for() {
    let (scene, folder) = (Scene::new(), tempfile::tempdir().unwrap());
    let shared = folder.path().join("shared");
    fs::create_dir(&shared).unwrap();
    for party in [0, 1, 0, 1] {
        assert!(matches!(turn(&scene, &shared, party), Err(ExchangeError::NotYet { .. })));
    }
    let names = [
        (0, "1-hello"),
        (0, "1-shares"),
        (0, "1-000000"),
        (0, "1-given-up"),
        (1, "0-hello"),
        (1, "0-shares"),
        (1, "0-000000"),
        (1, "0-given-up"),
    ];
    let kept: PathBuf = folder.path().join("kept");
    for (party, name) in names {
        let path = shared.join(RUN).join(name);
        let was_there = path.exists();
        assert_eq!(was_there, !name.ends_with("given-up"), "{name}");
        if was_there {
            fs::rename(&path, &kept).unwrap();
        }
        for (what, is, make) in things(&path, &kept) {
            make();
            let fault = NotAnObject::new(&format!("{RUN}/{name}"), is);
            assert_eq!(turn(&scene, &shared, party), Err(fault.into()), "a {what} as {name}");
            clear(&path);
        }
        if was_there {
            fs::rename(&kept, &path).unwrap();
        }
    }
    // Nothing was lost.
    let mut is_over = [false; 2];
    for party in (0..60).map(|turn| turn % 2) {
        if !is_over[party] {
            match turn(&scene, &shared, party) {
                Ok(()) => is_over[party] = true,
                ended => assert!(matches!(ended, Err(ExchangeError::NotYet { .. })), "{ended:?}"),
            }
        }
    }
    assert_eq!(is_over, [true; 2]);
    // The marks determine the number of the next run.
    let path = shared.join(RUN).join("0-end");
    for (what, is, make) in things(&path, Path::new("/etc/hostname")) {
        clear(&path);
        make();
        let fault = NotAnObject::new(&format!("{RUN}/0-end"), is);
        assert_eq!(turn(&scene, &shared, 0), Err(fault.into()), "a {what} as a mark");
    }
}

#[test]
fn an_object_of_this_side_is_not_written_through_what_is_in_its_place() {
    for (party, name) in [(0, "0-hello"), (1, "1-hello")] {
        let (scene, folder) = (Scene::new(), tempfile::tempdir().unwrap());
        let shared = folder.path().join("shared");
        fs::create_dir_all(shared.join(RUN)).unwrap();
        fs::write(folder.path().join("victim"), "unchanged").unwrap();
        let path = shared.join(RUN).join(name);
        for (what, is, make) in things(&path, &folder.path().join("victim")) {
            make();
            let fault = NotAnObject::new(&format!("{RUN}/{name}"), is);
            assert_eq!(turn(&scene, &shared, party), Err(fault.into()), "a {what}");
            clear(&path);
        }
        assert_eq!(fs::read(folder.path().join("victim")).unwrap(), b"unchanged");
    }
}

#[test]
fn a_link_in_the_place_of_the_folder_of_a_run_is_not_followed() {
    let (scene, folder) = (Scene::new(), tempfile::tempdir().unwrap());
    let [shared, away] = ["shared", "away"].map(|name| folder.path().join(name));
    fs::create_dir(&shared).unwrap();
    fs::create_dir(&away).unwrap();
    symlink(&away, shared.join(RUN)).unwrap();
    let fault = NotAnObject::new(RUN, ActualKind::NotAFolder);
    assert_eq!(turn(&scene, &shared, 0), Err(fault.into()));
    assert_eq!(fs::read_dir(&away).unwrap().count(), 0, "nothing is written where it leads");

    fs::remove_file(shared.join(RUN)).unwrap();
    assert!(matches!(turn(&scene, &shared, 0), Err(ExchangeError::NotYet { .. })));
    // In the middle of a run.
    fs::rename(shared.join(RUN), away.join(RUN)).unwrap();
    symlink(away.join(RUN), shared.join(RUN)).unwrap();
    let before = fs::read_dir(away.join(RUN)).unwrap().count();
    assert_eq!(turn(&scene, &shared, 0), Err(fault.into()));
    assert_eq!(fs::read_dir(away.join(RUN)).unwrap().count(), before);
}

#[test]
fn two_states_of_one_party_do_not_both_go_on() {
    let (scene, folder) = (Scene::new(), tempfile::tempdir().unwrap());
    let shared = folder.path().join("shared");
    fs::create_dir(&shared).unwrap();
    for party in [0, 1, 0, 1] {
        assert!(matches!(turn(&scene, &shared, party), Err(ExchangeError::NotYet { .. })));
    }
    let parties = [0, 1].map(|party: usize| scene.identities[party].public());
    // Two processes with one state.
    let held = State::open(&scene.state(0), [0; 32]).unwrap();
    let used = turn(&scene, &shared, 0);
    assert_eq!(used, Err(vesica_state_folder::FolderError::InUse.into()));
    drop(held);
    // Two machines, one of which has started the run.
    let other = Arc::new(State::open(&folder.path().join("other"), [0; 32]).unwrap());
    let met = meet(options(&scene, &shared), &scene.identities[0], &parties, 0, &AGREEMENT, &other);
    assert_eq!(met.err(), Some(ExchangeError::OtherFolder { number: 1 }));
}

#[test]
fn only_objects_of_earlier_runs_are_removed() {
    let (scene, folder) = (Scene::new(), tempfile::tempdir().unwrap());
    let shared = folder.path().join("shared");
    fs::create_dir(&shared).unwrap();
    let run = shared.join(RUN);
    fs::create_dir(&run).unwrap();
    for name in ["0-end", "1-end", "0-000000", "0-000001", "0-notes.txt", "0-", "0-12", "1-000000"]
    {
        fs::write(run.join(name), "").unwrap();
    }
    for party in [0, 1, 0] {
        assert!(matches!(turn(&scene, &shared, party), Err(ExchangeError::NotYet { .. })));
    }
    let mut left: Vec<_> =
        fs::read_dir(&run).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    left.sort();
    assert_eq!(left, ["0-", "0-12", "0-end", "0-notes.txt", "1-end"]);
}
