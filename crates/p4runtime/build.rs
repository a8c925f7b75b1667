//! Compiles the messages of `p4.v1` and the service without protoc.

use protox::prost::Message as _;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    println!("cargo:rerun-if-changed=proto");
    println!("cargo:rerun-if-changed=../p4-info/proto");
    let files = protox::compile(["p4/v1/p4runtime.proto"], ["proto", "../p4-info/proto"])?;
    let out = std::path::PathBuf::from(std::env::var("OUT_DIR")?);
    std::fs::write(out.join("descriptors.bin"), files.encode_to_vec())?;
    let mut config = tonic_prost_build::Config::new();
    config.enable_type_names();
    tonic_prost_build::configure()
        .build_transport(false)
        .codec_path("crate::codec::BoundedCodec")
        .extern_path(".p4.config.v1", "::p4_info::proto")
        .compile_fds_with_config(files, config)?;
    Ok(())
}
