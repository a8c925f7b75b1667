//! The messages of `p4.v1` and `google.rpc`, and the service, as declared in `proto/`.

#![allow(missing_docs, clippy::all)]

pub use google::rpc;
pub use p4::v1;

mod google {
    pub mod rpc {
        tonic::include_proto!("google.rpc");
    }
}

mod p4 {
    pub mod v1 {
        tonic::include_proto!("p4.v1");
    }
}
