//! What doubles with each level, or nests without end, is refused before it is made.

use p4_frontend::{NoLoader, SourceMap, compile};

fn refusal(declarations: &str, metadata: &str, locals: &str) -> String {
    let (program, told) = told(declarations, metadata, locals, "transition accept;");
    assert!(program.is_none());
    told
}

/// What comes out, and the first message.
fn told(
    declarations: &str,
    metadata: &str,
    locals: &str,
    start: &str,
) -> (Option<p4_ir::Program>, String) {
    let text = format!(
        "#include <core.p4>\n#include <v1model.p4>\n{declarations}\n\
         struct H {{ }} struct M {{ {metadata} }}\n\
         parser P(packet_in p, out H h, inout M m, inout standard_metadata_t s) \
         {{ state start {{ {start} }} }}\n\
         control V(inout H h, inout M m) {{ apply {{}} }}\n\
         control I(inout H h, inout M m, inout standard_metadata_t s) {{ {locals} }}\n\
         control E(inout H h, inout M m, inout standard_metadata_t s) {{ apply {{}} }}\n\
         control D(packet_out p, in H h) {{ apply {{}} }}\n\
         V1Switch(P(), V(), I(), E(), V(), D()) main;"
    );
    let mut sources = SourceMap::new();
    let file = sources.add("double.p4", text);
    let (program, diagnostics) = compile(&mut sources, file, &mut NoLoader, &[]);
    let message = diagnostics.first().map(|d| d.message.clone());
    (program, message.unwrap_or_default())
}

/// A declaration for each level, made of its number and that of the level before.
fn levels(first: &str, count: u32, next: impl Fn(u32, u32) -> String) -> String {
    let rest = (1..count).map(|i| next(i, i - 1));
    std::iter::once(first.to_string()).chain(rest).collect()
}

#[test]
fn controls_that_double_end() {
    let mut text = "control c0() { apply {} }\n".to_string();
    for i in 1..40 {
        let j = i - 1;
        text += &format!(
            "control c{i}() {{ c{j}() a; c{j}() b; apply {{ a.apply(); b.apply(); }} }}\n"
        );
    }
    let told = refusal(&text, "", "c39() c; apply { c.apply(); }");
    assert_eq!(told, "the program has more than 16384 instances");
}

#[test]
fn structs_that_double_end() {
    let mut text = "struct s0 { bit<8> a; bit<8> b; }\n".to_string();
    for i in 1..40 {
        let j = i - 1;
        text += &format!("struct s{i} {{ s{j} a; s{j} b; }}\n");
    }
    let told = refusal(&text, "s39 x;", "apply {}");
    assert!(
        told.ends_with("has more than 65536 members of members"),
        "{told}"
    );
}

#[test]
fn tuples_and_type_arguments_that_double_end() {
    let first = "typedef tuple<bit<8>, bit<8>> t0; const t0 v0 = { 1, 2 };\n";
    let tuples = levels(first, 40, |i, j| {
        format!("typedef tuple<t{j}, t{j}> t{i}; const t{i} v{i} = {{ v{j}, v{j} }};\n")
    });
    let pairs = (0..40)
        .map(|i| format!("struct P{i}<A, B> {{ A a; B b; }}\n"))
        .collect::<String>()
        + &levels("typedef P0<bit<8>, bit<8>> t0;\n", 40, |i, j| {
            format!("typedef P{i}<t{j}, t{j}> t{i};\n")
        });
    for text in [tuples, pairs] {
        let told = refusal(&text, "t39 x;", "apply {}");
        assert_eq!(told, "this type has more than 65536 members of members");
    }
    let functions = levels("void f0<T>(in T x) {}\n", 40, |i, j| {
        format!("void f{i}<T>(in T x) {{ f{j}<tuple<T, T>>({{ x, x }}); }}\n")
    });
    let told = refusal(&functions, "", "apply { f39<bit<8>>(1); }");
    assert_eq!(
        told,
        "the type argument has more than 65536 members of members"
    );
}

#[test]
fn blocks_applied_by_their_types_end() {
    let controls = levels("control c0() { apply {} }\n", 40, |i, j| {
        format!("control c{i}() {{ apply {{ c{j}.apply(); c{j}.apply(); }} }}\n")
    });
    let told = refusal(&controls, "", "apply { c39.apply(); }");
    assert_eq!(told, "the program has more than 16384 instances");
}

#[test]
fn parsers_that_double_end() {
    let first = "parser p0(packet_in p) { state start { transition accept; } }\n";
    let direct = levels(first, 40, |i, j| {
        format!(
            "parser p{i}(packet_in p) \
             {{ state start {{ p{j}.apply(p); p{j}.apply(p); transition accept; }} }}\n"
        )
    });
    let twice = levels(first, 40, |i, j| {
        format!(
            "parser p{i}(packet_in p) {{ p{j}() a; \
             state start {{ a.apply(p); a.apply(p); transition accept; }} }}\n"
        )
    });
    let branches = levels(first, 40, |i, j| {
        format!(
            "parser p{i}(packet_in p) {{ p{j}() a; state start {{ \
             if (p.lookahead<bit<1>>() == 1) {{ a.apply(p); }} else {{ a.apply(p); }} transition accept; }} }}\n"
        )
    });
    for text in [direct, twice, branches] {
        let (program, told) = told(&text, "", "apply {}", "p39.apply(p); transition accept;");
        assert!(program.is_none());
        assert_eq!(told, "a parser has more than 16384 states");
    }
}

