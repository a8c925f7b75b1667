//! Random expressions and slice assignments, against p4-ir's rules worked out with big integers.

mod support;

use num_bigint::{BigInt, BigUint};
use p4_ir::*;
use proptest::prelude::*;
use support::*;

/// Types of the variables that expressions read, at these places one behind another.
const TYPES: [Scalar; 8] = [
    Scalar::Bit(1),
    Scalar::Bit(8),
    Scalar::Int(13),
    Scalar::Bit(63),
    Scalar::Bit(64),
    Scalar::Int(64),
    Scalar::Bit(65),
    Scalar::Int(200),
];

fn ones(width: u32) -> BigUint {
    (BigUint::from(1u8) << width) - 1u8
}

fn is_signed(ty: Scalar) -> bool {
    matches!(ty, Scalar::Int(_))
}

/// The number that a value's bits mean.
fn number(value: &BigUint, ty: Scalar) -> BigInt {
    let width = ty.width();
    match is_signed(ty) && value.bit(width as u64 - 1) {
        true => BigInt::from(value.clone()) - (BigInt::from(1) << width),
        false => value.clone().into(),
    }
}

/// The bits of a number.
fn wrap(number: BigInt, width: u32) -> BigUint {
    let modulus = BigInt::from(1) << width;
    (((number % &modulus) + &modulus) % &modulus)
        .to_biguint()
        .unwrap()
}

fn saturate(number: BigInt, ty: Scalar) -> BigUint {
    let width = ty.width();
    let (low, high) = match is_signed(ty) {
        true => (
            -(BigInt::from(1) << (width - 1)),
            (BigInt::from(1) << (width - 1)) - 1,
        ),
        false => (BigInt::ZERO, ones(width).into()),
    };
    wrap(number.clamp(low, high), width)
}

fn evaluate(e: &Expr, variables: &[BigUint]) -> BigUint {
    use BinaryOp::*;
    let width = e.ty.width();
    let truth = |b: bool| BigUint::from(b as u8);
    match &e.kind {
        ExprKind::Const(value) => value.clone(),
        ExprKind::Load(place) => variables[place.at.base as usize].clone(),
        ExprKind::Unary(op, of) => {
            let value = evaluate(of, variables);
            match op {
                UnaryOp::Neg => wrap(-BigInt::from(value), width),
                UnaryOp::BitNot | UnaryOp::Not => ones(width) - value,
            }
        }
        ExprKind::Binary(op, left, right) => {
            let (a, b) = (evaluate(left, variables), evaluate(right, variables));
            let (m, n) = (number(&a, left.ty), number(&b, right.ty));
            let by = u64::try_from(&b).unwrap_or(u64::MAX).min(10_000);
            match op {
                Add => wrap(m + n, width),
                Sub => wrap(m - n, width),
                Mul => wrap(m * n, width),
                Div if b == BigUint::ZERO => b,
                Div => a / b,
                Mod if b == BigUint::ZERO => b,
                Mod => a % b,
                SatAdd => saturate(m + n, e.ty),
                SatSub => saturate(m - n, e.ty),
                BitAnd | And => a & b,
                BitOr | Or => a | b,
                BitXor => a ^ b,
                Shl => (a << by) & ones(width),
                Shr => wrap(m >> by, width),
                Eq => truth(m == n),
                Ne => truth(m != n),
                Lt => truth(m < n),
                Le => truth(m <= n),
                Gt => truth(m > n),
                Ge => truth(m >= n),
                Concat => (a << right.ty.width()) | b,
            }
        }
        ExprKind::Slice { of, hi, lo } => (evaluate(of, variables) >> *lo) & ones(hi - lo + 1),
        ExprKind::Cast(of) => wrap(number(&evaluate(of, variables), of.ty), width),
        ExprKind::Mux(cond, yes, no) => {
            let yes_holds = evaluate(cond, variables) != BigUint::ZERO;
            evaluate(if yes_holds { yes } else { no }, variables)
        }
        ExprKind::PacketLength => unreachable!("not generated"),
    }
}

/// Variables are generated as places whose base is their number; this puts them where they are.
fn place(e: &mut Expr, bases: &[u32]) {
    match &mut e.kind {
        ExprKind::Load(place) => place.at.base = bases[place.at.base as usize],
        ExprKind::Unary(_, a) | ExprKind::Cast(a) | ExprKind::Slice { of: a, .. } => {
            place(a, bases)
        }
        ExprKind::Binary(_, a, b) => [a, b].into_iter().for_each(|e| place(e, bases)),
        ExprKind::Mux(a, b, c) => [a, b, c].into_iter().for_each(|e| place(e, bases)),
        _ => {}
    }
}

