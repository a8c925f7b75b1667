//! Congestion controls, one file each; they see events, never octets.
