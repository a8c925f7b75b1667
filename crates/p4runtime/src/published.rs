//! A copy of the programs for all threads except the one that owns the switch. They never wait for that thread, nor
//! does it wait for them.

use crate::device::{Device, Loaded};
use crate::model::Model;
use crate::proto::v1::digest_entry::Config as DigestConfig;
use crate::proto::v1::forwarding_pipeline_config::Cookie;
use std::collections::BTreeMap;
use std::sync::Arc;

/// The programs of a device after the last request that changed them.
#[derive(Clone, Debug, Default)]
pub struct Published {
    /// The program that the switch runs.
    pub running: Option<Program>,
    /// The program that was saved and not committed yet.
    pub saved: Option<Program>,
    /// The enabled digests of the running program.
    pub digests: BTreeMap<u32, DigestConfig>,
}

/// A program without its forwarding state.
#[derive(Clone, Debug)]
pub struct Program {
    /// The P4Info, bound to the program.
    pub model: Arc<Model>,
    /// The device config as received.
    pub device_config: Arc<[u8]>,
    /// The cookie, if one was received.
    pub cookie: Option<Cookie>,
}

impl Published {
    /// Copies the state of a device.
    pub fn of(device: &Device) -> Self {
        let saved = device.saved.as_ref().map(|(loaded, _)| Program::of(loaded));
        let running = device.running.as_ref();
        Published {
            saved,
            running: running.map(Program::of),
            digests: running.map_or_else(BTreeMap::new, |running| running.state.digests.clone()),
        }
    }

    /// The program to which requests refer.
    pub fn loaded(&self) -> Option<&Program> {
        self.saved.as_ref().or(self.running.as_ref())
    }
}

impl Program {
    fn of(loaded: &Loaded) -> Self {
        Program {
            model: loaded.model.clone(),
            device_config: loaded.device_config.clone(),
            cookie: loaded.cookie,
        }
    }
}
