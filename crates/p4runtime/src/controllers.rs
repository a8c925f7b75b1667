//! The controllers' streams.

use crate::arbitration::{Arbitration, Notices, StreamId};
use crate::proto::v1::StreamMessageResponse;
use crate::proto::v1::stream_message_response::Update;
use std::collections::BTreeMap;
use tokio::sync::mpsc::{self, error::TrySendError};
use tonic::Status;

/// What goes to a controller; an error ends its stream.
pub type Sender = mpsc::Sender<Result<StreamMessageResponse, Status>>;

/// Messages that may wait for a controller that reads slowly.
pub const BACKLOG: usize = 4_096;

/// Why a message did not reach all primary controllers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Undelivered {
    /// There is none.
    NoController,
    /// One reads too slowly.
    Backlog,
}

/// Streams, and which of them are primary.
#[derive(Debug)]
pub struct Controllers {
    /// Who is primary.
    pub arbitration: Arbitration,
    streams: BTreeMap<StreamId, Sender>,
    last: StreamId,
}

impl Controllers {
    /// No controllers yet.
    pub fn new(device_id: u64) -> Self {
        Controllers {
            arbitration: Arbitration::new(device_id),
            streams: BTreeMap::new(),
            last: 0,
        }
    }

    /// A stream was opened.
    pub fn join(&mut self, sender: Sender) -> StreamId {
        self.last += 1;
        self.streams.insert(self.last, sender);
        self.last
    }

    /// A stream has ended.
    pub fn leave(&mut self, stream: StreamId) {
        self.streams.remove(&stream);
        let notices = self.arbitration.leave(stream);
        self.tell(notices);
    }

    /// Sends what arbitration decided.
    pub fn tell(&mut self, notices: Notices) {
        for (stream, notice) in notices {
            self.send(stream, Update::Arbitration(notice));
        }
    }

    /// Sends to every primary controller.
    ///
    /// # Errors
    /// There is none, or one of them did not get it.
    pub fn send_to_primaries(&self, update: &Update) -> Result<(), Undelivered> {
        let mut result = Err(Undelivered::NoController);
        for stream in self.arbitration.primaries() {
            match self.send(stream, update.clone()) {
                true if result == Err(Undelivered::NoController) => result = Ok(()),
                true => {}
                false => result = Err(Undelivered::Backlog),
            }
        }
        result
    }

    /// Sends to a controller. A packet, digest or error for one whose backlog is full is lost, and the answer
    /// is `false`; who is primary is told as soon as it has read.
    pub fn send(&self, stream: StreamId, update: Update) -> bool {
        let Some(sender) = self.streams.get(&stream) else {
            return false;
        };
        let must_arrive = matches!(update, Update::Arbitration(_));
        let message = StreamMessageResponse {
            update: Some(update),
        };
        match sender.try_send(Ok(message)) {
            Ok(()) => true,
            Err(TrySendError::Full(message)) if must_arrive => {
                let sender = sender.clone();
                tokio::spawn(async move { sender.send(message).await });
                true
            }
            Err(_) => false,
        }
    }

    /// Ends all streams.
    pub fn end(&mut self, status: &Status) {
        for sender in std::mem::take(&mut self.streams).into_values() {
            let _ = sender.try_send(Err(status.clone()));
        }
    }
}
