//! How many octets of metadata a client accepts, which bounds the errors of a batch in a status.
//!
//! A client announces it in its first HTTP/2 frame, as `SETTINGS_MAX_HEADER_LIST_SIZE` (RFC 9113, section 6.5.2). The HTTP/2
//! library does not tell, so the frame is read here as it arrives. Over TLS it is encrypted, and the limit unknown.

use crate::batch::DEFAULT_METADATA;
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Poll};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;
use tonic::Request;
use tonic::transport::server::Connected;

/// What every HTTP/2 connection begins with.
const PREFACE: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";
/// The octets in front of a frame's payload.
const FRAME_HEADER: usize = 9;
const SETTINGS: u8 = 4;
const MAX_HEADER_LIST_SIZE: u16 = 6;
/// The settings that are read, of 6 octets each. HTTP/2 defines 6 of them, and gRPC adds some.
const MOST_OCTETS: usize = PREFACE.len() + FRAME_HEADER + 6 * 64;
/// Most octets of a status. Clients in Go, which announce no limit, accept this many.
const MOST: usize = 16 << 20;
/// Up to this limit, clients in C++ and Python, which use gRPC's C core, accept only the default reliably.
const CORE_DEFAULT: usize = 16 << 10;

/// The octets that a client accepts. 0: unknown.
#[derive(Clone, Debug, Default)]
pub struct Accepts(Arc<AtomicUsize>);

/// The octets of metadata that the sender of a request accepts, or `otherwise` if that is unknown.
pub fn of<T>(request: &Request<T>, otherwise: usize) -> usize {
    let accepts = request.extensions().get::<Accepts>();
    match accepts.map_or(0, |accepts| accepts.0.load(Ordering::Relaxed)) {
        0 => otherwise,
        known => known,
    }
}

/// A connection whose first frame is read as it arrives.
#[derive(Debug)]
pub struct Connection {
    stream: TcpStream,
    /// What has arrived, until the frame is complete.
    first: Option<Vec<u8>>,
    accepts: Accepts,
}

impl From<TcpStream> for Connection {
    fn from(stream: TcpStream) -> Self {
        Connection {
            stream,
            first: Some(Vec::new()),
            accepts: Accepts::default(),
        }
    }
}

impl Connected for Connection {
    type ConnectInfo = Accepts;

    fn connect_info(&self) -> Accepts {
        self.accepts.clone()
    }
}

impl AsyncRead for Connection {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        into: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = into.filled().len();
        let polled = Pin::new(&mut self.stream).poll_read(context, into);
        if let Some(mut first) = self.first.take() {
            let left = MOST_OCTETS - first.len();
            first.extend(into.filled()[before..].iter().take(left));
            match accepted(&first) {
                Known::Not if first.len() < MOST_OCTETS => self.first = Some(first),
                Known::Not | Known::Never => {}
                Known::Octets(octets) => self.accepts.0.store(octets, Ordering::Relaxed),
            }
        }
        polled
    }
}

impl AsyncWrite for Connection {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        octets: &[u8],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write(context, octets)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        slices: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write_vectored(context, slices)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(context)
    }
}

/// What is known from the beginning of a connection.
#[derive(Debug, PartialEq, Eq)]
enum Known {
    /// More octets are needed.
    Not,
    /// It is not HTTP/2 in the clear.
    Never,
    Octets(usize),
}

fn accepted(first: &[u8]) -> Known {
    let (preface, frames) = first.split_at(first.len().min(PREFACE.len()));
    if !PREFACE.starts_with(preface) {
        return Known::Never;
    }
    let Some((&[a, b, c, kind, _, _, _, _, _], payload)) = frames.split_first_chunk() else {
        return Known::Not;
    };
    if kind != SETTINGS {
        return Known::Never;
    }
    let length = u32::from_be_bytes([0, a, b, c]) as usize;
    let Some(payload) = payload.get(..length) else {
        return Known::Not;
    };
    let (settings, _) = payload.as_chunks::<6>();
    let announced = settings
        .iter()
        .rfind(|setting| u16::from_be_bytes([setting[0], setting[1]]) == MAX_HEADER_LIST_SIZE);
    let announced = announced.map(|&[_, _, a, b, c, d]| u32::from_be_bytes([a, b, c, d]) as usize);
    Known::Octets(match announced {
        None => MOST,
        Some(octets) if octets <= CORE_DEFAULT => octets.clamp(1, DEFAULT_METADATA),
        // gRPC's C core announces 5/4 of a limit that a client sets, and rejects more and more of what exceeds it.
        Some(octets) => (octets / 5 * 4).min(MOST),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A connection that begins with these settings.
    fn connection(settings: &[(u16, u32)]) -> Vec<u8> {
        let mut octets = PREFACE.to_vec();
        let length = u32::try_from(6 * settings.len()).unwrap().to_be_bytes();
        octets.extend([length[1], length[2], length[3], SETTINGS, 0, 0, 0, 0, 0]);
        for (name, value) in settings {
            octets.extend(name.to_be_bytes());
            octets.extend(value.to_be_bytes());
        }
        octets
    }

    // p4runtime: write-errors-many
    #[test]
    fn a_client_accepts_what_it_announces() {
        for (settings, octets) in [
            (&[][..], MOST),
            (&[(3, 100), (4, 65_535)], MOST),
            (&[(6, 4_096)], 4_096),
            (&[(6, 8_192)], 8_192),
            (&[(3, 100), (6, 16_384), (4, 1)], 8_192),
            (&[(6, 81_920)], 65_536),
            (&[(6, u32::MAX)], MOST),
        ] {
            let mut connection = connection(settings);
            for short in 0..connection.len() {
                assert_eq!(accepted(&connection[..short]), Known::Not);
            }
            connection.extend(b"next frame");
            assert_eq!(accepted(&connection), Known::Octets(octets), "{settings:?}");
        }
    }

    #[test]
    fn nothing_is_known_of_other_connections() {
        assert_eq!(accepted(b"\x16\x03\x01\x02\x00"), Known::Never);
        assert_eq!(accepted(b"GET / HTTP/1.1\r\n\r\n"), Known::Never);
        let mut other = PREFACE.to_vec();
        other.extend([0; 9]);
        assert_eq!(accepted(&other), Known::Never);
    }
}
