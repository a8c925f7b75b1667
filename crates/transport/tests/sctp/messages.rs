//! Messages read are messages written, in order per stream, with any paths.

use crate::network::{Dice, Link, Network, addresses};
use bytes::Bytes;
use proptest::prelude::*;
use transport::sctp::{Burst, Config, Control, Delivery, State};
use units::Duration;

/// A message to write: its stream, whether it is ordered, its length.
type Written = (u16, bool, usize);

#[derive(Clone, Debug)]
struct Case {
    seed: u64,
    links: Vec<Link>,
    messages: [Vec<Written>; 2],
    config: Config,
}

fn link() -> impl Strategy<Value = Link> {
    let often = prop_oneof![Just(0), 0..50u64, 0..300u64];
    (
        1..200u64,
        prop_oneof![Just(0), 0..100u64],
        often,
        0..100u64,
        0..100u64,
    )
        .prop_map(|(delay_ms, jitter_ms, loss, copies, corrupts)| Link {
            delay_ms,
            jitter_ms,
            loss,
            copies,
            corrupts,
            ..Link::default()
        })
}

fn messages() -> impl Strategy<Value = Vec<Written>> {
    let length = prop_oneof![1..40usize, 1..1500usize, 1000..9000usize];
    proptest::collection::vec((0..4u16, any::<bool>(), length), 0..40)
}

fn case() -> impl Strategy<Value = Case> {
    let links = proptest::collection::vec(link(), 1..4);
    let settings = (
        prop_oneof![Just(10_000), Just(20_000), Just(1_310_720u32)],
        576..2000u32,
        prop_oneof![
            Just(Burst::Unlimited),
            Just(Burst::AfterRecovery(4)),
            Just(Burst::Always(4))
        ],
        any::<[bool; 4]>(),
    );
    (any::<u64>(), links, messages(), messages(), settings).prop_map(
        |(seed, links, there, back, (window, mtu, burst, [stamps, rbca, spc, delayed]))| {
            let control = match rbca {
                true => Control::Rbca,
                false => Control::Standard,
            };
            let config = Config {
                window,
                mtu: mtu.min(1500),
                chunk_octets: None,
                burst,
                timestamps: stamps || rbca || spc,
                control,
                spc,
                thresholds: vec![Duration::from_millis(100)],
                sack_delay: delayed.then_some(Duration::from_millis(200)),
                outbound_streams: 4,
                // The question is whether all comes, not when to give up.
                association_max_retrans: 1000,
                max_init_retransmits: 1000,
                rto_max: Duration::from_millis(3000),
                ..Config::dahal(vec![], 7, [0; 32])
            };
            Case {
                seed,
                links,
                messages: [there, back],
                config,
            }
        },
    )
}

/// The octets of message `number`.
fn payload(number: usize, length: usize) -> Vec<u8> {
    let mut dice = Dice(number as u64);
    (0..length).map(|_| dice.below(256) as u8).collect()
}

fn run(case: &Case) -> Result<(), TestCaseError> {
    let paths = case.links.len();
    let config = |end: usize| Config {
        addresses: addresses(paths, end),
        secret: [end as u8; 32],
        ..case.config.clone()
    };
    let mut network = Network::new([config(0), config(1)], case.links.clone(), case.seed);
    let established = |n: &Network| n.ends.iter().all(|e| e.state() == State::Established);
    network.run_while(50_000.0, |n| !established(n));
    prop_assert!(established(&network), "not established");
    for (end, messages) in case.messages.iter().enumerate() {
        for (number, &(stream, unordered, length)) in messages.iter().enumerate() {
            let how = Delivery {
                stream,
                unordered,
                protocol: number as u32,
            };
            let message = Bytes::from(payload(number, length));
            prop_assert_eq!(network.ends[end].write(how, &message), Ok(()));
        }
    }
    let drained = |n: &Network| n.ends.iter().all(|end| end.is_drained());
    network.run_while(200_000.0, |n| !drained(n));
    prop_assert!(drained(&network), "stalled at {:?}", network.now);
    for (end, messages) in case.messages.iter().enumerate() {
        let read = &network.read[1 - end];
        prop_assert_eq!(read.len(), messages.len());
        let mut seen = vec![false; messages.len()];
        let mut last = [None; 4];
        for message in read {
            let number = message.protocol as usize;
            let (stream, unordered, length) = messages[number];
            prop_assert!(!std::mem::replace(&mut seen[number], true), "a copy");
            prop_assert_eq!((message.stream, message.ordered), (stream, !unordered));
            prop_assert_eq!(&message.payload, &payload(number, length));
            if !unordered {
                let last = &mut last[usize::from(stream)];
                prop_assert!(*last < Some(number), "out of order");
                *last = Some(number);
            }
        }
    }
    let now = network.now;
    network.ends[0].shutdown(now);
    let closed = |n: &Network| n.ends.iter().all(|end| end.state() == State::Closed);
    network.run_while(300_000.0, |n| n.ends[0].state() != State::Closed);
    prop_assert_eq!(network.ends[0].state(), State::Closed);
    network.run_while(400_000.0, |n| !closed(n));
    prop_assert!(
        closed(&network),
        "the server is {:?}",
        network.ends[1].state()
    );
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(
        std::env::var("SCTP_CASES").ok().and_then(|n| n.parse().ok()).unwrap_or(1000)
    ))]

    #[test]
    fn what_is_read_is_what_was_written(case in case()) {
        run(&case)?;
    }
}
