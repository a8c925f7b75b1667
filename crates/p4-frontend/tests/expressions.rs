//! How expressions group, and where a `<` or a `(` belongs to a type.

mod support;

#[path = "support/outline.rs"]
mod outline;

use p4_frontend::ast::{DeclarationKind, ExprKind, StatementKind};
use support::Parsed;

/// Types and values that the expressions below may use.
const PRELUDE: &str = "typedef bit<8> T; struct S<A> { A a; } const bit<8> x = 1;";

/// The outline of an expression.
fn outline(text: &str) -> String {
    let parsed = Parsed::alone(&format!("{PRELUDE} const T the = {text};"));
    let program = parsed.program.as_ref();
    let program = program.unwrap_or_else(|| panic!("{text}: {}", parsed.rendered()));
    match &program.declarations.last().expect("a constant").kind {
        DeclarationKind::Constant { value, .. } => outline::expr(value),
        other => panic!("{text}: {other:?}"),
    }
}

fn check(cases: &[(&str, &str)]) {
    for (text, expected) in cases {
        assert_eq!(outline(text), *expected, "{text}");
    }
}

#[test]
fn operators_bind_as_in_the_specification() {
    check(&[
        ("1 + 2 * 3 - 4", "((1 + (2 * 3)) - 4)"),
        ("1 << 2 + 3", "(1 << (2 + 3))"),
        ("a & b == c", "((a & b) == c)"),
        ("a | b ^ c & d", "(a | (b ^ (c & d)))"),
        ("a < b == c > d", "((a < b) == (c > d))"),
        ("a || b && c", "(a || (b && c))"),
        ("a ++ b + c", "((a ++ b) + c)"),
        ("a |+| b * c |-| d", "((a |+| (b * c)) |-| d)"),
        ("a >> 1 >> 2", "((a >> 1) >> 2)"),
        ("a ? b : c ? d : e", "(a ? b : (c ? d : e))"),
        ("a || b ? c : d", "((a || b) ? c : d)"),
        ("-a * !b", "((-a) * (!b))"),
        ("~a[3:0]", "(~a[3:0])"),
        ("-a.b(c)[1]", "(-a.b(c)[1])"),
        ("(a + b) * c", "((a + b) * c)"),
        ("a[1 + 2 +: 3]", "a[(1 + 2)+:3]"),
    ]);
}

#[test]
fn casts_need_a_type() {
    check(&[
        ("(bit<8>) a + b", "(((bit<8>) a) + b)"),
        ("(T) - x", "((T) (-x))"),
        ("(x) - x", "(x - x)"),
        ("(T)(x)", "((T) x)"),
        ("(x)(T)", "x(T)"),
        ("(unknown) a", "((unknown) a)"),
        ("(unknown) - a", "(unknown - a)"),
        ("(S<T>) { a = 1 }", "((S<T>) {a = 1})"),
        ("(bit<8>) (int<8>) x", "((bit<8>) ((int<8>) x))"),
        ("(tuple<T, T>) { 1, 2 }", "((tuple<T, T>) {1, 2})"),
        ("(bit<(1 > 0 ? 8 : 9)>) x", "((bit<((1 > 0) ? 8 : 9)>) x)"),
        ("(T) x.y", "((T) x.y)"),
        ("(.T) x", "((.T) x)"),
    ]);
}

#[test]
fn angles_are_types_or_comparisons() {
    check(&[
        ("f<T>(a)", "f<T>(a)"),
        ("f<bit<8>>(a)", "f<bit<8>>(a)"),
        ("f<_, S<S<T>>>(a)", "f<_, S<S<T>>>(a)"),
        ("a.f<T>(b).c", "a.f<T>(b).c"),
        ("f(a < b, c > (d))", "f((a < b), (c > d))"),
        ("f(a < b, T > (d))", "f(a<b, T>(d))"),
        ("a < b", "(a < b)"),
        ("a < b && c > d", "((a < b) && (c > d))"),
        ("a < (b) >> c", "(a < (b >> c))"),
        ("S<T>.apply(a)", "S<T>.apply(a)"),
        ("1 < 2", "(1 < 2)"),
    ]);
}

#[test]
fn every_kind_of_operand() {
    check(&[
        ("8w0xff", "8w255"),
        ("4s0b1001", "4s9"),
        ("\"a\\\"b\" ++ \"c\"", "(\"a\\\"b\" ++ \"c\")"),
        ("error.NoMatch == .x", "(error.NoMatch == .x)"),
        ("{}", "{}"),
        ("{ 1, { a = 2, }, }", "{1, {a = 2}}"),
        ("{ 1, ... }", "{1, ...}"),
        ("{ a = 1, ... }", "{a = 1, ...}"),
        ("...", "..."),
        ("{#}", "{#}"),
        ("f(a = 1, b = _, )", "f(a = 1, b = _)"),
        ("f(_, this)", "f(_, this)"),
        ("h.apply().hit", "h.apply().hit"),
        ("key.state.type", "key.state.type"),
    ]);
}

#[test]
fn local_names_hide_types() {
    let text = format!("{PRELUDE} action a(in bit<8> T) {{ x = (T) - x; }} const T y = (T) - x;");
    let parsed = Parsed::alone(&text);
    let program = parsed.program.as_ref().expect("valid");
    let [.., action, constant] = program.declarations.as_slice() else {
        panic!("two declarations at the end");
    };
    let DeclarationKind::Action { body, .. } = &action.kind else {
        panic!("an action");
    };
    let StatementKind::Assign { value, .. } = &body.statements[0].kind else {
        panic!("an assignment");
    };
    assert_eq!(outline::expr(value), "(T - x)");
    let DeclarationKind::Constant { value, .. } = &constant.kind else {
        panic!("a constant");
    };
    assert_eq!(outline::expr(value), "((T) (-x))");
}

#[test]
fn spans_cover_what_is_written() {
    let text = "const bit<8> a = (1 + f(2)) * 3;";
    let parsed = Parsed::alone(text);
    let program = parsed.program.as_ref().expect("valid");
    let DeclarationKind::Constant { value, .. } = &program.declarations[0].kind else {
        panic!("a constant");
    };
    assert_eq!(parsed.sources.text(value.span), "(1 + f(2)) * 3");
    let ExprKind::Binary { first, rest } = &value.kind else {
        panic!("a product");
    };
    assert_eq!(parsed.sources.text(first.span), "(1 + f(2))");
    assert_eq!(parsed.sources.text(rest[0].right.span), "3");
    assert_eq!(parsed.sources.text(program.declarations[0].span), text);
}
