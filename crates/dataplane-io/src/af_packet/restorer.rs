//! Restores interfaces to their previous state, however the switch ends.
//!
//! A separate process does this, so that it survives a `kill -9` of the switch. It is forked before any setting is
//! changed, and receives each change over a pipe before the change is made. When the pipe closes, because the switch
//! has ended or was killed, the process undoes all changes.

use super::ethtool::Setting;
use super::{check, device};
use rustix::pipe::{PipeFlags, pipe_with};
use std::ffi::{CStr, CString};
use std::fs::File;
use std::io::{self, Read, Write};
use std::os::fd::{AsRawFd, OwnedFd, RawFd};

/// `IFNAMSIZ`: the length of an interface's name in octets, including a zero.
const NAME: usize = 16;
/// The most changes per interface: five offloads, their flags, IPv6.
const CHANGES: usize = 7;
/// Used instead of a setting's number: turn IPv6 on.
const IPV6_ON: u32 = 0;

/// How to undo a change of an interface.
#[derive(Clone, Copy, Debug)]
pub struct Undo {
    name: [u8; NAME],
    setting: u32,
    data: u32,
}

impl Undo {
    /// Length of a message on the pipe in octets.
    const LEN: usize = NAME + 8;

    /// Restores the value of a setting.
    pub fn offload(name: &str, setting: Setting, value: u32) -> Self {
        Undo::new(name, setting.number(), value)
    }

    fn new(name: &str, setting: u32, data: u32) -> Self {
        let mut undo = Undo {
            name: [0; NAME],
            setting,
            data,
        };
        for (to, from) in undo.name[..NAME - 1].iter_mut().zip(name.bytes()) {
            *to = from;
        }
        undo
    }

    /// Turns IPv6 on again.
    pub fn ipv6(name: &str) -> Self {
        Undo::new(name, IPV6_ON, 0)
    }

    fn to_octets(self) -> [u8; Undo::LEN] {
        let mut octets = [0; Undo::LEN];
        octets[..NAME].copy_from_slice(&self.name);
        octets[NAME..NAME + 4].copy_from_slice(&self.setting.to_ne_bytes());
        octets[NAME + 4..].copy_from_slice(&self.data.to_ne_bytes());
        octets
    }

    fn from_octets(octets: &[u8; Undo::LEN]) -> Self {
        let word = |at| std::array::from_fn(|i| octets[at + i]);
        Undo {
            name: std::array::from_fn(|i| octets[i]),
            setting: u32::from_ne_bytes(word(NAME)),
            data: u32::from_ne_bytes(word(NAME + 4)),
        }
    }

    /// Undoes the change. The interface may no longer exist. Makes only system calls and allocates nothing.
    fn carry_out(&self, socket: &OwnedFd) {
        let length = self.name.iter().position(|&octet| octet == 0);
        let name = &self.name[..length.unwrap_or(NAME)];
        if self.setting != IPV6_ON {
            if let Some(setting) = Setting::of_number(self.setting) {
                let _ = setting.write(socket, name, self.data);
            }
            return;
        }
        let mut path = [0; 64];
        let parts = [b"/proc/sys/net/ipv6/conf/", name, b"/disable_ipv6\0"];
        let mut room = &mut path[..];
        for part in parts {
            let _ = room.write_all(part);
        }
        if let Ok(path) = CStr::from_bytes_until_nul(&path)
            && let Ok(file) =
                rustix::fs::open(path, rustix::fs::OFlags::WRONLY, rustix::fs::Mode::empty())
        {
            let _ = rustix::io::write(&file, b"0");
        }
    }
}

/// Undoes the reported changes when it is dropped, or when this process is killed.
#[derive(Debug)]
pub struct Restorer {
    /// Open until this is dropped.
    pipe: Option<OwnedFd>,
    process: libc::pid_t,
    told: Vec<Undo>,
}

impl Restorer {
    /// Starts the process, for the given number of interfaces.
    pub fn start(interfaces: usize) -> io::Result<Self> {
        let (receive, send) = pipe_with(PipeFlags::CLOEXEC)?;
        let title = CString::new(format!(
            "puts interfaces back when process {} ends",
            std::process::id()
        ))?;
        let room = command_line();
        // Never full: a read of length zero must mean the end of the pipe.
        let mut heard = vec![0; (interfaces * CHANGES + 1) * Undo::LEN];
        // SAFETY: the child only makes system calls on memory that is already allocated, as is required after a fork of
        // a process with threads. It never returns.
        let process = check(unsafe { libc::fork() })?;
        if process == 0 {
            drop(send);
            stand_by(receive.as_raw_fd(), &mut heard, &title, room);
        }
        Ok(Restorer {
            pipe: Some(send),
            process,
            told: Vec::new(),
        })
    }

    /// Reports how to undo a change, before the change is made.
    pub fn will_undo(&mut self, undo: Undo) {
        self.told.push(undo);
        if let Some(pipe) = &self.pipe {
            // If the process was killed, `drop` does its work. The pipe has room for everything that is ever reported.
            let _ = rustix::io::write(pipe, &undo.to_octets());
        }
    }
}

