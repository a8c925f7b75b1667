//! Object files loaded into the kernel, with the maps that they share.

use std::os::fd::AsFd;
use std::sync::Mutex;

use libbpf_rs::query::MapInfoIter;
use libbpf_rs::{Object, ObjectBuilder, OpenObject, PrintLevel};

use crate::error::KernelError;
use crate::sys;

/// Maps of which there is one in the kernel, however many objects and processes use it.
const SHARED: [&str; 2] = ["waymark_marks", "waymark_events"];

/// What libbpf said since the last load; the last lines say why a program is refused.
static LOG: Mutex<Vec<String>> = Mutex::new(Vec::new());
const LOG_LINES: usize = 12;

/// Opens an object file.
pub(crate) fn open(name: &str, contents: &[u8]) -> Result<OpenObject, KernelError> {
    libbpf_rs::set_print(Some((PrintLevel::Warn, keep)));
    let opened = ObjectBuilder::default().open_memory(contents);
    opened.map_err(|error| refused(name, &error))
}

/// Loads an object that was opened. It uses the shared maps that are in the kernel already.
pub(crate) fn load(name: &str, mut object: OpenObject) -> Result<Object, KernelError> {
    for mut map in object.maps_mut() {
        let map_name = map.name().to_string_lossy().into_owned();
        if !SHARED.contains(&map_name.as_str()) {
            continue;
        }
        let Some(other) = MapInfoIter::default().find(|info| info.name == map_name.as_str()) else {
            continue;
        };
        if (other.ty, other.value_size) != (map.map_type(), map.value_size()) {
            return Err(KernelError::OtherVersion);
        }
        let descriptor = sys::map_by_id(other.id).map_err(KernelError::kernel(&map_name))?;
        map.reuse_fd(descriptor.as_fd())
            .map_err(|error| refused(&map_name, &error))?;
    }
    object.load().map_err(|error| refused(name, &error))
}

fn refused(name: &str, error: &libbpf_rs::Error) -> KernelError {
    let mut log = LOG.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
    let text = std::mem::take(&mut *log).concat();
    let lines: Vec<&str> = text.lines().collect();
    let start = lines.len().saturating_sub(LOG_LINES);
    KernelError::Program {
        what: format!("the kernel rejects {name}"),
        message: format!("{error}\n{}", lines[start..].join("\n"))
            .trim_end()
            .to_owned(),
    }
}

fn keep(_: PrintLevel, line: String) {
    let mut log = LOG.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
    log.push(line);
}
