//! SCTP associations between two ends.

mod association;
mod messages;
mod network;
mod ns2;
mod odd;
