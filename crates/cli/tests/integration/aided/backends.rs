//! The result does not depend on the backend in which the helper finds common labels, even if the
//! backend fails during a run.

use super::{assert_results, with_files};
use crate::aided::scene::{Scene, TERMS, Terms, until_told};
use crate::support::Running;
use vesica_test_databases::{Postgres, Redis};

const THREE: [&str; 3] = ["a", "b", "c"];

#[track_caller]
fn gives_the_same(scene: &Scene, backend: &str) {
    let expected = with_files(scene, &THREE, 2000);
    scene.agreement("three.toml", &Terms { parties: &THREE, ..TERMS });
    scene.write(
        "helper.toml",
        format!("[helper]\nbackend = \"{backend}\"\n{}", scene.read("helper.toml")),
    );
    let helper = scene.helper(&[]);
    for ended in
        THREE.map(|party| Running::start(scene.party("three.toml", party))).map(Running::wait)
    {
        ended.assert_code(0);
    }
    assert_results(scene, &expected);
    assert!(!helper.told().contains("ERROR"), "{}", helper.told());
}

#[test]
fn memory_and_a_directory_give_the_same() {
    gives_the_same(&Scene::new(), "memory:");
    let scene = Scene::new();
    let disk = format!("disk:{}", scene.path("lists").display());
    gives_the_same(&scene, &disk);
}

#[test]
fn redis_gives_the_same_and_keeps_nothing() {
    let redis = Redis::start();
    gives_the_same(&Scene::new(), &redis.url());
    assert_eq!(redis.keys(), 0);
}

#[test]
fn postgres_gives_the_same_and_keeps_nothing() {
    let postgres = Postgres::start();
    gives_the_same(&Scene::new(), &postgres.url());
    assert_eq!(postgres.tables(), 0);
}

/// The parties meet while the database is up. It is down when their lists are compared, and comes
/// back.
#[track_caller]
fn goes_on_when_it_is_back(url: &str, kill: impl FnOnce(), restart: impl FnOnce()) {
    let scene = Scene::new();
    let expected = with_files(&scene, &["a", "b"], 2000);
    scene.agreement("two.toml", &TERMS);
    scene.write(
        "helper.toml",
        format!("[helper]\nbackend = \"{url}\"\n{}", scene.read("helper.toml")),
    );
    let _helper = scene.helper(&[]);
    let mut a = Running::start(scene.party("two.toml", "a"));
    until_told(&mut a, "waiting for b");
    kill();
    let b = Running::start(scene.party("two.toml", "b"));
    until_told(&mut a, "cloud cannot be reached (its database cannot be reached); trying again");
    assert!(scene.get("/healthz").contains("backend"), "{}", scene.get("/healthz"));
    restart();
    for running in [a, b] {
        let ended = running.wait();
        ended.assert_code(0);
        assert!(
            ended.stderr.contains("cloud can be reached again; the run continues"),
            "{ended:#?}"
        );
    }
    assert_results(&scene, &expected);
}

#[test]
fn a_run_waits_for_a_killed_redis_to_come_back() {
    let redis = std::cell::RefCell::new(Redis::start());
    let url = redis.borrow().url();
    goes_on_when_it_is_back(&url, || redis.borrow_mut().kill(), || redis.borrow_mut().restart());
}

#[test]
fn a_run_waits_for_a_killed_postgres_to_come_back() {
    let postgres = std::cell::RefCell::new(Postgres::start());
    let url = postgres.borrow().url();
    goes_on_when_it_is_back(
        &url,
        || postgres.borrow_mut().kill(),
        || postgres.borrow_mut().restart(),
    );
}
