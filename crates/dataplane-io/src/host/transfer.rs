//! Whole transfers, one connection at a time, for those who want no more.

use std::io::{self, Read, Write};
use std::net::SocketAddrV4;

use thiserror::Error;
use transport::tcp::modern::{Ended, EndpointError, Id, StreamError};
use units::{Duration, Instant};

use super::Host;

/// Why a transfer ended early.
#[derive(Debug, Error)]
pub enum TransferError {
    /// The connection cannot be had.
    #[error(transparent)]
    Endpoint(#[from] EndpointError),
    /// The connection ended.
    #[error(transparent)]
    Ended(#[from] Ended),
    /// Nobody came in time.
    #[error("no connection came within {within}")]
    Nobody {
        /// How long that was.
        within: Duration,
    },
    /// What is sent cannot be read, or what came cannot be written.
    #[error(transparent)]
    Io(#[from] io::Error),
}

/// Octets that are handed over at a time.
const CHUNK: usize = 64 << 10;
/// How long a turn may wait.
const TURN: Duration = Duration::from_millis(100);

impl Host {
    /// Opens a connection.
    ///
    /// # Errors
    /// It is refused, or nothing comes back.
    pub fn connect(&mut self, remote: SocketAddrV4) -> Result<Id, TransferError> {
        let now = self.now();
        let id = self.endpoint().connect(now, remote)?;
        loop {
            self.turn(TURN);
            self.check(id)?;
            if self
                .endpoint
                .connection(id)
                .is_some_and(|c| c.is_established())
            {
                return Ok(id);
            }
        }
    }

    /// Waits for a connection to `port`.
    ///
    /// # Errors
    /// None comes `within` that time, or something listens there already.
    pub fn accept(&mut self, port: u16, within: Duration) -> Result<Id, TransferError> {
        if !self.endpoint.listens(port) {
            self.endpoint.listen(port, 16)?;
        }
        let deadline = self.now() + within;
        loop {
            self.turn(TURN);
            if let Some(id) = self.endpoint.accept(port) {
                return Ok(id);
            }
            if self.now() >= deadline {
                return Err(TransferError::Nobody { within });
            }
        }
    }

    /// Sends all of `source`, closes this direction, and waits until it has arrived. How many octets
    /// that were.
    ///
    /// # Errors
    /// The connection ends before, or `source` cannot be read.
    pub fn send(&mut self, id: Id, source: &mut dyn Read) -> Result<u64, TransferError> {
        let mut chunk = vec![0; CHUNK];
        let mut total = 0;
        loop {
            let count = source.read(&mut chunk)?;
            if count == 0 {
                break;
            }
            let mut rest = &chunk[..count];
            while !rest.is_empty() {
                match self.with(id, |connection| connection.write(rest))? {
                    Some(written) => rest = &rest[written..],
                    None => self.turn(TURN),
                }
            }
            total += count as u64;
        }
        self.with(id, |connection| {
            connection.close();
            Ok(())
        })?;
        while !self.endpoint.connection(id).is_none_or(|c| c.is_finished()) {
            self.turn(TURN);
            self.check(id)?;
        }
        Ok(total)
    }

    /// Receives into `sink` until the other end closes. How many octets that were.
    ///
    /// # Errors
    /// The connection ends before, or `sink` cannot be written.
    pub fn receive(&mut self, id: Id, sink: &mut dyn Write) -> Result<u64, TransferError> {
        let mut chunk = vec![0; CHUNK];
        let mut total = 0;
        loop {
            match self.with(id, |connection| connection.read(&mut chunk))? {
                Some(0) => return Ok(total),
                Some(count) => {
                    sink.write_all(&chunk[..count])?;
                    total += count as u64;
                }
                None => self.turn(TURN),
            }
        }
    }

    /// Lets go of a connection, and lives on until it is over or the time has come.
    pub fn finish(&mut self, id: Id, within: Duration) {
        self.endpoint.release(id);
        let deadline: Instant = self.now() + within;
        while self.endpoint.connection(id).is_some() && self.now() < deadline {
            self.turn(TURN);
        }
    }

    /// Does something to a connection; `None` if that would wait.
    fn with<T>(
        &mut self,
        id: Id,
        act: impl FnOnce(&mut transport::tcp::modern::Connection) -> Result<T, StreamError>,
    ) -> Result<Option<T>, TransferError> {
        let Some(connection) = self.endpoint.connection_mut(id) else {
            return Err(Ended::Closed.into());
        };
        match act(connection) {
            Ok(done) => Ok(Some(done)),
            Err(StreamError::Blocked) => Ok(None),
            Err(StreamError::Finished) => Err(Ended::Closed.into()),
            Err(StreamError::Ended(ended)) => Err(ended.into()),
        }
    }

    /// Whether the connection goes on.
    fn check(&self, id: Id) -> Result<(), TransferError> {
        match self.endpoint.connection(id).and_then(|c| c.ended()) {
            Some(Ended::Closed) | None => Ok(()),
            Some(ended) => Err(ended.into()),
        }
    }
}
