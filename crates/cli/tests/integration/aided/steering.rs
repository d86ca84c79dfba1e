//! A helper that gives a party a wrong answer. The party refuses it, and neither the helper nor the other party can
//! tell that from a run in which nothing was wrong.

use crate::aided::scene::{Scene, TERMS, Terms, identity, joined, people};
use crate::support::Running;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::num::NonZeroUsize;
use std::time::Duration;
use vesica_backends::{Answers, Backend, BackendError, RunName, Stop};
use vesica_helper::{Keeping, MetricsOptions, PartyLimits, Service, ServiceOptions};
use vesica_labels::List;
use vesica_net::Pool;

/// Finds what lists have in common, and says that all of party a's list is.
#[derive(Debug)]
struct Lying(Box<dyn Backend>);

impl Backend for Lying {
    fn name(&self) -> &'static str {
        self.0.name()
    }

    fn common(&self, run: &RunName, lists: &[List<'_>], stop: Stop<'_>) -> Answers {
        let mut answers = self.0.common(run, lists, stop)?;
        if let Some(answer) = answers.iter_mut().flatten().next() {
            (0..answer.len()).for_each(|label| answer.set(label));
        }
        Ok(answers)
    }

    fn check(&self) -> Result<(), BackendError> {
        self.0.check()
    }

    fn forget(&self, run: &RunName) -> Result<(), BackendError> {
        self.0.forget(run)
    }
}

fn service(scene: &Scene, lies: bool) -> Service {
    let pool = Pool::new(NonZeroUsize::MIN).unwrap();
    let state_dir = scene.path("kept");
    let honest = format!("disk:{}", state_dir.display());
    let honest = vesica_backends::open(&honest, pool.clone(), 1 << 28).unwrap();
    let party = |name: &str| PartyLimits::new(name, identity(name).parse().unwrap());
    Service::start(ServiceOptions {
        identity: vesica_link::Identity::load(scene.path("helper.key")).unwrap(),
        listen: "127.0.0.1:0".into(),
        parties: ["a", "b"].map(party).into(),
        backend: if lies { Box::new(Lying(honest)) } else { honest },
        keeping: Keeping::Files,
        state_dir,
        keep: Duration::from_secs(3600),
        idle: Duration::from_secs(20),
        pool,
        workers: 1,
        memory_bytes: 1 << 28,
        max_stored_bytes: None,
        max_stored_percent: 100,
        keep_free_bytes: 0,
        metrics: Some(MetricsOptions { listen: "127.0.0.1:0".into(), allow_remote: false }),
    })
    .unwrap()
}

/// What the helper counts of runs, refusals, and bytes of slots.
fn counted(metrics: SocketAddr) -> Vec<String> {
    let mut stream = TcpStream::connect(metrics).unwrap();
    write!(stream, "GET /metrics HTTP/1.1\r\nHost: helper\r\n\r\n").unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    let kinds =
        ["runs_total", "open_runs", "refusals_total", "labels_received", "direction=\"out\""];
    let counts = answer.lines().filter(|line| kinds.iter().any(|kind| line.contains(kind)));
    let mut counts: Vec<_> =
        counts.filter(|line| !line.starts_with('#')).map(str::to_owned).collect();
    counts.sort();
    counts
}

#[test]
fn a_helper_and_the_other_party_cannot_see_that_an_answer_was_refused() {
    for (protocol, security) in
        [("server_aided", "semi-honest"), ("server_aided_malicious", "malicious")]
    {
        let seen = [false, true].map(|lies| {
            let mut scene = Scene::new();
            let service = service(&scene, lies);
            scene.address = service.addresses()[0].to_string();
            scene.agreement("run", &Terms { protocol, security, ..TERMS });
            let (a, b) = (people(0..400), people(200..600));
            scene.write("a.csv", &a);
            scene.write("b.csv", &b);
            let parties = ["a", "b"].map(|party| Running::start(scene.party("run", party)));
            let [first, second] = parties.map(Running::wait);
            if lies {
                first.assert_failed(4, "");
                assert!(!scene.path("a.out.csv").exists(), "{protocol}");
            } else {
                first.assert_code(0);
                assert!(scene.read("a.out.csv") == joined(&a, &[&a, &b]), "{protocol}");
            }
            second.assert_code(0);
            assert!(scene.read("b.out.csv") == joined(&b, &[&a, &b]), "{protocol}");
            let counted = counted(service.metrics_address().unwrap());
            let finished = "vesica_helper_runs_total{outcome=\"finished\"} 1";
            assert!(counted.iter().any(|line| line == finished), "{protocol}: {counted:#?}");
            assert!(service.shutdown(Duration::from_secs(20)));
            counted
        });
        assert_eq!(seen[0], seen[1], "{protocol}");
    }
}
