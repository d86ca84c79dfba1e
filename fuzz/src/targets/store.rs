//! A shared folder whose files anybody chooses: what is served in the place of each object that a
//! party waits for.

#[path = "../../../crates/store-session/tests/integration/hostile.rs"]
mod hostile;

use super::{Target, fresh, scratch};
use crate::input::Input;
use hostile::{
    PROGRAMS, Program, RUN, STAGES, Scene, THINGS, Thing, Watched, place, read_bytes, write_objects,
};
use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::sync::atomic::Ordering;
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};
use vesica_store_session::Store;

pub(super) const STORE: Target =
    Target { name: "exchange_store", run: store, seeds, tokens: &[], max_len: 1024 };

/// More than any input takes on a busy machine: no party waits here.
const MOST_TIME: Duration = Duration::from_secs(20);

/// What a process reads in addition to its objects: its state, and folders.
const OWN_BYTES: u64 = 1 << 20;

/// Objects that the party looks for or writes, and objects of its peer.
const NAMES: [&str; 12] = [
    "1-hello",
    "1-shares",
    "1-000000",
    "1-000001",
    "1-x01010101010101010101010101010101",
    "1-given-up",
    "1-end",
    "0-hello",
    "0-shares",
    "0-000000",
    "0-given-up",
    "0-end",
];

/// What is in the place of the folder of the run.
const FOLDERS: u8 = 16;

fn scene() -> &'static Scene {
    static SCENE: OnceLock<Scene> = OnceLock::new();
    SCENE.get_or_init(|| Scene::new(&scratch().path().join(format!("store-{}", fresh()))))
}

/// Each thing in the place of each object, and all that a peer seals, at each stage.
fn seeds() -> Vec<Vec<u8>> {
    let of = |len: usize| 0..len as u8;
    let programs = of(STAGES.len()).flat_map(move |stage| {
        of(PROGRAMS.len()).flat_map(move |program| [[stage, program, 0], [stage, program, 1]])
    });
    let things = of(NAMES.len()).flat_map(move |name| {
        of(THINGS.len()).map(move |thing| vec![1, 0, thing % 2, 0, name, thing])
    });
    let damaged = of(NAMES.len()).map(|name| vec![2, 0, 0, 1, name, 0, 3, 0, 8]);
    let folders = [Thing::Pipe, Thing::Link].map(|thing| vec![1, 0, 0, 2, thing as u8]);
    programs.map(Vec::from).chain(things).chain(damaged).chain(folders).collect()
}

/// How far the party had come, what its peer seals, whether detached programs read it, and what is
/// in the store in place of objects.
fn store(bytes: &[u8]) {
    let mut input = Input::new(bytes);
    let (stage, program) = (*input.one_of(&STAGES), *input.one_of(&PROGRAMS));
    let detached = input.byte() % 2 == 1;
    let scene = scene();
    let folder = scratch().path().join("store");
    let shared = folder.join("shared");
    let _ = fs::remove_dir_all(&folder);
    let mut objects = scene.objects_at(program, stage);
    write_objects(&shared, &objects);
    let mut is_changed = program != Program::Honest;
    while !input.is_empty() {
        is_changed = true;
        match input.byte() % FOLDERS {
            // A damaged object, or any bytes.
            1 => {
                let name = *input.one_of(&NAMES);
                let object = objects.entry(name.to_owned()).or_default();
                input.damage(object);
                place(&shared, &objects, name, Thing::Original);
            }
            2 => instead_of_folder(&folder, *input.one_of(&THINGS)),
            _ => {
                let name = *input.one_of(&NAMES);
                place(&shared, scene.objects(program), name, *input.one_of(&THINGS));
            }
        }
        if !shared.join(RUN).is_dir() {
            break;
        }
    }
    let store = Arc::new(Watched::open(&shared));
    let (start, before) = (Instant::now(), read_bytes());
    let there = Arc::clone(&store) as Arc<dyn Store>;
    let ended = scene.run(stage, &folder.join("state"), there, Duration::ZERO, detached);
    assert!(start.elapsed() < MOST_TIME, "a party was held up: {ended:?}");
    let given = store.given_bytes.load(Ordering::Relaxed);
    if let Some((after, before)) = read_bytes().zip(before) {
        assert!(after - before <= given + OWN_BYTES, "what is not an object was read: {ended:?}");
    }
    if let Err(error) = ended {
        assert!(is_changed || stage as usize == 0, "an honest peer: {error:?}");
        assert!(!error.to_string().is_empty());
    }
}

/// Puts something in the place of the folder of the run.
fn instead_of_folder(folder: &Path, thing: Thing) {
    let path = folder.join("shared").join(RUN);
    let away = folder.join("away");
    if fs::rename(&path, &away).is_err() {
        return;
    }
    let made = match thing {
        Thing::Pipe => {
            nix::unistd::mkfifo(&path, nix::sys::stat::Mode::S_IRWXU).map_err(Into::into)
        }
        Thing::Link => symlink(&away, &path),
        Thing::Circle => symlink(&path, &path),
        Thing::Empty => fs::write(&path, ""),
        _ => Ok(()),
    };
    made.expect("something can be made in a folder");
}
