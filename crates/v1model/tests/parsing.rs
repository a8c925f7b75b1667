//! Parser statements, stacks, varbits, and indices out of range.

mod support;

use p4_ir::*;
use proptest::prelude::*;
use support::*;
use v1model::{Match, Packet, Switch, SwitchConfig};

fn cast(e: Expr, width: u32) -> Expr {
    Expr {
        kind: ExprKind::Cast(Box::new(e)),
        ty: Scalar::Bit(width),
    }
}

/// `header v_t { bit<8> n; varbit<64> v; bit<8> m; }`, `header e_t { bit<8> x; }` and a stack of three.
struct Variables {
    v: Location,
    stack: Location,
}

fn with_types(build: &mut Build) -> Variables {
    let field = |name: &str, ty| Field {
        name: name.into(),
        ty: Type::Scalar(ty),
        annotations: Vec::new(),
        loc: SourceLoc::default(),
    };
    let header = |name: &str, fields| TypeDef {
        name: name.into(),
        kind: TypeKind::Header(fields),
        annotations: Vec::new(),
        loc: SourceLoc::default(),
    };
    let varbit = field("v", Scalar::Varbit(64));
    let byte = |name| field(name, Scalar::Bit(8));
    build
        .program
        .types
        .push(header("v_t", vec![byte("n"), varbit, byte("m")]));
    build.program.types.push(header("e_t", vec![byte("x")]));
    let v = Type::Named(type_id(build, "v_t"));
    let element = Type::Named(type_id(build, "e_t"));
    let stack = Type::Stack(Box::new(element), 3);
    Variables {
        v: Location::variable(build.variable_of(v)),
        stack: Location::variable(build.variable_of(stack)),
    }
}

fn type_id(build: &Build, name: &str) -> TypeId {
    TypeId(
        build
            .program
            .types
            .iter()
            .position(|ty| ty.name == name)
            .unwrap() as u32,
    )
}

fn extract(header: Location, ty: TypeId, varbit_bits: Option<Expr>) -> Stmt {
    stmt(StmtKind::Extract {
        header,
        ty,
        varbit_bits,
    })
}

fn emit(header: Location, ty: TypeId) -> Stmt {
    stmt(StmtKind::Emit { header, ty })
}

/// After `h`: a varbit of c bits. The parser's error goes to `a`; `b` says whether the varbit is empty.
fn varbit() -> Build {
    let mut build = Build::default();
    let at = with_types(&mut build).v;
    let ty = type_id(&build, "v_t");
    let length = cast(load(&bits(C, 8)), 32);
    build.program.parsers[0].states[0]
        .body
        .push(extract(at.clone(), ty, Some(length)));
    build.program.functions[4].body.push(emit(at.clone(), ty));
    let varbit = Scalar::Varbit(64);
    let empty = Place::variable(build.variable_of(Type::Scalar(varbit)), varbit);
    let filled = Place {
        at: at.member(1),
        ty: varbit,
    };
    let is_empty = binary(BinaryOp::Eq, load(&filled), load(&empty));
    build.ingress(vec![
        set(bits(A, 16), cast(load(&meta("parser_error")), 16)),
        set(bits(B, 16), cast(is_empty, 16)),
    ])
}

#[test]
fn varbits_are_extracted_and_emitted() {
    let mut switch = varbit().switch();
    let mut run = |c, octets: &[u8]| {
        let sent = send(&mut switch, 0, packet(0, 0, c, octets));
        let (error, is_empty, _) = fields(&sent);
        (error, is_empty, sent[0].packet.octets[5..].to_vec())
    };
    assert_eq!(run(16, &[1, 2, 3, 4, 5]), (0, 0, vec![1, 2, 3, 4, 5]));
    assert_eq!(run(0, &[1, 2, 3]), (0, 1, vec![1, 2, 3]));
    assert_eq!(run(64, &[9; 12]), (0, 0, vec![9; 12]));
    // PacketTooShort 1, HeaderTooShort 4, ParserInvalidArgument 6; what was not parsed stays.
    assert_eq!(run(64, &[9; 9]), (1, 1, vec![9; 9]));
    assert_eq!(run(72, &[9; 12]), (4, 1, vec![9; 12]));
    assert_eq!(run(12, &[9; 12]), (6, 1, vec![9; 12]));
}

