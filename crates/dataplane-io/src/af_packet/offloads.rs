//! Offloads: work on packets that hardware does unless it is configured otherwise.

use super::device;
use super::ethtool::Setting;
use super::restorer::{Restorer, Undo};
use std::io;

/// Bits of the flags: 802.1Q tag insertion and removal, and large receive offload.
const OFFLOADED: u32 = 1 << 7 | 1 << 8 | 1 << 15;

/// How a port handles packets whose checksum or segmentation is offloaded.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Offloads {
    /// The interface's offloads are off, and frames longer than its MTU are dropped.
    #[default]
    Off,
    /// Frames are carried unsegmented. The interface segments them when they are sent.
    Whole,
}

/// Turns off the offloads of an interface. If frames are carried unsegmented, only 802.1Q tags and large receives are
/// turned off. Offloads that do not exist or are fixed are skipped.
pub fn offloads_off(name: &str, offloads: Offloads, restorer: &mut Restorer) -> io::Result<()> {
    let socket = device::socket()?;
    let mut change = |setting: Setting, from, to| {
        restorer.will_undo(Undo::offload(name, setting, from));
        let _ = setting.write(&socket, name.as_bytes(), to);
    };
    let switches = match offloads {
        Offloads::Off => &Setting::SWITCHES[..],
        Offloads::Whole => &[],
    };
    for &setting in switches {
        if let Ok(1) = setting.read(&socket, name.as_bytes()) {
            change(setting, 1, 0);
        }
    }
    if let Ok(flags) = Setting::Flags.read(&socket, name.as_bytes())
        && flags & OFFLOADED != 0
    {
        change(Setting::Flags, flags, flags & !OFFLOADED);
    }
    Ok(())
}
