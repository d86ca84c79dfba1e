//! A line to the helper that changes or cuts what passes it.

use std::io::{Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// A proxy to the helper.
pub(crate) struct Line {
    pub(crate) address: SocketAddr,
    is_over: Arc<AtomicBool>,
}

impl Line {
    /// Passes on what `pass` leaves of each block, which is all or its beginning; then the
    /// connection is cut. `pass` is told whether the block is from the helper, and the number of
    /// the connection.
    pub(crate) fn new(
        helper: SocketAddr,
        pass: impl Fn(bool, usize, &mut [u8]) -> usize + Clone + Send + 'static,
    ) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let is_over: Arc<AtomicBool> = Arc::default();
        let over = Arc::clone(&is_over);
        std::thread::spawn(move || {
            for (number, party) in listener.incoming().map_while(Result::ok).enumerate() {
                if over.load(Ordering::SeqCst) {
                    return;
                }
                let Ok(helper) = TcpStream::connect(helper) else { continue };
                let [other_party, other_helper] =
                    [&party, &helper].map(|end| end.try_clone().unwrap());
                for (is_from_helper, from, to) in
                    [(false, party, helper), (true, other_helper, other_party)]
                {
                    let pass = pass.clone();
                    std::thread::spawn(move || {
                        carry(&from, &to, |block| pass(is_from_helper, number, block));
                    });
                }
            }
        });
        Self { address, is_over }
    }
}

impl Drop for Line {
    fn drop(&mut self) {
        self.is_over.store(true, Ordering::SeqCst);
        let _ = TcpStream::connect(self.address);
    }
}

fn carry(mut from: &TcpStream, mut to: &TcpStream, pass: impl Fn(&mut [u8]) -> usize) {
    let mut bytes = [0; 1 << 14];
    while let Ok(len) = from.read(&mut bytes) {
        let passed = pass(&mut bytes[..len]);
        if to.write_all(&bytes[..passed]).is_err() || len == 0 {
            break;
        }
        if passed < len {
            // What has passed arrives; a reset could discard it. The other direction ends with the
            // party's connection.
            let _ = to.shutdown(Shutdown::Write);
            return;
        }
    }
    let _ = (from.shutdown(Shutdown::Both), to.shutdown(Shutdown::Both));
}
