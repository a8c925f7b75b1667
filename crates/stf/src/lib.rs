//! Packet scripts (p4c's STF) as calls on v1model.
