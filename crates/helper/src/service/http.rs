//! Health and metrics over HTTP, for a supervisor and for Prometheus on the same machine.
//!
//! | page | answer |
//! |---|---|
//! | `/healthz` | 200 if the directory can be written and has not failed within a minute, and the backend is reachable; 503 and what is missing |
//! | `/readyz` | 200 while the service accepts connections |
//! | `/metrics` | the counters, in Prometheus's format |

use super::core::Core;
use super::error::StartError;
use super::options::MetricsOptions;
use std::io::{self, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream, ToSocketAddrs};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// How often an idle server checks whether to end.
const TICK: Duration = Duration::from_millis(20);

/// How long one request may take to arrive.
const PATIENCE: Duration = Duration::from_secs(2);

/// Most bytes of a request's head.
const MAX_HEAD_LEN: usize = 8 << 10;

/// Most header fields of a request.
const MAX_FIELDS: usize = 64;

/// Requests processed at once.
const AT_ONCE: usize = 8;

/// Content types of plain text, and of metrics.
const TEXT: &str = "text/plain; charset=utf-8";
const OPEN_METRICS: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";

/// The pages, served until they are closed.
pub(super) struct Pages {
    address: SocketAddr,
    is_closed: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Pages {
    pub(super) fn open(options: &MetricsOptions, core: Arc<Core>) -> Result<Self, StartError> {
        let failed = |error: io::Error| StartError::Metrics(error.kind());
        let addresses: Vec<SocketAddr> =
            options.listen.to_socket_addrs().map_err(failed)?.collect();
        if !options.allow_remote && !addresses.iter().all(|address| address.ip().is_loopback()) {
            return Err(StartError::MetricsNotLoopback);
        }
        let listener = TcpListener::bind(addresses.as_slice()).map_err(failed)?;
        let address = listener.local_addr().map_err(failed)?;
        listener.set_nonblocking(true).map_err(failed)?;
        let is_closed = Arc::new(AtomicBool::new(false));
        let for_thread = Arc::clone(&is_closed);
        let thread = std::thread::Builder::new()
            .name("vesica-http".into())
            .spawn(move || serve(&listener, &core, &for_thread))
            .map_err(|error| StartError::NoThread(error.kind()))?;
        Ok(Self { address, is_closed, thread: Some(thread) })
    }

    pub(super) fn address(&self) -> SocketAddr {
        self.address
    }

    pub(super) fn close(&mut self) {
        self.is_closed.store(true, Ordering::Release);
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

impl Drop for Pages {
    fn drop(&mut self) {
        self.close();
    }
}

fn serve(listener: &TcpListener, core: &Arc<Core>, is_closed: &AtomicBool) {
    let answering = Arc::new(AtomicUsize::new(0));
    while !is_closed.load(Ordering::Acquire) {
        let Ok((socket, _)) = listener.accept() else {
            std::thread::sleep(TICK);
            continue;
        };
        let busy = Busy(Arc::clone(&answering));
        // Connections over the limit are dropped.
        if busy.0.fetch_add(1, Ordering::AcqRel) >= AT_ONCE {
            continue;
        }
        let core = Arc::clone(core);
        // Without a thread there is no answer either.
        drop(std::thread::Builder::new().name("vesica-http".into()).spawn(move || {
            let _busy = busy;
            if let Err(error) = answer(socket, &core) {
                tracing::debug!(error = %error.kind(), "a request over HTTP was not answered");
            }
        }));
    }
}

struct Busy(Arc<AtomicUsize>);

impl Drop for Busy {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::AcqRel);
    }
}

fn answer(mut socket: TcpStream, core: &Core) -> io::Result<()> {
    socket.set_nonblocking(false)?;
    socket.set_write_timeout(Some(PATIENCE))?;
    let (mut is_bare, words) = (false, read_head(&mut socket)?);
    let (status, kind, body) = match words {
        Some((method, path)) => {
            is_bare = method == "HEAD";
            page(core, &method, &path)
        }
        None => ("400 Bad Request", TEXT, "bad request\n".to_owned()),
    };
    let head = format!(
        "HTTP/1.1 {status}\r\nContent-Type: {kind}\r\nContent-Length: {}\r\nConnection: close\r\n\
         Cache-Control: no-store\r\n\r\n",
        body.len()
    );
    socket.write_all(head.as_bytes())?;
    if !is_bare {
        socket.write_all(body.as_bytes())?;
    }
    socket.shutdown(Shutdown::Write)
}

/// Method and path; `None` for an invalid request.
fn read_head(socket: &mut TcpStream) -> io::Result<Option<(String, String)>> {
    let started = Instant::now();
    let mut head = Vec::new();
    let mut piece = [0; 1024];
    loop {
        let left = PATIENCE.saturating_sub(started.elapsed());
        if left.is_zero() {
            return Err(io::ErrorKind::TimedOut.into());
        }
        socket.set_read_timeout(Some(left))?;
        let len = socket.read(&mut piece)?;
        if len == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        head.extend_from_slice(&piece[..len]);
        let mut fields = [httparse::EMPTY_HEADER; MAX_FIELDS];
        let mut request = httparse::Request::new(&mut fields);
        match request.parse(&head) {
            Ok(httparse::Status::Complete(_)) => {
                let words = request.method.zip(request.path);
                return Ok(words.map(|(method, path)| (method.to_owned(), path.to_owned())));
            }
            Ok(httparse::Status::Partial) if head.len() < MAX_HEAD_LEN => {}
            _ => return Ok(None),
        }
    }
}

fn page(core: &Core, method: &str, path: &str) -> (&'static str, &'static str, String) {
    if !matches!(method, "GET" | "HEAD") {
        return ("405 Method Not Allowed", TEXT, "only GET and HEAD\n".to_owned());
    }
    match path.split('?').next() {
        Some("/healthz") => match core.ailing().as_slice() {
            [] => ("200 OK", TEXT, "ok\n".to_owned()),
            ailing => {
                ("503 Service Unavailable", TEXT, format!("failing: {}\n", ailing.join(", ")))
            }
        },
        Some("/readyz") if core.is_stopping() => {
            ("503 Service Unavailable", TEXT, "shutting down\n".to_owned())
        }
        Some("/readyz") => ("200 OK", TEXT, "ready\n".to_owned()),
        Some("/metrics") => ("200 OK", OPEN_METRICS, core.metrics.text(&core.now())),
        _ => ("404 Not Found", TEXT, "there is /healthz, /readyz and /metrics\n".to_owned()),
    }
}