fn expr(kind: ExprKind, ty: Scalar) -> Expr {
    Expr { kind, ty }
}

/// A value of any type made one of this type.
fn cast(e: Expr, ty: Scalar) -> Expr {
    expr(ExprKind::Cast(Box::new(e)), ty)
}

fn a_type() -> impl Strategy<Value = Scalar> {
    let width = prop_oneof![1u32..=64, 60u32..=70, 1u32..=260];
    (width, any::<bool>()).prop_map(|(w, int)| if int { Scalar::Int(w) } else { Scalar::Bit(w) })
}

fn an_expr() -> impl Strategy<Value = Expr> {
    use BinaryOp::*;
    let variable = (0..TYPES.len()).prop_map(|i| Expr::load(Place::fixed(i as u32, TYPES[i])));
    let constant = (a_type(), prop::array::uniform5(any::<u64>())).prop_map(|(ty, limbs)| {
        let octets: Vec<u8> = limbs.iter().flat_map(|l| l.to_le_bytes()).collect();
        Expr::constant(BigUint::from_bytes_le(&octets) & ones(ty.width()), ty)
    });
    let leaf = prop_oneof![4 => variable, 1 => constant];
    leaf.prop_recursive(4, 24, 3, |inner| {
        let arithmetic =
            prop::sample::select(vec![Add, Sub, Mul, SatAdd, SatSub, BitAnd, BitOr, BitXor]);
        let comparison = prop::sample::select(vec![Eq, Ne, Lt, Le, Gt, Ge]);
        let pair = (inner.clone(), inner.clone());
        let boxed = |op, a: Expr, b: Expr, ty| expr(ExprKind::Binary(op, a.into(), b.into()), ty);
        prop_oneof![
            (arithmetic, pair.clone()).prop_map(move |(op, (a, b))| {
                let ty = a.ty;
                boxed(op, a, cast(b, ty), ty)
            }),
            (prop::sample::select(vec![Div, Mod]), pair.clone()).prop_map(move |(op, (a, b))| {
                let ty = Scalar::Bit(a.ty.width());
                boxed(op, cast(a, ty), cast(b, ty), ty)
            }),
            (comparison, pair.clone()).prop_map(move |(op, (a, b))| {
                let ty = a.ty;
                cast(boxed(op, a, cast(b, ty), Scalar::Bool), Scalar::Bit(1))
            }),
            (
                prop::sample::select(vec![Shl, Shr]),
                pair.clone(),
                1u32..=130
            )
                .prop_map(move |(op, (a, b), w)| {
                    let ty = a.ty;
                    boxed(op, a, cast(b, Scalar::Bit(w)), ty)
                }),
            pair.prop_map(move |(a, b)| {
                let ty = Scalar::Bit(a.ty.width() + b.ty.width());
                boxed(Concat, a, b, ty)
            }),
            (
                inner.clone(),
                any::<prop::sample::Index>(),
                any::<prop::sample::Index>()
            )
                .prop_map(|(of, one, two)| {
                    let width = of.ty.width() as usize;
                    let (one, two) = (one.index(width) as u32, two.index(width) as u32);
                    let (lo, hi) = (one.min(two), one.max(two));
                    let ty = Scalar::Bit(hi - lo + 1);
                    expr(
                        ExprKind::Slice {
                            of: of.into(),
                            hi,
                            lo,
                        },
                        ty,
                    )
                }),
            (inner.clone(), a_type()).prop_map(|(of, ty)| cast(of, ty)),
            (
                inner.clone(),
                prop::sample::select(vec![UnaryOp::Neg, UnaryOp::BitNot])
            )
                .prop_map(|(of, op)| {
                    let ty = of.ty;
                    expr(ExprKind::Unary(op, of.into()), ty)
                }),
            (inner.clone(), inner.clone(), inner).prop_map(move |(c, a, b)| {
                let ty = a.ty;
                let zero = Expr::constant(0u8, c.ty);
                let cond = boxed(Ne, c, zero, Scalar::Bool);
                expr(ExprKind::Mux(cond.into(), a.into(), cast(b, ty).into()), ty)
            }),
        ]
    })
}

