//! A store that sometimes fails.

use crate::runs::program;
use crate::support::{MemoryStore, Scene};
use std::collections::HashMap;
use std::io::{self, ErrorKind};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use vesica_link::CancelToken;
use vesica_store_session::{ExchangeError, Lengths, Listed, RetryingStore, Store};

/// The first two requests of each kind for each name fail, but the second of the two has taken
/// effect.
struct Flaky {
    inner: Arc<MemoryStore>,
    tries: Mutex<HashMap<String, u32>>,
    kind: ErrorKind,
}

impl Flaky {
    fn new(scene: &Scene, kind: ErrorKind) -> Arc<Self> {
        Arc::new(Self { inner: Arc::clone(&scene.store), tries: Mutex::default(), kind })
    }

    fn request<T>(&self, of: String, work: impl FnOnce() -> io::Result<T>) -> io::Result<T> {
        let tries = {
            let mut all = self.tries.lock().unwrap();
            let tries = all.entry(of).or_default();
            *tries += 1;
            *tries
        };
        match tries {
            1 => Err(self.kind.into()),
            2 => work().and(Err(self.kind.into())),
            _ => work(),
        }
    }
}

impl Store for Flaky {
    fn put_if_absent(&self, name: &str, bytes: &[u8]) -> io::Result<bool> {
        self.request(format!("put {name}"), || self.inner.put_if_absent(name, bytes))
    }

    fn get(&self, name: &str, lengths: Lengths) -> io::Result<Option<Vec<u8>>> {
        self.request(format!("get {name}"), || self.inner.get(name, lengths))
    }

    fn list(&self, folder: &str) -> io::Result<Vec<Listed>> {
        self.request(format!("list {folder}"), || self.inner.list(folder))
    }

    fn folders(&self) -> io::Result<Vec<String>> {
        self.request("folders".to_owned(), || self.inner.folders())
    }

    fn remove(&self, name: &str) -> io::Result<()> {
        self.request(format!("remove {name}"), || self.inner.remove(name))
    }

    fn place(&self) -> String {
        "flaky".to_owned()
    }
}

#[test]
fn requests_that_fail_are_tried_again() {
    let scene = Scene::new();
    let side = |party| {
        let mut options = scene.options(&CancelToken::new());
        options.wait = Duration::from_secs(60);
        options.store =
            Arc::new(RetryingStore::new(Flaky::new(&scene, ErrorKind::ConnectionReset)));
        scene.run(party, options, None, 1, program)
    };
    let [one, two] = std::thread::scope(|scope| {
        let one = scope.spawn(|| side(0));
        [side(1), one.join().unwrap()]
    });
    assert_eq!((one.unwrap().len(), two.unwrap().len()), (200_158, 200_158));
}

#[test]
fn what_is_forbidden_is_an_error_at_once() {
    let scene = Scene::new();
    let mut options = scene.options(&CancelToken::new());
    let flaky = Flaky::new(&scene, ErrorKind::PermissionDenied);
    options.store = Arc::new(RetryingStore::new(Arc::clone(&flaky) as Arc<dyn Store>));
    let ended = scene.run(0, options, None, 1, program);
    assert_eq!(ended.err(), Some(ExchangeError::Store(ErrorKind::PermissionDenied)));
    assert_eq!(flaky.tries.lock().unwrap().values().sum::<u32>(), 1);
}
