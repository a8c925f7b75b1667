//! Running a switch on interfaces, with its P4Runtime server.

use crate::allocator::return_memory_in_background;
use crate::errors::SwitchError;
use crate::generator::App;
use crate::program::Program;
use dataplane_io::{Counters, Dataplane, DataplaneConfig, Offloads, Reproducers, ToController};
use engine::{Event, Panic, PortConfig, Scheduling, Switch, SwitchConfig};
use p4runtime::losses::Outside;
use p4runtime::proto::v1::ForwardingPipelineConfig;
use p4runtime::{Server, ServerConfig, TlsFiles, Upcalls};
use pyo3::prelude::*;
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;
use units::Rate;

/// Interval in which Ctrl-C is checked.
const SIGNALS: Duration = Duration::from_millis(50);

/// The packet generators produce at most 100,000 packets per second, so that they do not delay forwarding.
const GENERATOR_PACKET_TIME: units::Duration = units::Duration::from_micros(10);

#[pyfunction]
#[pyo3(signature = (
    *, address, device_id, interfaces, rates_bps, queue_packets, port_queues, port_weights, cpu_port,
    drop_port, deflection_port, generator, seed, program, target_rules, captures, charge_ethernet, gso, senders,
    certificate, key,
    client_ca, max_metadata, ready,
))]
#[allow(clippy::too_many_arguments)]
pub fn run_switch(
    py: Python<'_>,
    address: &str,
    device_id: u64,
    interfaces: Vec<(u16, String)>,
    rates_bps: BTreeMap<u16, u64>,
    queue_packets: u32,
    port_queues: BTreeMap<u16, u32>,
    port_weights: BTreeMap<u16, Vec<u8>>,
    cpu_port: Option<u16>,
    drop_port: u16,
    deflection_port: Option<u16>,
    generator: Vec<App>,
    seed: u64,
    program: Option<Py<Program>>,
    target_rules: bool,
    captures: Option<PathBuf>,
    charge_ethernet: bool,
    gso: bool,
    senders: usize,
    certificate: Option<PathBuf>,
    key: Option<PathBuf>,
    client_ca: Option<PathBuf>,
    max_metadata: usize,
    ready: Py<PyAny>,
) -> PyResult<()> {
    let wrong = |message: String| SwitchError::new_err(message);
    let address = address.parse().map_err(|_| {
        wrong(format!(
            "expected an address like 127.0.0.1:9559, found {address:?}"
        ))
    })?;
    let ports = interfaces.iter().map(|(port, _)| *port).chain(cpu_port);
    let ports = ports.map(|port| {
        let rate = rates_bps.get(&port).copied().and_then(Rate::from_bps);
        let capacity = if rate.is_some() {
            *port_queues.get(&port).unwrap_or(&queue_packets)
        } else {
            u32::MAX
        };
        let config = PortConfig {
            rate,
            capacity,
            queues: engine::MAX_QUEUES,
            scheduling: match port_weights.get(&port) {
                Some(weights) => Scheduling::weighted(weights),
                None => Scheduling::Strict,
            },
        };
        (port, config)
    });
    let mut options = BTreeMap::from([(engine::DROP_PORT, u64::from(drop_port))]);
    options.extend(cpu_port.map(|port| (engine::CPU_PORT, u64::from(port))));
    options.extend(deflection_port.map(|port| (engine::DEFLECTION_PORT, u64::from(port))));
    let counters = Counters::new(interfaces.iter().map(|(port, _)| *port));
    let outside = counters.clone();
    let config = ServerConfig {
        address,
        device_id,
        cpu_port,
        outside: Some(Outside::new(move || outside.all())),
        switch: SwitchConfig {
            seed,
            options,
            ports: ports.collect(),
            other_ports: None,
            generator_packet_time: GENERATOR_PACKET_TIME,
            ..SwitchConfig::default()
        },
        generator: generator.iter().map(App::read).collect::<PyResult<_>>()?,
        target_rules,
        max_metadata,
        tls: certificate.zip(key).map(|(certificate, key)| TlsFiles {
            certificate,
            key,
            client_ca,
        }),
    };
    let dataplane = DataplaneConfig {
        ports: interfaces,
        cpu_port,
        captures,
        charge_ethernet,
        offloads: if gso { Offloads::Whole } else { Offloads::Off },
        senders,
        counters,
    };
    let initial = program.map(|program| initial(program.get())).transpose()?;
    return_memory_in_background();
    let (handle, jobs) = dataplane_io::jobs()?;
    let submit = handle.clone();
    py.detach(|| {
        let jobs_of_server = Arc::new(move |job: p4runtime::Job| submit.submit(job));
        let server = Server::start(config, jobs_of_server).map_err(|e| wrong(e.to_string()))?;
        let controller = Controller {
            upcalls: server.upcalls(),
            reproducers: Reproducers::new(std::env::temp_dir()),
        };
        let dataplane = Dataplane::start(&dataplane, handle, jobs, controller)
            .map_err(|e| wrong(e.to_string()))?;
        if let Some(initial) = initial {
            server.load(initial).map_err(|e| wrong(e.to_string()))?;
        }
        let address = server.address().to_string();
        Python::attach(|py| ready.call1(py, (address,)))?;
        while dataplane.is_running() {
            std::thread::sleep(SIGNALS);
            Python::attach(|py| py.check_signals())?;
        }
        Err(wrong(
            "the thread that forwards packets has ended because of a defect".into(),
        ))
    })
}

/// A program in the form in which a client would send it.
fn initial(program: &Program) -> PyResult<ForwardingPipelineConfig> {
    program.check_runs()?;
    let p4info = p4_info::p4info(&program.ir).map_err(|errors| {
        let told: Vec<String> = errors.iter().map(ToString::to_string).collect();
        SwitchError::new_err(told.join("\n"))
    })?;
    Ok(ForwardingPipelineConfig {
        p4info: Some(p4info),
        p4_device_config: program.source().into(),
        cookie: None,
    })
}

struct Controller {
    upcalls: Upcalls,
    reproducers: Reproducers,
}

impl ToController for Controller {
    fn packet(&mut self, octets: Vec<u8>) {
        self.upcalls.packet(octets);
    }

    fn event(&mut self, event: Event) {
        self.upcalls.event(event);
    }

    fn panicked(&mut self, switch: &Switch, panic: &Panic) {
        if self.reproducers.are_used_up() {
            return;
        }
        let program = self.upcalls.device_config().unwrap_or_default();
        let script = stf::reproduce(switch, panic);
        let written = match self.reproducers.write(&program, &script) {
            Ok(files) => format!(
                "reproduce it with `waymark stf {} {}`",
                files.program.display(),
                files.script.display()
            ),
            Err(error) => format!("it cannot be written: {error}"),
        };
        let name = stf::program_name(switch.program());
        let (block, message) = (panic.block, &panic.message);
        eprintln!(
            "error: a defect of this switch: it panicked in {block} of {name} ({message}) and dropped \
             the packet; {written}"
        );
        if self.reproducers.are_used_up() {
            eprintln!("error: further panics are only counted");
        }
    }

    fn link(&mut self, port: u16, up: bool) {
        self.upcalls.link(port, up);
    }

    fn warn(&mut self, message: String) {
        eprintln!("warning: {message}");
    }
}