#[test]
fn what_nests_without_end_is_refused() {
    const DEEP: u32 = 1_000;
    let last = DEEP - 1;
    let structs = levels("struct t0 { bit<8> a; }\n", DEEP, |i, j| {
        format!("struct t{i} {{ t{j} a; }}\n")
    });
    let told = refusal(&structs, &format!("t{last} x;"), "apply {}");
    assert_eq!(told, "`t199` nests more than 200 deep");
    let types = levels("type bit<8> t0;\n", DEEP, |i, j| {
        format!("type t{j} t{i};\n")
    });
    let told = refusal(&types, &format!("t{last} x;"), "apply {}");
    assert_eq!(told, "`t199` nests more than 200 deep");
    let tuples = levels("typedef tuple<bit<8>> t0;\n", DEEP, |i, j| {
        format!("typedef tuple<t{j}> t{i};\n")
    });
    let told = refusal(&tuples, &format!("t{last} x;"), "apply {}");
    assert_eq!(told, "this type nests more than 200 deep");

    let functions = levels("void f0() {}\n", DEEP, |i, j| {
        format!("void f{i}() {{ f{j}(); }}\n")
    });
    let controls = levels("control f0() { apply {} }\n", DEEP, |i, j| {
        format!("control f{i}() {{ f{j}() a; apply {{ a.apply(); }} }}\n")
    });
    let function = format!("apply {{ f{last}(); }}");
    let control = format!("f{last}() c; apply {{ c.apply(); }}");
    let actions = levels("action a0() {}\n", DEEP, |i, j| {
        format!("action a{i}() {{ a{j}(); }}\n")
    });
    let action = format!("{actions} apply {{ a{last}(); }}");
    for (text, locals) in [(&*functions, function), (&controls, control), ("", action)] {
        let told = refusal(text, "", &locals);
        assert_eq!(told, "calls nest more than 64 deep");
    }
}

#[test]
fn calls_may_nest_as_deep_as_programs_do() {
    let functions = levels("void f0() {}\n", 60, |i, j| {
        format!("void f{i}() {{ f{j}(); }}\n")
    });
    let (program, told) = told(&functions, "", "apply { f59(); }", "transition accept;");
    assert!(program.is_some(), "{told}");
}

/// Statements around calls take stack as well. What is allowed fits the stack of a test.
#[test]
fn calls_and_statements_around_them_nest_to_a_limit() {
    let accept = "transition accept;";
    for (count, conditions, fits) in [
        (60, 3, true),
        (28, 8, true),
        (28, 9, false),
        (4, 60, true),
        (60, 60, false),
    ] {
        let within = |conditions, what: &str| {
            let open = "if (x == 1) { ".repeat(conditions);
            format!("{open} {what} {}", "}".repeat(conditions))
        };
        let call = |j, apply| within(conditions, &format!("f{j}{apply}(x);"));
        let innermost = within(60, "");
        let functions = levels(
            &format!("void f0(in bit<8> x) {{ {innermost} }}\n"),
            count,
            |i, j| format!("void f{i}(in bit<8> x) {{ {} }}\n", call(j, "")),
        );
        let controls = levels(
            &format!("control f0(in bit<8> x) {{ apply {{ {innermost} }} }}\n"),
            count,
            |i, j| {
                format!(
                    "control f{i}(in bit<8> x) {{ apply {{ {} }} }}\n",
                    call(j, ".apply")
                )
            },
        );
        let parsers = levels(
            &format!("parser f0(in bit<8> x) {{ state start {{ {innermost} {accept} }} }}\n"),
            count,
            |i, j| {
                format!(
                    "parser f{i}(in bit<8> x) {{ state start {{ {} {accept} }} }}\n",
                    call(j, ".apply")
                )
            },
        );
        let last = count - 1;
        for (text, locals, start) in [
            (
                &functions,
                format!("apply {{ f{last}(1); }}"),
                accept.to_string(),
            ),
            (
                &controls,
                format!("apply {{ f{last}.apply(1); }}"),
                accept.to_string(),
            ),
            (
                &parsers,
                "apply {}".to_string(),
                format!("f{last}.apply(1); {accept}"),
            ),
        ] {
            let (program, told) = told(text, "", &locals, &start);
            assert_eq!(program.is_some(), fits, "{count} of {conditions}: {told}");
            if !fits {
                assert_eq!(
                    told,
                    "calls and the statements around them nest more than 256 deep"
                );
            }
        }
    }
}

#[test]
fn variables_that_hold_too_many_values_are_refused() {
    let variables: String = (0..300).map(|i| format!("many_t a{i}; ")).collect();
    let declarations = "typedef bit<8>[250][250] many_t;";
    let told = refusal(declarations, "", &format!("{variables} apply {{ }}"));
    assert_eq!(told, "the program's variables hold more than 2^24 values");
}
