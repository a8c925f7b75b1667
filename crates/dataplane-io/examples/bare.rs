//! Forwards frames between two interfaces, as a baseline for the switch: `bare IFACE IFACE`. Needs root.

use dataplane_io::Bare;
use std::process::ExitCode;

fn main() -> ExitCode {
    let names: Vec<String> = std::env::args().skip(1).collect();
    let [first, second] = &names[..] else {
        eprintln!("usage: bare IFACE IFACE");
        return ExitCode::from(2);
    };
    let mut bare = match Bare::open(first, second) {
        Ok(bare) => bare,
        Err(error) => {
            eprintln!("bare: {error}");
            return ExitCode::FAILURE;
        }
    };
    // With the name of the switch's thread, so that it is found as that is.
    let thread = std::thread::Builder::new().name("dataplane".into());
    let forward = move || {
        println!("forwards");
        bare.run()
    };
    match thread.spawn(forward).map(|thread| thread.join()) {
        Ok(_) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("bare: {error}");
            ExitCode::FAILURE
        }
    }
}
