//! The programs on one interface, and the control that was asked for with them.

use std::os::fd::OwnedFd;
use std::path::Path;

use libbpf_rs::query::{LinkInfoIter, LinkTypeInfo, MapInfoIter};
use libbpf_rs::{Link, MapCore as _, MapType, Object};
use serde::{Deserialize, Serialize};

use crate::error::KernelError;
use crate::marks::MarkSet;
use crate::{loading, objects, sys};

const BTF: &str = "/sys/kernel/btf/vmlinux";

/// What is put in front of a control's name, where the kernel or another program may have one of the same name.
pub const PREFIX: &str = "wm_";

/// Where the options are taken out of packets that arrive.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Strip {
    /// Above the driver.
    Tc,
    /// In the driver, before packets are merged.
    Xdp,
}

impl Strip {
    /// Reads its name.
    pub fn parse(text: &str) -> Option<Self> {
        match text {
            "tc" => Some(Strip::Tc),
            "xdp" => Some(Strip::Xdp),
            _ => None,
        }
    }

    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Strip::Tc => "tc",
            Strip::Xdp => "xdp",
        }
    }
}

/// Programs on an interface and a registered control. Both go when this is dropped or its process ends; a control
/// stays while another attachment has it or a connection uses it.
#[derive(Debug)]
pub struct Attachment {
    _links: [Link; 2],
    _early: Option<OwnedFd>,
    _options: Object,
    _control: Option<Control>,
}

/// A control that is registered with the kernel.
#[derive(Debug)]
enum Control {
    /// By this process.
    Ours { _link: Link, _object: Object },
    /// By another process; this one keeps it registered as well.
    Shared { _link: OwnedFd },
}

impl Attachment {
    /// Puts the programs on the interface with this index and registers the control.
    ///
    /// # Errors
    /// Not root, a kernel that lacks something, or no such control.
    pub fn new(
        index: u32,
        control: Option<&str>,
        marks: MarkSet,
        strip: Strip,
    ) -> Result<Self, KernelError> {
        check()?;
        let contents = objects::object(objects::OPTIONS).expect("hosts/ebpf has options.bpf.c");
        let mut options = loading::open(objects::OPTIONS, contents)?;
        for mut map in options.maps_mut() {
            if map.name().to_string_lossy().ends_with(".rodata")
                && let Some(values) = map.initial_value_mut()
            {
                // `own_marks` and `strips_early` are all that there is.
                values[0] = marks.0;
                values[1] = u8::from(strip == Strip::Xdp);
            }
        }
        let options = loading::load(objects::OPTIONS, options)?;
        let control = control.map(register).transpose()?;
        let attach = |name: &str| {
            let program = options.progs_mut().find(|program| program.name() == name);
            let program = program.expect("options.bpf.c has it");
            sys::attach_tcx(&program, index)
                .map_err(KernelError::kernel(format!("attaching {name}")))
        };
        let links = [attach("waymark_ingress")?, attach("waymark_egress")?];
        let early = options
            .progs_mut()
            .find(|program| strip == Strip::Xdp && program.name() == "waymark_strip")
            .map(|program| sys::attach_xdp(&program, index))
            .transpose()
            .map_err(|error| KernelError::NoXdp { error })?;
        Ok(Attachment {
            _links: links,
            _early: early,
            _options: options,
            _control: control,
        })
    }
}

/// Whether this can work at all.
///
/// # Errors
/// Not root, or a kernel without BTF.
pub fn check() -> Result<(), KernelError> {
    if !rustix::process::geteuid().is_root() {
        return Err(KernelError::NotRoot);
    }
    match Path::new(BTF).exists() {
        true => Ok(()),
        false => Err(KernelError::NoBtf),
    }
}

/// The object of a control.
///
/// # Errors
/// There is no such control.
pub fn find_control(name: &str) -> Result<&'static [u8], KernelError> {
    objects::controls()
        .find(|known| *known == name)
        .and_then(objects::object)
        .ok_or_else(|| KernelError::NoControl {
            name: name.to_owned(),
            valid: objects::controls().collect(),
        })
}

/// Registers a control, or shares the registration of another process.
fn register(name: &str) -> Result<Control, KernelError> {
    let contents = find_control(name)?;
    if let Some(id) = registration(name) {
        let link = sys::link_by_id(id).map_err(KernelError::kernel(name))?;
        return Ok(Control::Shared { _link: link });
    }
    let mut object = loading::load(name, loading::open(name, contents)?)?;
    let map = object
        .maps_mut()
        .find(|map| map.map_type() == MapType::StructOps);
    let link = map
        .expect("a control has a struct_ops map")
        .attach_struct_ops()
        .map_err(|error| KernelError::Program {
            what: format!("registering {PREFIX}{name}"),
            message: error.to_string(),
        })?;
    Ok(Control::Ours {
        _link: link,
        _object: object,
    })
}

/// The link by which a control is registered: its struct_ops map has the control's name.
fn registration(name: &str) -> Option<u32> {
    let maps: Vec<u32> = MapInfoIter::default()
        .filter(|map| map.ty == MapType::StructOps && map.name == name)
        .map(|map| map.id)
        .collect();
    LinkInfoIter::default().find_map(|link| match link.info {
        LinkTypeInfo::StructOps(info) if maps.contains(&info.map_id) => Some(link.id),
        _ => None,
    })
}