impl Drop for Restorer {
    fn drop(&mut self) {
        self.pipe = None;
        let mut status = 0;
        // SAFETY: the status lives through the call.
        let ended = unsafe { libc::waitpid(self.process, &raw mut status, 0) } == self.process;
        if !(ended && status == 0) {
            undo_all(self.told.iter().copied());
        }
    }
}

fn undo_all(told: impl Iterator<Item = Undo>) {
    if let Ok(socket) = device::socket() {
        told.for_each(|undo| undo.carry_out(&socket));
    }
}

/// The body of the process: waits until the pipe closes, undoes all changes received, and exits.
fn stand_by(pipe: RawFd, heard: &mut [u8], title: &CStr, room: (usize, usize)) -> ! {
    // SAFETY: system calls without pointers, or with pointers to data that lives through the call.
    unsafe {
        // A separate session without signals: Ctrl-C and the end of a terminal must affect only the switch.
        libc::setsid();
        let mut all = std::mem::zeroed();
        libc::sigfillset(&raw mut all);
        libc::sigprocmask(libc::SIG_BLOCK, &raw const all, std::ptr::null_mut());
        libc::prctl(libc::PR_SET_NAME, c"restorer".as_ptr());
        libc::chdir(c"/".as_ptr());
        // Close the switch's descriptors, because its ports and clients must not outlive it.
        libc::dup2(pipe, 0);
        libc::syscall(libc::SYS_close_range, 1, libc::c_uint::MAX, 0);
    }
    set_title(title, room);
    let mut length = 0;
    loop {
        // SAFETY: the buffer lives through the call and has the given length.
        let got =
            unsafe { libc::read(0, heard[length..].as_mut_ptr().cast(), heard.len() - length) };
        match got {
            1.. => length += got as usize,
            0 => break,
            _ if io::Error::last_os_error().kind() == io::ErrorKind::Interrupted => {}
            _ => break,
        }
    }
    let (records, _) = heard[..length].as_chunks::<{ Undo::LEN }>();
    undo_all(records.iter().map(Undo::from_octets));
    // SAFETY: ends the process at once; nothing of the switch is cleaned up twice.
    unsafe { libc::_exit(0) }
}

/// The memory range of this process's command line (proc_pid_stat(5): arg_start and arg_end).
fn command_line() -> (usize, usize) {
    let mut text = String::new();
    let read = File::open("/proc/self/stat").and_then(|mut file| file.read_to_string(&mut text));
    // The name may contain any character. The fields behind it begin with the third.
    let fields = text.rsplit(')').next().filter(|_| read.is_ok());
    let mut fields = fields.unwrap_or_default().split_whitespace().skip(48 - 3);
    let mut number = || fields.next().and_then(|field| field.parse().ok());
    match (number(), number()) {
        (Some(start), Some(end)) if 0 < start && start < end => (start, end),
        _ => (0, 0),
    }
}

/// Changes the command line of the process, so that tools can distinguish it from the switch.
fn set_title(title: &CStr, (start, end): (usize, usize)) {
    let Some(room) = (end - start).checked_sub(1) else {
        return;
    };
    let title = title.to_bytes();
    let title = &title[..title.len().min(room)];
    let memory = std::ptr::with_exposed_provenance_mut::<u8>(start);
    // SAFETY: the kernel reports that the arguments are there, at the far end of the stack. This process no longer uses
    // them, and they are a copy of the switch's.
    unsafe {
        memory.write_bytes(0, end - start);
        memory.copy_from_nonoverlapping(title.as_ptr(), title.len());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_record_comes_through_the_pipe_as_it_was() {
        let undo = Undo::offload("a-name-of-15-oct", Setting::Flags, 7);
        let octets = undo.to_octets();
        assert_eq!(&octets[..NAME], b"a-name-of-15-oc\0");
        assert_eq!(Undo::from_octets(&octets).to_octets(), octets);
    }

    #[test]
    fn the_process_waits_for_the_end_however_much_is_reported_to_it() {
        let mut restorer = Restorer::start(1).unwrap();
        for _ in 0..CHANGES {
            restorer.will_undo(Undo::offload("no-such", Setting::Merging, 1));
        }
        let mut status = 0;
        for _ in 0..20 {
            std::thread::sleep(std::time::Duration::from_millis(5));
            // SAFETY: the status lives through the call.
            let ended = unsafe { libc::waitpid(restorer.process, &raw mut status, libc::WNOHANG) };
            assert_eq!(ended, 0);
        }
    }

    #[test]
    fn the_process_ends_when_its_restorer_does() {
        let restorer = Restorer::start(1).unwrap();
        let path = format!("/proc/{}/cmdline", restorer.process);
        let shown = || std::fs::read(&path).unwrap();
        while !shown().starts_with(b"puts interfaces back") {
            std::thread::yield_now();
        }
        drop(restorer);
        assert!(std::fs::read(&path).is_err());
    }
}
