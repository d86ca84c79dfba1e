//! Runs through a proxy: the option, the environment, and the messages when it fails.

use crate::support::{Place, Running, TERMS, free_port, vesica};
use std::io::{Read, Write, copy};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::process::Command;
use std::thread;

const VARIABLES: [&str; 6] =
    ["HTTPS_PROXY", "https_proxy", "ALL_PROXY", "all_proxy", "NO_PROXY", "no_proxy"];

/// An HTTP proxy that answers with `status`, and connects every client to port `to` of this
/// machine. Ends with the process.
fn http_proxy(status: &'static str, to: u16) -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    thread::spawn(move || {
        for client in listener.incoming() {
            thread::spawn(move || answer(client.unwrap(), status, to));
        }
    });
    port
}

fn answer(mut client: TcpStream, status: &str, to: u16) {
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        let mut byte = [0];
        client.read_exact(&mut byte).unwrap();
        head.push(byte[0]);
    }
    assert!(head.starts_with(b"CONNECT partner.invalid:7400 HTTP/1.1\r\n"));
    let (status, server) = match TcpStream::connect(("127.0.0.1", to)) {
        Ok(server) => (status, Some(server)),
        // The listening side has not started yet.
        Err(_) => ("502", None),
    };
    write!(client, "HTTP/1.1 {status} x\r\n\r\n").unwrap();
    let Some(server) = server.filter(|_| status == "200") else { return };
    let ways = [(&client, &server), (&server, &client)].map(|(from, into)| {
        let (mut from, mut into) = (from.try_clone().unwrap(), into.try_clone().unwrap());
        thread::spawn(move || {
            let _ = copy(&mut from, &mut into);
            let _ = into.shutdown(Shutdown::Write);
        })
    });
    ways.into_iter().for_each(|way| way.join().unwrap());
}

fn place() -> Place {
    let place = Place::new();
    place.write("one.csv", "id,email\n1,ann@example.org\n2,bob@example.org\n");
    place.write("two.csv", "email\nbob@example.org\ncy@example.org\n");
    place.agreement("agreement.toml", &TERMS);
    place
}

/// The connecting side, to a host that only the proxy knows, without proxies in its environment.
fn connecting(mut two: Command) -> Command {
    for variable in VARIABLES {
        two.env_remove(variable);
    }
    two.args(["--connect", "partner.invalid:7400"]);
    two
}

#[test]
fn a_run_through_a_proxy_matches() {
    for by_environment in [false, true] {
        let place = place();
        let port = free_port();
        let proxy = format!("http://127.0.0.1:{}", http_proxy("200", port));
        let mut one = place.run("agreement.toml", "one", "one.csv", Some("out.csv"));
        one.args(["--listen", &format!("127.0.0.1:{port}")]);
        let mut two = connecting(place.run("agreement.toml", "two", "two.csv", None));
        if by_environment {
            two.env("HTTPS_PROXY", &proxy);
        } else {
            two.args(["--proxy", &proxy]);
        }
        let (one, two) = (Running::start(one), Running::start(two));
        one.wait().assert_code(0);
        let two = two.wait();
        two.assert_code(0);
        assert!(two.stderr.contains("through the proxy at 127.0.0.1:"), "{two:#?}");
        assert_eq!(place.read("out.csv"), "id,email\n2,bob@example.org\n");
    }
}

#[test]
fn what_a_proxy_refuses_is_reported() {
    let place = place();
    for (status, code, says) in [
        ("403", 5, "the proxy does not allow a connection to one at partner.invalid:7400"),
        ("407", 3, "rejects the login, or requires one"),
        ("502", 5, "the proxy could not reach the other side"),
        ("abc", 3, "is not a proxy of that kind"),
    ] {
        // A server listens behind the proxy.
        let behind = TcpListener::bind("127.0.0.1:0").unwrap();
        let proxy = http_proxy(status, behind.local_addr().unwrap().port());
        let mut two = connecting(place.run_brief("agreement.toml", "two", "two.csv", None));
        two.args(["--proxy", &format!("http://ann:hidden-word@127.0.0.1:{proxy}")]);
        let ended = Running::start(two).wait();
        ended.assert_failed(code, says);
        assert!(!ended.stderr.contains("hidden-word"), "{ended:#?}");
    }
}

#[test]
fn a_proxy_is_chosen_by_option_then_by_environment() {
    let place = place();
    let refusing = format!("http://127.0.0.1:{}", http_proxy("403", free_port()));
    let directly = "the host name cannot be resolved";
    let mut none = connecting(place.run_brief("agreement.toml", "two", "two.csv", None));
    none.env("HTTPS_PROXY", &refusing).args(["--proxy", "none"]);
    Running::start(none).wait().assert_failed(5, directly);
    let mut excepted = connecting(place.run_brief("agreement.toml", "two", "two.csv", None));
    excepted.env("HTTPS_PROXY", &refusing).env("NO_PROXY", "a.example, .invalid");
    Running::start(excepted).wait().assert_failed(5, directly);
    let mut bad = connecting(place.run_brief("agreement.toml", "two", "two.csv", None));
    bad.env("https_proxy", "https://proxy.example");
    Running::start(bad).wait().assert_failed(2, "HTTPS_PROXY is not a proxy: the scheme of");
    let mut wrong = vesica();
    wrong.args(["run", "a.toml", "--key", "a.key", "--input", "a.csv", "--proxy", "ftp://p"]);
    Running::start(wrong).wait().assert_failed(2, "the scheme of a proxy is http or socks5");
}
