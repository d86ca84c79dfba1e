//! Connecting through proxies: what they are sent, what they may answer, and that a session works
//! through them.

use crate::common::{SOON, connect_to, listen, listen_anywhere, options, works};
use std::io::{self, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::Mutex;
use std::thread;
use std::time::{Duration, Instant};
use vesica_link::{
    CancelToken, Endpoint, Identity, LinkError, LinkEvent, LinkOptions, Proxy, ProxyFault,
    establish,
};

const SUCCESS: &[u8] = &[5, 0, 0, 1, 127, 0, 0, 1, 0, 80];

/// Opens a port, and plays `proxy` on every connection to it.
fn serve(proxy: impl Fn(TcpStream) + Send + Clone + 'static) -> SocketAddr {
    let port = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = port.local_addr().unwrap();
    thread::spawn(move || {
        for socket in port.incoming() {
            let proxy = proxy.clone();
            thread::spawn(move || proxy(socket.unwrap()));
        }
    });
    address
}

/// Passes on the bytes of both until they end.
fn pass_on(client: &TcpStream, target: SocketAddr) {
    let server = TcpStream::connect(target).unwrap();
    let copy = |from: &TcpStream, to: &TcpStream| {
        let (mut from, mut to) = (from.try_clone().unwrap(), to.try_clone().unwrap());
        thread::spawn(move || {
            let _ = io::copy(&mut from, &mut to);
            let _ = to.shutdown(Shutdown::Write);
        })
    };
    let ways = [copy(client, &server), copy(&server, client)];
    ways.into_iter().for_each(|way| way.join().unwrap());
}

/// The head of a request over HTTP.
fn http_request(client: &mut TcpStream) -> String {
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        head.push(read::<1>(client)[0]);
    }
    String::from_utf8(head).unwrap()
}

fn read<const N: usize>(client: &mut TcpStream) -> [u8; N] {
    let mut bytes = [0; N];
    client.read_exact(&mut bytes).unwrap();
    bytes
}

/// Two parties meet through the proxy, which knows where `address` is.
fn meets_through(url: impl FnOnce(SocketAddr) -> String, address: &str) {
    let [one, two] = [(); 2].map(|()| Identity::generate().unwrap());
    let listening = listen(&one, &[two.public()], options(listen_anywhere()));
    let proxy: Proxy = url(listening.address).parse().unwrap();
    let endpoint = Endpoint::Connect(address.to_owned());
    let link = LinkOptions { proxy: Some(proxy), ..options(endpoint) };
    let events = Mutex::new(Vec::new());
    let tell = |event| events.lock().unwrap().push(event);
    let connected = establish(&two, &[one.public()], &link, &tell, &CancelToken::new()).unwrap();
    works(&listening.result().unwrap(), &connected);
    let events = events.into_inner().unwrap();
    assert!(matches!(events.last(), Some(LinkEvent::Connected { is_proxy: true, .. })));
}

/// Why no session comes about with a host behind the proxy, and after how long.
fn fails_through(url: &str, wait: Duration) -> (LinkError, Duration) {
    let [one, two] = [(); 2].map(|()| Identity::generate().unwrap());
    let endpoint = Endpoint::Connect("partner.example:7400".into());
    let proxy = Some(url.parse().unwrap());
    let link = LinkOptions { proxy, wait, ..options(endpoint) };
    let started = Instant::now();
    let met = establish(&one, &[two.public()], &link, &|_| (), &CancelToken::new());
    (met.map(drop).unwrap_err(), started.elapsed())
}

#[test]
fn a_session_works_through_an_http_proxy() {
    meets_through(
        |target| {
            let proxy = serve(move |mut client| {
                let request = http_request(&mut client);
                let place = "partner.example:7400";
                assert_eq!(
                    request,
                    format!(
                        "CONNECT {place} HTTP/1.1\r\nHost: {place}\r\n\
                         Proxy-Authorization: Basic YW5uOnM6QA==\r\n\r\n"
                    )
                );
                let answer = "HTTP/1.0 200 Connection established\r\nVia: some\r\n\r\n";
                client.write_all(answer.as_bytes()).unwrap();
                pass_on(&client, target);
            });
            format!("http://ann:s%3A%40@{proxy}")
        },
        "partner.example:7400",
    );
}

#[test]
fn a_session_works_through_a_socks_proxy_with_and_without_a_login() {
    for has_login in [false, true] {
        meets_through(
            |target| {
                let proxy = serve(move |mut client| {
                    if has_login {
                        assert_eq!(read(&mut client), [5, 2, 0, 2]);
                        client.write_all(&[5, 2]).unwrap();
                        assert_eq!(&read(&mut client), b"\x01\x03ann\x03s:@");
                        client.write_all(&[1, 0]).unwrap();
                    } else {
                        assert_eq!(read(&mut client), [5, 1, 0]);
                        client.write_all(&[5, 0]).unwrap();
                    }
                    assert_eq!(&read(&mut client), b"\x05\x01\x00\x03\x0fpartner.example\x1c\xe8");
                    // A name as the address that the proxy connects from.
                    client.write_all(b"\x05\x00\x00\x03\x02ab\x00\x50").unwrap();
                    pass_on(&client, target);
                });
                if has_login {
                    format!("socks5h://ann:s%3A%40@{proxy}")
                } else {
                    format!("socks5://{proxy}")
                }
            },
            "partner.example:7400",
        );
    }
}

