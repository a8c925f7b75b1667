//! The messages of `p4.config.v1`, as the P4Runtime specification (1.4 and 1.5) declares them.

#![allow(missing_docs, clippy::all)]

include!(concat!(env!("OUT_DIR"), "/p4.config.v1.rs"));

/// The descriptors of these messages: an encoded `google.protobuf.FileDescriptorSet`.
pub const FILE_DESCRIPTOR_SET: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/p4info.fds"));
