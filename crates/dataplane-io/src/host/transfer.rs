//! One connection of a host, from beginning to end.
//!
//! A method that waits takes a deadline, and returns whether it was done by then. Call it again to continue.

use std::net::SocketAddrV4;

use thiserror::Error;
use transport::tcp::Trace;
use transport::tcp::modern::{Connection, Ended, EndpointError, Id, StreamError};
use units::{Duration, Instant};

use super::Host;

/// The most time that a turn may wait. [`Watch::proceed`] is called at least this often.
const TURN: Duration = Duration::from_millis(50);
/// Octets per read.
const CHUNK: usize = 64 << 10;

/// Why a transfer ended early.
#[derive(Debug, Error)]
pub enum TransferError {
    /// The connection could not be created.
    #[error(transparent)]
    Endpoint(#[from] EndpointError),
    /// The connection ended, or was closed by this end.
    #[error(transparent)]
    Stream(#[from] StreamError),
    /// [`Watch::proceed`] returned false.
    #[error("the transfer was interrupted")]
    Interrupted,
}

/// Observes a transfer while it waits. `()` does nothing.
pub trait Watch {
    /// Called at least every 50 ms. Returns whether the transfer continues.
    fn proceed(&mut self) -> bool {
        true
    }

    /// Called when the state of the sender has changed, if [`Config::trace`](transport::tcp::modern::Config::trace) is
    /// set.
    fn change(&mut self, _change: &Trace) {}
}

impl Watch for () {}

/// The data that a transfer sends.
pub trait Payload {
    /// Writes as much as there is room for. Returns whether everything has been written.
    ///
    /// # Errors
    /// The connection accepts no more data.
    fn write(&mut self, connection: &mut Connection) -> Result<bool, StreamError>;
}

impl Payload for &[u8] {
    fn write(&mut self, connection: &mut Connection) -> Result<bool, StreamError> {
        if connection.writable() > 0 && !self.is_empty() {
            let written = connection.write(self)?;
            *self = &self[written..];
        }
        Ok(self.is_empty())
    }
}

/// The given number of zero octets.
#[derive(Clone, Copy, Debug)]
pub struct Zeros(pub u64);

impl Payload for Zeros {
    fn write(&mut self, connection: &mut Connection) -> Result<bool, StreamError> {
        let count = connection.writable().min(self.0);
        connection.write_zeros(count)?;
        self.0 -= count;
        Ok(self.0 == 0)
    }
}

/// A host and its one connection.
#[derive(Debug)]
pub struct Transfer {
    host: Host,
    connection: Option<Id>,
}

impl Transfer {
    /// Creates a transfer on this host. It has no connection yet.
    pub fn new(host: Host) -> Self {
        Transfer {
            host,
            connection: None,
        }
    }

    /// The current time of the connection.
    pub fn now(&self) -> Instant {
        self.host.now()
    }

    /// The connection, until it is over and removed.
    pub fn connection(&self) -> Option<&Connection> {
        self.host.endpoint.connection(self.connection?)
    }

    fn connection_mut(&mut self) -> Result<&mut Connection, StreamError> {
        let id = self.connection.ok_or(Ended::Closed)?;
        let connection = self.host.endpoint.connection_mut(id);
        Ok(connection.ok_or(Ended::Closed)?)
    }

    /// Starts to open a connection.
    ///
    /// # Errors
    /// There is no free port.
    pub fn connect(&mut self, remote: SocketAddrV4) -> Result<(), TransferError> {
        let now = self.host.now();
        self.connection = Some(self.host.endpoint.connect(now, remote)?);
        Ok(())
    }

    /// Waits until the connection is open.
    ///
    /// # Errors
    /// The connection is refused or times out.
    pub fn wait_open(
        &mut self,
        until: Instant,
        watch: &mut dyn Watch,
    ) -> Result<bool, TransferError> {
        self.run(until, watch, |transfer| {
            let connection = transfer.connection_mut()?;
            if let Some(ended) = connection.ended() {
                return Err(StreamError::from(ended).into());
            }
            Ok(connection.is_established())
        })
    }

    /// Waits for an incoming connection to `port`.
    ///
    /// # Errors
    /// `watch` interrupts it.
    pub fn accept(
        &mut self,
        port: u16,
        until: Instant,
        watch: &mut dyn Watch,
    ) -> Result<bool, TransferError> {
        if !self.host.endpoint.listens(port) {
            self.host.endpoint.listen(port, 1)?;
        }
        self.run(until, watch, |transfer| {
            transfer.connection = transfer.host.endpoint.accept(port);
            Ok(transfer.connection.is_some())
        })
    }

    /// Sends until the connection has accepted all of `payload`.
    ///
    /// # Errors
    /// The connection ends early.
    pub fn send(
        &mut self,
        payload: &mut dyn Payload,
        until: Instant,
        watch: &mut dyn Watch,
    ) -> Result<bool, TransferError> {
        self.run(until, watch, |transfer| {
            let connection = transfer.connection_mut()?;
            if let Some(ended) = connection.ended() {
                return Err(StreamError::from(ended).into());
            }
            Ok(payload.write(connection)?)
        })
    }

    /// Passes received data to `sink` until the other end closes.
    ///
    /// # Errors
    /// The connection ends early.
    pub fn receive(
        &mut self,
        sink: &mut dyn FnMut(&[u8]),
        until: Instant,
        watch: &mut dyn Watch,
    ) -> Result<bool, TransferError> {
        let mut chunk = vec![0; CHUNK];
        self.run(until, watch, |transfer| {
            let connection = transfer.connection_mut()?;
            loop {
                match connection.read(&mut chunk) {
                    Ok(0) => return Ok(true),
                    Ok(count) => sink(&chunk[..count]),
                    Err(StreamError::Blocked) => return Ok(false),
                    Err(error) => return Err(error.into()),
                }
            }
        })
    }

    /// Closes this end of the connection. `abandon` drops data that was written and never sent.
    pub fn close(&mut self, abandon: bool) {
        if let Ok(connection) = self.connection_mut() {
            if abandon {
                connection.stop();
            }
            connection.close();
        }
    }

    /// After [`Transfer::close`], waits until all written data is acknowledged.
    ///
    /// # Errors
    /// The connection ends early.
    pub fn wait_acknowledged(
        &mut self,
        until: Instant,
        watch: &mut dyn Watch,
    ) -> Result<bool, TransferError> {
        self.run(until, watch, |transfer| {
            let Some(connection) = transfer.connection() else {
                return Ok(true);
            };
            match connection.ended() {
                _ if connection.is_finished() => Ok(true),
                Some(ended) => Err(StreamError::from(ended).into()),
                None => Ok(false),
            }
        })
    }

    /// Alternates `step` with a turn of the host until the step is done or the deadline has passed. Returns whether the
    /// step is done.
    fn run(
        &mut self,
        until: Instant,
        watch: &mut dyn Watch,
        mut step: impl FnMut(&mut Self) -> Result<bool, TransferError>,
    ) -> Result<bool, TransferError> {
        while !step(self)? {
            let now = self.host.now();
            if now >= until {
                return Ok(false);
            }
            if !watch.proceed() {
                return Err(TransferError::Interrupted);
            }
            self.host.turn(until.since(now).min(TURN));
            while let Some(change) = self.connection_mut().ok().and_then(Connection::poll_trace) {
                watch.change(&change);
            }
        }
        Ok(true)
    }
}
