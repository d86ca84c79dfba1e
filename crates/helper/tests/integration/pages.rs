//! Health and metrics over HTTP.

use crate::aided::{Faulty, run_all, run_party};
use crate::common::{Fixture, MAX_ROWS, ask_page, hello, refusal, slot, until, with_pages};
use std::fs;
use std::io;
use std::net::TcpStream;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};
use vesica_core::Refusal;
use vesica_helper::{MetricsOptions, Service, StartError};
use vesica_label_joins::BackendError;
use vesica_server_aided::kmrs14::{Boards, Kind};

fn page(service: &Service, path: &str) -> (String, String) {
    let answer = ask_page(service, format!("GET {path} HTTP/1.1\r\nHost: x\r\n\r\n").as_bytes());
    let (head, body) = answer.split_once("\r\n\r\n").expect("a head and a body");
    assert!(head.contains(&format!("Content-Length: {}\r\n", body.len())), "{head}");
    (head.split_whitespace().nth(1).unwrap().to_owned(), body.to_owned())
}

fn figure(metrics: &str, name: &str) -> f64 {
    let line = metrics
        .lines()
        .find(|line| line.split(' ').next() == Some(name))
        .unwrap_or_else(|| panic!("no {name} in\n{metrics}"));
    line.rsplit(' ').next().unwrap().parse().unwrap()
}

#[test]
fn metrics_count_events_and_name_only_the_parties() {
    let fixture = Fixture::new(3);
    let service = fixture.start_with(with_pages);
    let before = page(&service, "/metrics").1;
    assert!(before.ends_with("# EOF\n"));
    assert_eq!(figure(&before, "vesica_helper_runs_total{outcome=\"finished\"}"), 0.0);
    let spec = fixture.spec(2);
    run_all(&fixture, &service, &spec, &[0, 1], MAX_ROWS);
    let open = fixture.remote(&service, 0, &fixture.spec_of(&[0, 1], 7));
    let board = open.open().unwrap();
    let stranger = fixture.remote(&service, 2, &spec);
    assert_eq!(refusal(stranger.open()), Refusal::NotAParty);
    let read = || page(&service, "/metrics").1;
    until("all connections but one are gone", || {
        figure(&read(), "vesica_helper_connections{party=\"party-1\"}") == 0.0
            && figure(&read(), "vesica_helper_connections{party=\"party-2\"}") == 0.0
    });
    let text = read();
    let labels = 2.0 * (MAX_ROWS as f64 + 32.0);
    for (name, value) in [
        ("vesica_helper_runs_total{outcome=\"opened\"}", 2.0),
        ("vesica_helper_runs_total{outcome=\"finished\"}", 1.0),
        ("vesica_helper_runs_total{outcome=\"failed\"}", 0.0),
        ("vesica_helper_open_runs", 1.0),
        ("vesica_helper_labels_received_total", labels),
        ("vesica_helper_stored_labels", 0.0),
        ("vesica_helper_stored_bytes", 0.0),
        ("vesica_helper_backend_seconds_count", 1.0),
        ("vesica_helper_refusals_total{reason=\"not_a_party\"}", 1.0),
        ("vesica_helper_connections{party=\"party-0\"}", 1.0),
    ] {
        assert_eq!(figure(&text, name), value, "{name} in\n{text}");
    }
    let received = figure(&text, "vesica_helper_payload_bytes_total{direction=\"in\"}");
    assert!((6.0 * labels..12.0 * labels).contains(&received), "{received}");
    assert!(figure(&text, "vesica_helper_payload_bytes_total{direction=\"out\"}") > 200.0);
    assert!(text.contains("vesica_helper_build_info{version=\""));
    assert!(!text.contains("vesica1"));
    drop(board);
}

#[test]
fn gauges_show_stored_and_reserved_bytes_and_waiting_runs() {
    let fixture = Fixture::new(2);
    let may_go_on = Arc::new(AtomicBool::new(true));
    let may = Arc::clone(&may_go_on);
    let service = fixture.start_with(|options| {
        with_pages(options);
        let backend = std::mem::replace(&mut options.backend, fixture.options().backend);
        options.backend = Faulty::boxed(backend, move |stop| {
            while !may.load(Ordering::Acquire) && !stop() {
                std::thread::sleep(Duration::from_millis(5));
            }
            None
        });
    });
    // The service checks the backend when it starts.
    may_go_on.store(false, Ordering::Release);
    let read = |name: &str| figure(&page(&service, "/metrics").1, &format!("vesica_helper_{name}"));
    let of =
        |name: &str, party: usize| read(&format!("party_{name}_bytes{{party=\"party-{party}\"}}"));
    assert!(read("free_disk_bytes") > 0.0);
    let specs = [1, 2].map(|agreement| fixture.spec_of(&[0, 1], agreement));
    let first = fixture.remote(&service, 0, &specs[0]);
    let mut board = first.open().unwrap();
    board.put(slot(Kind::Hello, 0), &hello(0)).unwrap();
    board.sync().unwrap();
    assert_eq!([of("stored", 0), of("reserved", 0), read("reserved_bytes")], [4096.0; 3]);
    assert_eq!((of("stored", 1), of("reserved", 1)), (0.0, 0.0));
    first.end().unwrap();
    drop(board);
    let gauges = ["reserved_bytes", "waiting_runs", "running_runs", "stored_bytes"];
    assert_eq!(gauges.map(read), [0.0; 4]);
    let room = specs[0].room(&[11, 11], 32 + 4095);
    std::thread::scope(|scope| {
        for spec in &specs {
            for party in [0, 1] {
                let remote = fixture.remote(&service, party, spec);
                scope.spawn(move || {
                    run_party(&remote, spec, party, MAX_ROWS).unwrap();
                    remote.done().unwrap();
                });
            }
        }
        until("both are complete", || read("stored_labels") == 4.0 * (MAX_ROWS as f64 + 32.0));
        // The party that started a run may have started the other too: then one waits for the
        // other.
        until("workers have them", || {
            read("running_runs") >= 1.0 && read("running_runs") + read("waiting_runs") == 2.0
        });
        let of_party = (room.put[0] + room.written[0]) as f64;
        assert_eq!((of("reserved", 0), of("reserved", 1)), (2.0 * of_party, 2.0 * of_party));
        assert_eq!(read("reserved_bytes"), 2.0 * room.total() as f64);
        assert!(of("stored", 0) > 2.0 * 8.0 * MAX_ROWS as f64 && of("stored", 0) < 2.0 * of_party);
        may_go_on.store(true, Ordering::Release);
    });
    until("all is given back", || {
        [of("stored", 0), of("reserved", 1), read("reserved_bytes")] == [0.0; 3]
    });
}

