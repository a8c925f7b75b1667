//! Messages, as applications write and read them.

/// A received message.
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
    /// Whether it may be delivered before preceding messages of its stream.
    pub unordered: bool,
    /// Payload protocol identifier.
    pub protocol: u32,
}
