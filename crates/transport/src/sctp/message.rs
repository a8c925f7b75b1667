//! Messages, as applications write and read them.

/// A message read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Message {
    /// Its stream.
    pub stream: u16,
    /// Whether it was delivered in the stream's order.
    pub ordered: bool,
    /// Payload protocol identifier.
    pub protocol: u32,
    /// Its octets.
    pub payload: Vec<u8>,
}

/// How a message is sent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Delivery {
    /// The stream.
    pub stream: u16,
    /// Whether it may overtake others of its stream.
    pub unordered: bool,
    /// Payload protocol identifier.
    pub protocol: u32,
}
