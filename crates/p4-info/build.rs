//! Compiles the messages of `p4.config.v1` without protoc.

use prost::Message;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    println!("cargo:rerun-if-changed=proto");
    let files = protox::compile(["p4/config/v1/p4info.proto"], ["proto"])?;

    let out = std::path::PathBuf::from(std::env::var("OUT_DIR")?);
    std::fs::write(out.join("p4info.fds"), files.encode_to_vec())?;
    prost_build::Config::new()
        .btree_map(["."])
        .compile_fds(files)?;
    Ok(())
}
