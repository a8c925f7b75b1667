//! Offload settings of interfaces (ethtool ioctls).

use super::device;
use std::io;
use std::os::fd::OwnedFd;

const SIOCETHTOOL: libc::c_ulong = 0x8946;

/// `struct ethtool_value`.
#[repr(C)]
struct Value {
    command: u32,
    data: u32,
}

/// A setting of an interface that ethtool reads and writes as one number, in a [`Value`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Setting {
    /// Checksums of received packets.
    ReceiveChecksum,
    /// Checksums of sent packets.
    SendChecksum,
    /// Segmentation of TCP segments.
    Segmentation,
    /// Segmentation of other packets.
    GenericSegmentation,
    /// Merging of received packets.
    Merging,
    /// Bits of further settings.
    Flags,
}

impl Setting {
    /// The settings that are on or off. Checksums come first and are restored first, because segmentation needs them.
    pub const SWITCHES: [Setting; 5] = [
        Setting::ReceiveChecksum,
        Setting::SendChecksum,
        Setting::Segmentation,
        Setting::GenericSegmentation,
        Setting::Merging,
    ];

    /// The commands that read and write the setting. Each takes a [`Value`] and nothing else.
    const fn commands(self) -> (u32, u32) {
        match self {
            Setting::ReceiveChecksum => (0x14, 0x15),
            Setting::SendChecksum => (0x16, 0x17),
            Setting::Segmentation => (0x1e, 0x1f),
            Setting::GenericSegmentation => (0x23, 0x24),
            Setting::Merging => (0x2b, 0x2c),
            Setting::Flags => (0x25, 0x26),
        }
    }

    /// Its number, from 1.
    pub const fn number(self) -> u32 {
        self as u32 + 1
    }

    /// The setting with this number.
    pub fn of_number(number: u32) -> Option<Self> {
        let mut all = Setting::SWITCHES.into_iter().chain([Setting::Flags]);
        all.find(|setting| setting.number() == number)
    }

    /// Reads the setting.
    pub fn read(self, socket: &OwnedFd, name: &[u8]) -> io::Result<u32> {
        carry_out(socket, name, self.commands().0, 0)
    }

    /// Writes the setting.
    pub fn write(self, socket: &OwnedFd, name: &[u8], value: u32) -> io::Result<()> {
        carry_out(socket, name, self.commands().1, value).map(|_| ())
    }
}

/// Executes a command of [`Setting::commands`].
fn carry_out(socket: &OwnedFd, name: &[u8], command: u32, data: u32) -> io::Result<u32> {
    let mut value = Value { command, data };
    let mut request = device::request(name);
    request.ifr_ifru.ifru_data = (&raw mut value).cast();
    // SAFETY: the commands of settings read and write one `Value`, which lives through the call.
    unsafe { device::ioctl(socket, SIOCETHTOOL, &mut request) }?;
    Ok(value.data)
}
