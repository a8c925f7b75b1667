//! Linux hosts whose own TCP reads the marks: the BPF programs of `hosts/ebpf` on an interface, and congestion
//! controls registered with the kernel. All of it needs the feature `bpf`.

#[cfg(feature = "bpf")]
pub mod attachment;
#[cfg(feature = "bpf")]
pub mod error;
#[cfg(feature = "bpf")]
pub mod holder;
#[cfg(feature = "bpf")]
mod loading;
#[cfg(feature = "bpf")]
pub mod marks;
#[cfg(feature = "bpf")]
pub mod objects;
#[cfg(feature = "bpf")]
pub mod replay;
#[cfg(feature = "bpf")]
mod sys;
#[cfg(feature = "bpf")]
pub mod trace;
