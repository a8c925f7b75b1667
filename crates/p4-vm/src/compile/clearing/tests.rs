use super::*;
use crate::Stage;

const WORDS: usize = 8;
const ZERO: Slot = WORDS as Slot;
const ONE: Slot = ZERO + 1;

/// The result for code that begins with the first instruction. There is a header with one field at 4. Word 7 is given.
fn needed_of(ops: &[Op]) -> Vec<Slot> {
    let field = FieldCode {
        at: 0,
        width: 8,
        word: 1,
    };
    let header = HeaderCode {
        name: "h".into(),
        bits: 8,
        fields: vec![field],
        varbit: None,
        lanes: Vec::new(),
        parts: Vec::new(),
    };
    let code = Code {
        ops: ops.to_vec(),
        words: WORDS,
        constants_at: WORDS,
        constants: vec![0, 1],
        headers: vec![header],
        ..Code::default()
    };
    let sequence = Sequence {
        stages: vec![Stage::new(0)],
        given: Some(vec![7]),
        ..Sequence::default()
    };
    let subject = Subject {
        code: &code,
        sequences: &[sequence],
        variables: &[0, 4],
        keys: &[],
    };
    needed(&subject).expect("all instructions are known")
}

#[test]
fn a_register_takes_the_words_of_a_cell() {
    let ops = |n| {
        [
            Op::JmpZ { a: 7, to: 3 },
            Op::Mov { d: 1, a: ONE },
            Op::Mov { d: 2, a: ONE },
            Op::RegWrite {
                index: ZERO,
                a: 1,
                register: 0,
                n,
            },
            Op::Halt,
        ]
    };
    assert_eq!(needed_of(&ops(1)), [1]);
    assert_eq!(needed_of(&ops(2)), [1, 2]);
}

fn emit() -> Op {
    Op::Emit {
        base: 4,
        off: NONE,
        header: 0,
    }
}

fn extract() -> Op {
    Op::Extract {
        base: 4,
        off: NONE,
        header: 0,
    }
}

#[test]
fn what_one_way_leaves_unwritten_is_needed() {
    let ops = [
        Op::JmpZ { a: 7, to: 2 },
        Op::Mov { d: 1, a: ONE },
        Op::Mov { d: 2, a: 1 },
        Op::Mov { d: 3, a: 2 },
        Op::Halt,
    ];
    assert_eq!(needed_of(&ops), [1]);
    assert_eq!(needed_of(&ops[1..]), []);
}

#[test]
fn fields_of_a_header_are_not_needed_where_it_is_valid() {
    let ops = [
        Op::JmpZ { a: 7, to: 2 },
        extract(),
        emit(),
        Op::JmpZ { a: 4, to: 5 },
        Op::Mov { d: 1, a: 5 },
        Op::Halt,
    ];
    assert_eq!(needed_of(&ops), [4]);
    // Read whether or not the header is valid.
    let mut unguarded = ops;
    unguarded[3] = Op::Mov { d: 2, a: ONE };
    assert_eq!(needed_of(&unguarded), [4, 5]);
}

#[test]
fn a_header_that_becomes_valid_without_its_fields_needs_them() {
    let mut ops = [
        Op::JmpZ { a: 7, to: 2 },
        extract(),
        Op::Mov { d: 4, a: ONE },
        emit(),
        Op::Halt,
    ];
    assert_eq!(needed_of(&ops), [5]);
    ops[2] = Op::Mov { d: 4, a: ZERO };
    assert_eq!(needed_of(&ops), []);
    ops[2] = Op::Mov { d: 5, a: ONE };
    assert_eq!(needed_of(&ops), [4]);
}

#[test]
fn what_may_be_left_as_it_is_is_needed() {
    let ops = [
        Op::CMov { d: 1, c: 7, a: ONE },
        Op::StoreX {
            base: 2,
            off: 7,
            a: ONE,
            n: 1,
        },
        Op::LoadX {
            d: ZERO - 1,
            base: 2,
            off: 7,
            n: 1,
        },
        Op::Mov { d: 0, a: 1 },
        Op::Halt,
    ];
    assert_eq!(needed_of(&ops), [1, 2, 3]);
}