#[test]
fn addresses_are_given_to_proxies_as_addresses() {
    meets_through(
        |target| {
            let proxy = serve(move |mut client| {
                assert_eq!(read(&mut client), [5, 1, 0]);
                client.write_all(&[5, 0]).unwrap();
                assert_eq!(read(&mut client), [5, 1, 0, 1, 192, 0, 2, 7, 0x1c, 0xe8]);
                client.write_all(SUCCESS).unwrap();
                pass_on(&client, target);
            });
            format!("socks5://{proxy}")
        },
        "192.0.2.7:7400",
    );
    meets_through(
        |target| {
            let proxy = serve(move |mut client| {
                let request = http_request(&mut client);
                assert!(request.starts_with("CONNECT [2001:db8::7]:7400 HTTP/1.1\r\n"));
                client.write_all(b"HTTP/1.1 200\r\n\r\n").unwrap();
                pass_on(&client, target);
            });
            format!("http://{proxy}")
        },
        "[2001:db8::7]:7400",
    );
}

#[test]
fn a_proxy_that_refuses_ends_the_wait_at_once() {
    let http = |answer: &'static [u8]| {
        let proxy = serve(move |mut client| {
            http_request(&mut client);
            client.write_all(answer).unwrap();
        });
        format!("http://{proxy}")
    };
    let socks = |answer: &'static [u8]| {
        let proxy = serve(move |mut client| {
            let _: [u8; 3] = read(&mut client);
            client.write_all(answer).unwrap();
            let _ = io::copy(&mut client, &mut io::sink());
        });
        format!("socks5://{proxy}")
    };
    for (url, fault) in [
        (http(b"HTTP/1.1 407 Login\r\n\r\n"), ProxyFault::Login),
        (http(b"HTTP/1.1 403 No\r\nA: b\r\n\r\n"), ProxyFault::Forbidden),
        (http(b"HTTP/1.1 xyz\r\n\r\n"), ProxyFault::NotAProxy),
        (http(b"HTTP/1.1 2000 OK\r\n\r\n"), ProxyFault::NotAProxy),
        (http(b"SSH-2.0-some\r\n"), ProxyFault::NotAProxy),
        (
            http(&[b"HTTP/1.1 200 OK\r\n", &[b'a'; 1 << 15][..]].concat().leak()[..]),
            ProxyFault::NotAProxy,
        ),
        (socks(&[5, 0xff]), ProxyFault::Login),
        (socks(&[4, 0]), ProxyFault::NotAProxy),
        (socks(&[5, 0, 5, 2, 0, 1]), ProxyFault::Forbidden),
        (socks(&[5, 0, 4, 0, 0, 1]), ProxyFault::NotAProxy),
        (socks(&[5, 0, 5, 0, 0, 9]), ProxyFault::NotAProxy),
    ] {
        let (error, after) = fails_through(&url, SOON);
        assert_eq!(error, LinkError::Proxy(fault), "{url}");
        assert!(after < SOON / 2, "{url}");
    }
}

#[test]
fn a_proxy_that_does_not_reach_the_other_side_is_asked_again() {
    let short = Duration::from_millis(1500);
    let no_route = serve(|mut client| {
        http_request(&mut client);
        client.write_all(b"HTTP/1.1 502 Bad gateway\r\n\r\n").unwrap();
    });
    let closing = serve(|mut client| drop(http_request(&mut client)));
    let silent = serve(|mut client| drop(io::copy(&mut client, &mut io::sink())));
    let gone = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let refused = ProxyFault::Unreachable(io::ErrorKind::ConnectionRefused);
    for (proxy, last) in [
        (no_route, Some(ProxyFault::NoRoute)),
        (closing, Some(ProxyFault::Closed)),
        (gone, Some(refused)),
        // The wait ends before the proxy's time.
        (silent, None),
    ] {
        let (error, after) = fails_through(&format!("http://{proxy}"), short);
        let last = last.map(|fault| Box::new(LinkError::Proxy(fault)));
        assert_eq!(error, LinkError::NoPeer { waited: short, last });
        assert!(after >= short && after < short * 4, "{after:?}");
    }
}

#[test]
fn a_peer_behind_a_proxy_must_have_the_expected_identity() {
    let [one, two, three] = [(); 3].map(|()| Identity::generate().unwrap());
    let listening = listen(&one, &[two.public()], options(listen_anywhere()));
    let target = listening.address;
    let proxy = serve(move |mut client| {
        http_request(&mut client);
        client.write_all(b"HTTP/1.1 200 OK\r\n\r\n").unwrap();
        pass_on(&client, target);
    });
    let proxy = Some(format!("http://{proxy}").parse().unwrap());
    let link = LinkOptions { proxy, ..options(connect_to(target)) };
    let met = establish(&two, &[three.public()], &link, &|_| (), &CancelToken::new());
    assert_eq!(met.map(drop), Err(LinkError::WrongIdentity { presented: one.public() }));
    listening.cancel.cancel();
}
