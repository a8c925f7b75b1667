//! With the feature `bpf`: compiles each `hosts/ebpf/*.bpf.c`, and lists the objects in
//! `$OUT_DIR/objects.rs` as pairs of name and contents.

use std::env;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    if env::var_os("CARGO_FEATURE_BPF").is_none() {
        return;
    }
    println!("cargo:rerun-if-env-changed=CLANG");
    let own = env::var_os("CARGO_MANIFEST_DIR").expect("cargo sets CARGO_MANIFEST_DIR");
    let sources = Path::new(&own).join("../../hosts/ebpf");
    println!("cargo:rerun-if-changed={}", sources.display());
    let out = PathBuf::from(env::var_os("OUT_DIR").expect("cargo sets OUT_DIR"));
    let mut names: Vec<String> = fs::read_dir(&sources)
        .unwrap_or_else(|error| panic!("{}: {error}", sources.display()))
        .filter_map(|entry| entry.ok()?.file_name().into_string().ok())
        .filter_map(|name| Some(name.strip_suffix(".bpf.c")?.to_owned()))
        .collect();
    names.sort();
    let mut objects = String::from("&[\n");
    for name in names {
        let object = out.join(format!("{name}.bpf.o"));
        compile(&sources.join(format!("{name}.bpf.c")), &object);
        writeln!(objects, "    ({name:?}, include_bytes!({object:?})),").expect("a string");
    }
    objects.push_str("]\n");
    fs::write(out.join("objects.rs"), objects).expect("OUT_DIR is writable");
}

fn compile(source: &Path, object: &Path) {
    let clang = env::var("CLANG").unwrap_or_else(|_| "clang".to_owned());
    let libbpf = env::var("DEP_BPF_INCLUDE").expect("libbpf-sys names its headers");
    let machine = env::var("CARGO_CFG_TARGET_ARCH").expect("cargo sets it");
    let define = match machine.as_str() {
        "x86_64" => "-D__TARGET_ARCH_x86",
        "aarch64" => "-D__TARGET_ARCH_arm64",
        other => panic!("hosts/ebpf is compiled for x86_64 and aarch64, not for {other}"),
    };
    let status = Command::new(&clang)
        .args(["-O2", "-g", "-target", "bpf", "-mcpu=v3", define])
        .args([
            "-Wall",
            "-Wextra",
            "-Wno-unused-parameter",
            "-Wno-sign-compare",
            "-Werror",
        ])
        .arg(format!("-I{libbpf}"))
        // Debian has <asm/types.h> there, and a target of BPF does not look for it.
        .arg(format!("-I/usr/include/{machine}-linux-gnu"))
        .arg("-c")
        .arg(source)
        .arg("-o")
        .arg(object)
        .status()
        .unwrap_or_else(|error| panic!("{clang}: {error}; make kernel installs clang"));
    assert!(status.success(), "{clang} rejected {}", source.display());
}
