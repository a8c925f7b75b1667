use proptest::prelude::*;

use super::*;
use crate::tcp::Segment;
use crate::wire::{self, Body, Packet};

const PEAK: u8 = 0x9E;

fn mark(option: u8, fields: &[(u8, Aggregation)]) -> Mark {
    let field = |&(bits, aggregation)| Field { bits, aggregation };
    Mark {
        option,
        fields: fields.iter().map(field).collect(),
    }
}

fn peak() -> Marks {
    Marks::new(vec![mark(PEAK, &[(16, Aggregation::Max)])]).unwrap()
}

fn options(octets: &[u8]) -> Options {
    let mut options = Options::default();
    assert!(options.push(octets));
    options
}

#[test]
fn a_mark_octet_by_octet() {
    let fields = [
        (4, Aggregation::Sum),
        (12, Aggregation::Min),
        (8, Aggregation::Max),
    ];
    let marks = Marks::new(vec![mark(PEAK, &fields)]).unwrap();
    let blank = [PEAK, 8, 0x0F, 0xFF, 0x00, 0x0F, 0xFF, 0x00];
    assert_eq!(marks.blank().as_slice(), blank);
    let arrived = options(&[PEAK, 8, 0x51, 0x23, 0x07, 0x0F, 0xFF, 0x00]);
    let echo = marks.echo(&arrived);
    let expected = [PEAK, 8, 0x0F, 0xFF, 0x00, 0x51, 0x23, 0x07];
    assert_eq!(echo.as_slice(), expected);
    let (there, back) = marks.read(&echo);
    assert_eq!(there.as_slice(), [5, 0x123, 7]);
    assert_eq!(back.as_slice(), [0, 0xFFF, 0]);
}

#[test]
fn marks_share_the_header_and_are_padded_once() {
    let marks = vec![
        mark(PEAK, &[(16, Aggregation::Max)]),
        mark(0x1E, &[(32, Aggregation::Sum)]),
    ];
    let marks = Marks::new(marks).unwrap();
    assert_eq!(marks.blank().as_slice().len(), 6 + 10);
    assert_eq!((marks.octets(), peak().octets()), (16, 8));
    assert_eq!(Marks::default().octets(), 0);
}

#[test]
fn what_data_lacks_is_echoed_as_no_hop_left_it() {
    let marks = peak();
    let foreign = options(&[0x1E, 4, 1, 2]);
    let longer = options(&[PEAK, 8, 0, 9, 0, 9, 0, 9]);
    for arrived in [Options::default(), foreign, longer] {
        assert_eq!(marks.echo(&arrived), marks.blank());
        assert_eq!(marks.read(&arrived), marks.read(&marks.blank()));
    }
}

#[test]
fn an_acknowledgement_of_two_packets_has_the_value_of_both() {
    let fields = [
        (8, Aggregation::Sum),
        (8, Aggregation::Min),
        (8, Aggregation::Max),
        (8, Aggregation::Last),
    ];
    let marks = Marks::new(vec![mark(PEAK, &fields)]).unwrap();
    let data = |values: [u8; 4]| {
        let mut octets = [0; 10];
        octets[..2].copy_from_slice(&[PEAK, 10]);
        octets[2..6].copy_from_slice(&values);
        options(&octets)
    };
    let both = marks.combine(&data([9, 3, 7, 1]), &data([2, 5, 4, 8]));
    assert_eq!(marks.read(&marks.echo(&both)).0.as_slice(), [2, 3, 7, 8]);
    let only_later = marks.combine(&Options::default(), &data([2, 5, 4, 8]));
    assert_eq!(only_later, data([2, 5, 4, 8]));
}

#[test]
fn declarations_that_fit_no_header_are_refused() {
    use Aggregation::Max;
    let refused = |marks: Vec<Mark>| Marks::new(marks).unwrap_err().to_string();
    let field = [(8, Max)];
    for taken in [0x00, 0x01, 0x5E, 0xDE] {
        let expected = format!("option type {taken:#04x} is used by padding, AQT or AVBW-S");
        assert_eq!(refused(vec![mark(taken, &field)]), expected);
    }
    let twice = vec![mark(PEAK, &field), mark(PEAK, &field)];
    assert_eq!(refused(twice), "option type 0x9e belongs to two marks");
    for bits in [0, 65, 255] {
        let expected = format!("a field of option 0x9e has {bits} bits, expected 1 to 64");
        assert_eq!(refused(vec![mark(PEAK, &[(bits, Max)])]), expected);
    }
    let whole = "bits in all, expected a multiple of 8 above 0";
    let none = format!("the fields of option 0x9e have 0 {whole}");
    assert_eq!(refused(vec![mark(PEAK, &[])]), none);
    let odd = format!("the fields of option 0x9e have 15 {whole}");
    assert_eq!(refused(vec![mark(PEAK, &[(8, Max), (7, Max)])]), odd);
    let long = "the marks take 42 octets, IPv4 has 40 for all options";
    let widths = [(64, Max), (64, Max), (32, Max)];
    assert_eq!(refused(vec![mark(PEAK, &widths)]), long);
    let many = "the marks have 9 fields, expected at most 8";
    assert_eq!(refused(vec![mark(PEAK, &[(8, Max); 9])]), many);
}

