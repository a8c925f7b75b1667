//! The streams of controllers.

use crate::arbitration::{Arbitration, Notices, StreamId};
use crate::proto::v1::StreamMessageResponse;
use crate::proto::v1::stream_message_response::Update;
use crate::service::lock;
use std::collections::{BTreeMap, VecDeque};
use std::sync::{Arc, Mutex};
use tokio::sync::mpsc::{self, error::TrySendError};
use tonic::Status;

/// Sends messages to a controller. An error ends its stream.
pub type Sender = mpsc::Sender<Result<StreamMessageResponse, Status>>;

/// The most messages that may wait for a slow controller.
pub const BACKLOG: usize = 4_096;

/// The most digest lists that may wait beyond the backlog.
const WAITING: usize = 256;

/// Why a message did not reach all primary controllers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Undelivered {
    /// There is no primary controller.
    NoController,
    /// A controller reads too slowly.
    Backlog,
}

/// Streams, and which of them are primary.
#[derive(Debug)]
pub struct Controllers {
    /// Which controllers are primary.
    pub arbitration: Arbitration,
    streams: BTreeMap<StreamId, Stream>,
    last: StreamId,
}

#[derive(Debug)]
struct Stream {
    sender: Sender,
    waiting: Arc<Mutex<Waiting>>,
}

/// Messages for a stream whose backlog is full, oldest first.
type Waiting = VecDeque<StreamMessageResponse>;

/// Sends waiting messages until there are none or the stream ends.
async fn send_waiting(sender: Sender, waiting: Arc<Mutex<Waiting>>) {
    while let Ok(place) = sender.reserve().await {
        let mut queue = lock(&waiting);
        if let Some(message) = queue.pop_front() {
            place.send(Ok(message));
        }
        if queue.is_empty() {
            return;
        }
    }
}

impl Controllers {
    /// Creates the state without controllers.
    pub fn new(device_id: u64) -> Self {
        Controllers {
            arbitration: Arbitration::new(device_id),
            streams: BTreeMap::new(),
            last: 0,
        }
    }

    /// Adds a stream that was opened.
    pub fn join(&mut self, sender: Sender) -> StreamId {
        self.last += 1;
        let waiting = Arc::default();
        self.streams.insert(self.last, Stream { sender, waiting });
        self.last
    }

    /// Removes a stream that has ended.
    pub fn leave(&mut self, stream: StreamId) {
        self.streams.remove(&stream);
        let notices = self.arbitration.leave(stream);
        self.tell(notices);
    }

    /// Sends the notifications of arbitration.
    pub fn tell(&mut self, notices: Notices) {
        for (stream, notice) in notices {
            self.send(stream, Update::Arbitration(notice));
        }
    }

    /// Sends to every primary controller.
    ///
    /// # Errors
    /// There is no primary controller, or one of them did not receive the message.
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

    /// Sends to a controller. Returns whether the message will arrive. If the backlog is full, a packet or error is
    /// dropped, a digest list waits unless too many are waiting, and an arbitration notification always waits.
    pub fn send(&self, stream: StreamId, update: Update) -> bool {
        let Some(Stream { sender, waiting }) = self.streams.get(&stream) else {
            return false;
        };
        let most_waiting = match &update {
            Update::Arbitration(_) => usize::MAX,
            Update::Digest(_) => WAITING,
            _ => 0,
        };
        let message = StreamMessageResponse {
            update: Some(update),
        };
        let mut queue = lock(waiting);
        if most_waiting > 0 && !queue.is_empty() {
            let room = queue.len() < most_waiting;
            if room {
                queue.push_back(message);
            }
            return room;
        }
        match sender.try_send(Ok(message)) {
            Ok(()) => true,
            Err(TrySendError::Full(Ok(message))) if most_waiting > 0 => {
                queue.push_back(message);
                tokio::spawn(send_waiting(sender.clone(), waiting.clone()));
                true
            }
            Err(_) => false,
        }
    }

    /// Ends all streams.
    pub fn end(&mut self, status: &Status) {
        for stream in std::mem::take(&mut self.streams).into_values() {
            let _ = stream.sender.try_send(Err(status.clone()));
        }
    }
}