/// The stack's element at c is set to b; then all are emitted. Out of range nothing is written, and reads
/// give zero.
#[test]
fn stacks_are_indexed_at_run_time() {
    let mut build = Build::default();
    let stack = with_types(&mut build).stack;
    let ty = type_id(&build, "e_t");
    let element = |i| stack.element_at(i);
    let indexed = Place {
        at: stack.element(load(&bits(C, 8))).member(0),
        ty: Scalar::Bit(8),
    };
    for i in 0..3 {
        build.program.parsers[0].states[0]
            .body
            .push(extract(element(i), ty, None));
        build.program.functions[4].body.push(emit(element(i), ty));
    }
    let build = build.ingress(vec![
        set(bits(A, 16), cast(load(&indexed), 16)),
        set(indexed, cast(load(&bits(B, 16)), 8)),
    ]);
    let mut switch = build.switch();
    let mut run = |c| {
        let sent = send(&mut switch, 0, packet(0, 0x99, c, &[1, 2, 3]));
        (fields(&sent).0, sent[0].packet.octets[5..].to_vec())
    };
    assert_eq!(run(0), (1, vec![0x99, 2, 3]));
    assert_eq!(run(2), (3, vec![1, 2, 0x99]));
    assert_eq!(run(3), (0, vec![1, 2, 3]));
    assert_eq!(run(255), (0, vec![1, 2, 3]));
}

#[test]
fn pushing_and_popping_move_elements() {
    let run = |change: fn(Location) -> StmtKind| {
        let mut build = Build::default();
        let stack = with_types(&mut build).stack;
        let ty = type_id(&build, "e_t");
        let element = |i| stack.element_at(i);
        for i in 0..3 {
            build.program.parsers[0].states[0]
                .body
                .push(extract(element(i), ty, None));
            build.program.functions[4].body.push(emit(element(i), ty));
        }
        let next_index = Place {
            at: stack.next_index(),
            ty: Scalar::Bit(32),
        };
        let body = &mut build.program.parsers[0].states[0].body;
        body.push(set(next_index.clone(), num(2, 32)));
        let build = build.ingress(vec![
            stmt(change(stack)),
            set(bits(A, 16), cast(load(&next_index), 16)),
        ]);
        let sent = send(&mut build.switch(), 0, packet(0, 0, 0, &[1, 2, 3]));
        (fields(&sent).0, sent[0].packet.octets[5..].to_vec())
    };
    assert_eq!(run(|stack| StmtKind::PushFront(stack, 2)), (3, vec![1]));
    assert_eq!(run(|stack| StmtKind::PopFront(stack, 1)), (1, vec![2, 3]));
    assert_eq!(run(|stack| StmtKind::PushFront(stack, 9)), (3, vec![]));
}

/// States 0 → select on a: 1 and value set members go to state 1, which sets c; 2..5 too; 0x80 under 0xf0
/// is rejected; 9 loops for ever; else NoMatch.
fn selecting() -> Build {
    let mut build = Build::default();
    build.program.value_sets.push(ValueSet {
        name: "p.set".into(),
        element: Type::Scalar(Scalar::Bit(16)),
        fields: vec![("a".into(), Type::Scalar(Scalar::Bit(16)), MatchKind::Exact)],
        size: 2,
        annotations: Vec::new(),
        loc: SourceLoc::default(),
    });
    let case = |set, to| SelectCase {
        sets: vec![set],
        value_sets: Vec::new(),
        to,
        loc: SourceLoc::default(),
    };
    let state = |to| Transition::Goto(StateTarget::State(to));
    let number = |n| num(n, 16);
    build.program.parsers[0].states[0].transition = Transition::Select {
        keys: vec![load(&bits(A, 16))],
        cases: vec![
            case(KeyMatch::Value(number(1)), StateTarget::State(1)),
            case(KeyMatch::Range(number(2), number(5)), StateTarget::State(1)),
            case(
                KeyMatch::Mask(number(0x8f), number(0xf0)),
                StateTarget::Reject,
            ),
            case(KeyMatch::Value(number(9)), StateTarget::State(2)),
            SelectCase {
                sets: vec![KeyMatch::Any],
                value_sets: vec![InValueSet {
                    set: ValueSetId(0),
                    keys: 0..1,
                }],
                to: StateTarget::State(1),
                loc: SourceLoc::default(),
            },
        ],
    };
    let more = |name: &str, body, transition| ParserState {
        name: name.into(),
        body,
        transition,
        loc: SourceLoc::default(),
    };
    let c = vec![set(bits(C, 8), num(1, 8))];
    build.program.parsers[0].states.extend([
        more("found", c, Transition::Goto(StateTarget::Accept)),
        more("round", Vec::new(), state(2)),
    ]);
    build.ingress(vec![set(
        bits(B, 16),
        cast(load(&meta("parser_error")), 16),
    )])
}