#[test]
fn health_says_what_is_missing() {
    let fixture = Fixture::new(2);
    let is_gone = Arc::new(AtomicBool::new(false));
    let gone = Arc::clone(&is_gone);
    let service = fixture.start_with(|options| {
        with_pages(options);
        let backend = std::mem::replace(&mut options.backend, fixture.options().backend);
        options.backend = Faulty::boxed(backend, move |_| {
            let error = BackendError::Unreachable(io::ErrorKind::ConnectionRefused);
            gone.load(Ordering::Acquire).then_some(error)
        });
    });
    let answer = |status: &str, body: &str| (status.to_owned(), body.to_owned());
    assert_eq!(page(&service, "/healthz"), answer("200", "ok\n"));
    assert_eq!(page(&service, "/readyz"), answer("200", "ready\n"));
    is_gone.store(true, Ordering::Release);
    assert_eq!(page(&service, "/healthz"), answer("503", "failing: backend\n"));
    fs::rename(fixture.state(), fixture.state().with_extension("away")).unwrap();
    assert_eq!(page(&service, "/healthz"), answer("503", "failing: store, backend\n"));
    fs::rename(fixture.state().with_extension("away"), fixture.state()).unwrap();
    is_gone.store(false, Ordering::Release);
    assert_eq!(page(&service, "/healthz"), answer("200", "ok\n"));
    let head = ask_page(&service, b"HEAD /healthz HTTP/1.1\r\nHost: x\r\n\r\n");
    assert!(head.starts_with("HTTP/1.1 200 ") && head.contains("Content-Length: 3\r\n"), "{head}");
    assert!(head.ends_with("\r\n\r\n"), "{head}");
    assert_eq!(page(&service, "/readyz?x=1").0, "200");
    assert_eq!(page(&service, "/").0, "404");
}

#[test]
fn an_invalid_request_is_answered_or_dropped_soon() {
    let fixture = Fixture::new(2);
    let service = fixture.start_with(with_pages);
    let status = |request: &[u8]| ask_page(&service, request).split(' ').nth(1).map(str::to_owned);
    let bad = Some("400".to_owned());
    assert_eq!(status(b"\x16\x03\x01\x00\x05hello\r\n\r\n"), bad);
    assert_eq!(status(&b"GET / HTTP/1.1\r\nA: b\r\n".repeat(600)), bad);
    assert_eq!(status(&[b'A'; 9000]), bad);
    assert_eq!(status(b"POST /metrics HTTP/1.1\r\n\r\n"), Some("405".to_owned()));
    // Many silent clients do not block others for long.
    let address = service.metrics_address().unwrap();
    let silent: Vec<TcpStream> = (0..30).map(|_| TcpStream::connect(address).unwrap()).collect();
    let started = Instant::now();
    until("the page is there again", || {
        ask_page(&service, b"GET /readyz HTTP/1.1\r\n\r\n").starts_with("HTTP/1.1 200")
    });
    assert!(started.elapsed() < Duration::from_secs(5));
    drop(silent);
}

#[test]
fn pages_are_only_for_this_machine_by_default() {
    let fixture = Fixture::new(2);
    let listen = "0.0.0.0:0".to_owned();
    for allow_remote in [false, true] {
        let mut options = fixture.options();
        options.metrics = Some(MetricsOptions { listen: listen.clone(), allow_remote });
        match Service::start(options) {
            Err(StartError::MetricsNotLoopback) => assert!(!allow_remote),
            Ok(service) => assert!(allow_remote && service.metrics_address().is_some()),
            Err(error) => panic!("{error}"),
        }
    }
    let mut options = fixture.options();
    options.metrics = Some(MetricsOptions { listen: "nowhere".into(), allow_remote: false });
    assert!(matches!(Service::start(options), Err(StartError::Metrics(_))));
}