/// Values for the variables, with runs of zeros and ones.
fn values() -> impl Strategy<Value = Vec<BigUint>> {
    let limb = prop_oneof![
        Just(0u64),
        Just(u64::MAX),
        Just(1 << 63),
        0u64..300,
        any::<u64>()
    ];
    prop::collection::vec(prop::array::uniform4(limb), TYPES.len()).prop_map(|values| {
        let value = |(limbs, ty): ([u64; 4], &Scalar)| {
            let octets: Vec<u8> = limbs.iter().flat_map(|l| l.to_le_bytes()).collect();
            BigUint::from_bytes_le(&octets) & ones(ty.width())
        };
        values.into_iter().zip(&TYPES).map(value).collect()
    })
}

/// A program that sets the variables, runs a body and writes `result` to a register.
fn run(
    variables: &[BigUint],
    body: impl FnOnce(&[u32]) -> Vec<Stmt>,
    result: impl FnOnce(&[u32]) -> Expr,
) -> BigUint {
    let mut build = Build::default();
    let mut bases = Vec::new();
    let mut statements = Vec::new();
    for (value, ty) in variables.iter().zip(TYPES) {
        let base = build.variable(ty.width()).at.base;
        statements.push(set(
            Place::fixed(base, ty),
            Expr::constant(value.clone(), ty),
        ));
        bases.push(base);
    }
    let result = result(&bases);
    statements.extend(body(&bases));
    let cells = CtorArg::Int(1.into());
    let register = build.object("register", vec![Type::Scalar(result.ty)], vec![cells]);
    let index = Arg::In(num(0, 32));
    statements.push(call(
        "register.write",
        Some(register),
        vec![index, Arg::In(result)],
    ));
    let mut switch = build.ingress(statements).switch();
    send(&mut switch, 0, packet(0, 0, 0, &[]));
    switch.register_read(register, 0).unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn expressions_have_the_values_of_the_rules(e in an_expr(), variables in values()) {
        let expected = evaluate(&e, &variables);
        let placed = |bases: &[u32]| {
            let mut placed = e.clone();
            place(&mut placed, bases);
            placed
        };
        prop_assert_eq!(run(&variables, |_| Vec::new(), placed), expected.clone());

        // The same through a condition.
        let zero = Expr::constant(0u8, e.ty);
        let condition = |bases: &[u32]| binary(BinaryOp::Ne, placed(bases), zero);
        let body = |bases: &[u32]| vec![
            set(Place::fixed(bases[1], TYPES[1]), num(0, 8)),
            when(condition(bases), vec![set(Place::fixed(bases[1], TYPES[1]), num(1, 8))]),
        ];
        // The body clears variable 1 first, so the condition is worked out with that.
        let mut cleared = variables.clone();
        cleared[1] = BigUint::ZERO;
        let holds = (evaluate(&e, &cleared) != BigUint::ZERO) as u8;
        let result = |bases: &[u32]| load(&Place::fixed(bases[1], TYPES[1]));
        prop_assert_eq!(run(&variables, body, result), BigUint::from(holds));
    }

    /// An expression is stored over a variable that it reads.
    #[test]
    fn a_value_may_be_stored_over_its_operands(
        e in an_expr(), target in 0..TYPES.len(), variables in values(),
    ) {
        let ty = TYPES[target];
        let e = cast(e, ty);
        let expected = evaluate(&e, &variables);
        let body = |bases: &[u32]| {
            let mut placed = e.clone();
            place(&mut placed, bases);
            vec![set(Place::fixed(bases[target], ty), placed)]
        };
        let result = |bases: &[u32]| load(&Place::fixed(bases[target], ty));
        prop_assert_eq!(run(&variables, body, result), expected);
    }

    #[test]
    fn slices_are_assigned_in_place(
        e in an_expr(), target in 0..TYPES.len(), variables in values(),
        one: prop::sample::Index, two: prop::sample::Index,
    ) {
        let ty = TYPES[target];
        let (one, two) = (one.index(ty.width() as usize) as u32, two.index(ty.width() as usize) as u32);
        let (lo, hi) = (one.min(two), one.max(two));
        let e = cast(e, Scalar::Bit(hi - lo + 1));
        let old = &variables[target];
        let hole = ones(hi - lo + 1) << lo;
        let expected = (old | &hole) ^ &hole | evaluate(&e, &variables) << lo;
        let body = |bases: &[u32]| {
            let mut value = e.clone();
            place(&mut value, bases);
            let to = Place::fixed(bases[target], ty);
            vec![stmt(StmtKind::AssignSlice { to, hi, lo, value })]
        };
        let result = |bases: &[u32]| load(&Place::fixed(bases[target], ty));
        prop_assert_eq!(run(&variables, body, result), expected);
    }
}
