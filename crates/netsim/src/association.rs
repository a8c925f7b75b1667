//! The ends of an SCTP association, and its records.

use crate::random::{Purpose, Random};
use crate::record::{AssociationRecord, Bins};
use crate::scenario::{self, PathControl};
use bytes::Bytes;
use std::collections::BTreeMap;
use std::net::Ipv4Addr;
use transport::sctp::{Association, Burst, Config, Control, Delivery, InitialWindow, Quirks};
use units::{Duration, Instant};

/// User data kept in the sender's queue, so that only windows limit the sender.
const QUEUED_OCTETS: u64 = 1 << 16;

/// An association between two hosts.
#[derive(Debug)]
pub(crate) struct AssociationFlow {
    pub name: String,
    pub port: u16,
    pub client: AssociationEnd,
    pub server: AssociationEnd,
    /// The receiver's first address, to which INIT is sent.
    pub remote: Ipv4Addr,
    /// When each chunk in flight was last sent, by TSN.
    pub sent: BTreeMap<u32, Instant>,
    pub record: AssociationRecord,
    message: Bytes,
    /// Messages still to be written. `None` means unlimited.
    left: Option<u64>,
    stopped: bool,
}

/// One end.
#[derive(Debug)]
pub(crate) struct AssociationEnd {
    pub association: Association,
    pub config: Config,
    /// Indices of its host's interfaces in the network.
    pub interfaces: Vec<usize>,
    /// The earliest timer event scheduled for it.
    pub wake: Option<Instant>,
}

impl AssociationFlow {
    /// Creates association number `index` of a checked scenario. `client` and `server` are the interfaces of its ends,
    /// with their addresses.
    pub fn new(
        described: &scenario::Association,
        seed: u64,
        index: usize,
        port: u16,
        interfaces: [Vec<(usize, Ipv4Addr)>; 2],
        bins: &Bins,
    ) -> Self {
        let mut random = Random::new(seed, Purpose::Association, index);
        let paths = interfaces[0].len();
        let remote = interfaces[1][0].1;
        let [client, server] = interfaces.map(|interfaces| {
            let mut secret = [0; 32];
            for part in secret.chunks_exact_mut(8) {
                part.copy_from_slice(&random.bits().to_be_bytes());
            }
            let (interfaces, addresses) = interfaces.into_iter().unzip();
            let config = config(described, addresses, port, secret);
            let association = Association::listen(config.clone());
            AssociationEnd {
                association: association.expect("a checked scenario's settings can be"),
                config,
                interfaces,
                wake: None,
            }
        });
        let message = Bytes::from(vec![0; client.config.fragment_octets()]);
        AssociationFlow {
            name: described.name(index),
            port,
            client,
            server,
            remote,
            sent: BTreeMap::new(),
            record: AssociationRecord::new(bins, paths, described.trace),
            message,
            left: described.chunks,
            stopped: false,
        }
    }

    /// Returns one end.
    pub fn end(&mut self, server: bool) -> &mut AssociationEnd {
        match server {
            true => &mut self.server,
            false => &mut self.client,
        }
    }

    /// Sets up the association.
    pub fn start(&mut self, now: Instant) {
        let config = self.client.config.clone();
        let begun = Association::connect(config, now, self.remote, self.port);
        self.client.association = begun.expect("a checked scenario's settings can be");
    }

    /// Stops writing.
    pub fn stop(&mut self) {
        self.stopped = true;
    }

    /// Refills the sender's queue.
    pub fn feed(&mut self) {
        let association = &mut self.client.association;
        while !self.stopped && self.left != Some(0) && association.queued_octets() < QUEUED_OCTETS {
            if association
                .write(Delivery::default(), &self.message)
                .is_err()
            {
                return;
            }
            if let Some(left) = &mut self.left {
                *left -= 1;
            }
        }
    }
}

/// The settings of an end.
pub(crate) fn config(
    described: &scenario::Association,
    addresses: Vec<Ipv4Addr>,
    port: u16,
    secret: [u8; 32],
) -> Config {
    let p = &described.profile;
    let seconds = Duration::from_secs_f64;
    let rbca = described.control == PathControl::Rbca;
    let delayed = described.delayed_sack.unwrap_or(!rbca);
    Config {
        mtu: p.mtu,
        chunk_octets: Some(p.chunk_octets),
        window: p.window,
        rto_initial: seconds(p.rto_initial_s),
        rto_min: seconds(p.rto_min_s),
        rto_max: seconds(p.rto_max_s),
        association_max_retrans: p.association_max_retrans,
        path_max_retrans: p.path_max_retrans,
        max_init_retransmits: p.max_init_retransmits,
        heartbeat: p.heartbeat_s.map(seconds),
        sack_delay: delayed.then(|| seconds(p.sack_delay_s)),
        missing_reports: p.missing_reports,
        burst: p.max_burst.map_or(Burst::Unlimited, Burst::AfterRecovery),
        timestamps: described.timestamps.unwrap_or(described.needs_thresholds()),
        initial_window: match p.initial_octets {
            Some(octets) => InitialWindow::Octets(octets),
            None => InitialWindow::Packets(p.initial_packets),
        },
        ssthresh: p.ssthresh,
        least_packets: p.least_packets,
        control: match described.control {
            PathControl::Std => Control::Standard,
            PathControl::Rbca => Control::Rbca,
        },
        quirks: match p.ns2_quirks {
            true => Quirks::NS2,
            false => Quirks::default(),
        },
        spc: described.spc,
        thresholds: described
            .thresholds_s
            .iter()
            .copied()
            .map(seconds)
            .collect(),
        ..Config::dahal(addresses, port, secret)
    }
}