fn aggregations() -> impl Strategy<Value = Aggregation> {
    use Aggregation::{Last, Max, Min, Sum};
    prop::sample::select(vec![Sum, Min, Max, Last])
}

/// Fields with whole octets in total, and a value for each.
fn fields() -> impl Strategy<Value = Vec<(Field, u64)>> {
    let field = (1..=40_u8, aggregations(), any::<u64>());
    let whole = prop::collection::vec(field, 1..=4).prop_map(|mut fields| {
        let bits: u8 = fields.iter().map(|(bits, ..)| *bits).sum();
        let missing = bits.next_multiple_of(8) - bits;
        if missing > 0 {
            fields.push((missing, Aggregation::Sum, u64::MAX));
        }
        let value = |bits, value| value & (u64::MAX >> (64 - bits));
        let made = |(bits, aggregation, any)| (Field { bits, aggregation }, value(bits, any));
        fields.into_iter().map(made).collect::<Vec<_>>()
    });
    whole.prop_filter("fits into a header", |fields| {
        let bits: usize = fields
            .iter()
            .map(|(field, _)| usize::from(field.bits))
            .sum();
        HEAD + bits / 4 <= Options::MAX
    })
}

fn over_the_wire(segment: Segment) -> Segment {
    let packet = Packet {
        flow: wire::Flow {
            source_mac: [2; 6],
            destination_mac: [4; 6],
            source: [10, 0, 0, 1].into(),
            destination: [10, 0, 0, 2].into(),
            source_port: 1024,
            destination_port: 1024,
        },
        identification: 1,
        ttl: 64,
        body: Body::Tcp(segment),
    };
    let mut octets = [0xAA; wire::MAX_HEADER_OCTETS];
    let length = wire::encode(&packet, &mut octets).unwrap();
    match wire::decode(&octets[..length], segment.payload)
        .unwrap()
        .body
    {
        Body::Tcp(segment) => segment,
        Body::Udp { .. } => panic!("TCP was written"),
    }
}

proptest! {
    #[test]
    fn what_hops_wrote_comes_back_over_the_wire(fields in fields()) {
        let declared = fields.iter().map(|(field, _)| *field).collect();
        let mark = Mark { option: PEAK, fields: declared };
        let marks = Marks::new(vec![mark.clone()]).unwrap();
        let mut data = over_the_wire(Segment {
            options: marks.blank(),
            payload: 100,
            ..Segment::default()
        });
        prop_assert_eq!(data.options, marks.blank());
        let option = data.options.find_mut(PEAK).unwrap();
        let mut at = 8 * HEAD;
        for (field, value) in &fields {
            field.write(option, at, *value);
            at += usize::from(field.bits);
        }
        let data = over_the_wire(data);
        let ack = over_the_wire(Segment {
            options: marks.echo(&data.options),
            ..Segment::default()
        });
        let (there, back) = marks.read(&ack.options);
        let values: Vec<u64> = fields.iter().map(|(_, value)| *value).collect();
        let initial: Vec<u64> = fields.iter().map(|(field, _)| field.initial()).collect();
        prop_assert_eq!(there.as_slice(), values);
        prop_assert_eq!(back.as_slice(), initial);
    }

    #[test]
    fn no_option_of_any_length_is_too_strange(
        octets in prop::collection::vec(any::<u8>(), 2..=40),
        ours in any::<bool>(),
    ) {
        let marks = peak();
        let mut octets = octets;
        octets[0] = if ours { PEAK } else { octets[0] };
        octets[1] = octets.len() as u8;
        let arrived = options(&octets);
        let echo = marks.echo(&arrived);
        prop_assert_eq!(echo.as_slice().len(), 6);
        let (there, _) = marks.read(&echo);
        let known = octets[0] == PEAK && octets.len() == 6;
        let depth = if known { u64::from(octets[2]) << 8 | u64::from(octets[3]) } else { 0 };
        prop_assert_eq!(there.as_slice(), [depth]);
        prop_assert_eq!(marks.combine(&arrived, &arrived), arrived);
        let deepest = options(&[PEAK, 6, 0xFF, 0xFF, 0, 0]);
        let combined = marks.combine(&deepest, &arrived);
        prop_assert_eq!(combined == arrived, !known || depth == 0xFFFF);
    }
}