#[test]
fn selects_take_the_first_case_that_matches() {
    let mut switch = selecting().switch();
    let set = switch.value_set("set").unwrap();
    let run = |switch: &mut Switch, a| {
        let (_, error, c) = fields(&send(switch, 0, packet(a, 0, 0, &[])));
        (error, c)
    };
    // NoMatch is 2, ParserTimeout 5.
    let inputs = [1, 2, 5, 6, 0x85, 0x1185, 9, 77];
    let before = inputs.map(|a| run(&mut switch, a));
    assert_eq!(
        before,
        [
            (0, 1),
            (0, 1),
            (0, 1),
            (2, 0),
            (0, 0),
            (0, 0),
            (5, 0),
            (2, 0)
        ]
    );
    switch
        .value_set_write(set, vec![vec![Match::exact(77u8)]])
        .unwrap();
    assert_eq!(run(&mut switch, 77), (0, 1));
    let too_many = vec![vec![Match::exact(1u8)]; 3];
    let error = switch
        .value_set_write(set, too_many)
        .unwrap_err()
        .to_string();
    assert_eq!(error, "value set `p.set`: full, with its size of 2");
    assert_eq!(run(&mut switch, 77), (0, 1), "the members are still there");
}

#[test]
fn look_ahead_leaves_the_cursor() {
    let mut build = Build::default();
    let wide = build.variable(72);
    let body = &mut build.program.parsers[0].states[0].body;
    body.push(stmt(StmtKind::Lookahead(vec![bits(B, 16), wide.clone()])));
    body.push(stmt(StmtKind::Advance(num(12, 32))));
    body.push(stmt(StmtKind::Lookahead(vec![bits(C, 8)])));
    let top = Expr {
        kind: ExprKind::Slice {
            of: Box::new(load(&wide)),
            hi: 71,
            lo: 56,
        },
        ty: Scalar::Bit(16),
    };
    let build = build.ingress(vec![set(bits(A, 16), top)]);
    let payload = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12];
    let sent = send(&mut build.switch(), 0, packet(0, 0, 0, &payload));
    assert_eq!(fields(&sent), (0x0304, 0x0102, 0x20));
    // 12 bits were skipped: the payload begins in the middle of an octet, and the last is filled up.
    assert_eq!(&sent[0].packet.octets[5..8], [0x20, 0x30, 0x40]);
    assert_eq!(sent[0].packet.octets.len(), 5 + 11);
}

proptest! {
    /// No input causes a panic, and what does not fit leaves unchanged.
    #[test]
    fn arbitrary_packets_never_panic(
        packets in prop::collection::vec((prop::collection::vec(any::<u8>(), 0..40), 0u32..30), 1..20),
    ) {
        let config = || SwitchConfig { max_steps: 50, ..SwitchConfig::default() };
        let mut switches = [varbit().switch_with(config()), selecting().switch_with(config())];
        for (octets, elided) in packets {
            for switch in &mut switches {
                let packet = Packet { octets: octets.clone().into(), elided, link_octets: 100, tag: 1 };
                let sent = send(switch, 0, packet);
                prop_assert_eq!(sent.len(), 1);
                if octets.len() + elided as usize >= 5 {
                    prop_assert_eq!(sent[0].packet.length(), octets.len() as u32 + elided);
                }
            }
        }
    }
}
