//! Offloads: what hardware does to packets unless it is configured otherwise.

use super::device;
use super::ethtool::Setting;
use super::restorer::{Restorer, Undo};
use std::io;

/// Of the flags: 802.1Q tags put in and taken out by hardware, and large receives.
const OFFLOADED: u32 = 1 << 7 | 1 << 8 | 1 << 15;

/// What a port does with packets whose checksum or segmentation was left to hardware.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Offloads {
    /// The interface's offloads are off, and frames longer than its MTU are dropped.
    #[default]
    Off,
    /// Frames are carried whole, and cut where they leave for hardware.
    Whole,
}

/// Turns an interface's offloads off; if frames are carried whole, only those of 802.1Q tags and large
/// receives. Those that it does not have, or has fixed, are left alone.
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
