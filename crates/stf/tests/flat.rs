//! What is flat in the source may be long: it takes no stack, and time in proportion to its length.

use p4_frontend::{NoLoader, SourceMap};

/// Links of a chain, elements of a list.
const MANY: usize = 20_000;

/// A thread's usual stack.
const STACK: usize = 2 << 20;

/// A program that computes `hdr.pair.result` from `hdr.pair.x`. `parsing` are statements of its parser's second state,
/// `applied` those of its ingress.
fn program(declared: &str, parsing: &str, applied: &str) -> String {
    format!(
        "#include <core.p4>
        #include <v1model.p4>
        header pair_t {{ bit<16> x; bit<16> result; }}
        struct headers_t {{ pair_t pair; }}
        struct metadata_t {{}}
        struct wrapped_t {{ bit<16> value; }}
        bit<16> f(in bit<16> x) {{ return x; }}
        {declared}
        parser P(packet_in packet, out headers_t hdr, inout metadata_t meta, inout standard_metadata_t std) {{
            state start {{ packet.extract(hdr.pair); transition next; }}
            state next {{ {parsing} transition accept; }}
        }}
        control V(inout headers_t hdr, inout metadata_t meta) {{ apply {{}} }}
        control I(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t std) {{
            apply {{
                std.egress_spec = 1;
                bit<16> x = hdr.pair.x;
                bit<16> y = 0;
                wrapped_t w = {{ 0 }};
                {applied}
                if (y != 0) {{ hdr.pair.result = y; }}
            }}
        }}
        control E(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t std) {{ apply {{}} }}
        control C(inout headers_t hdr, inout metadata_t meta) {{ apply {{}} }}
        control D(packet_out packet, in headers_t hdr) {{ apply {{ packet.emit(hdr); }} }}
        V1Switch(P(), V(), I(), E(), C(), D()) main;"
    )
}

/// Compiles and runs a program on packets with these values of `x`, each with the result expected.
fn expect(name: &str, text: &str, cases: &[(u16, u16)]) {
    let mut sources = SourceMap::new();
    let entry = sources.add(name, text);
    let (compiled, diagnostics) = p4_frontend::compile(&mut sources, entry, &mut NoLoader, &[]);
    let told: Vec<_> = diagnostics
        .iter()
        .map(|d| p4_frontend::render(&sources, d, false))
        .collect();
    assert_eq!(told, [""; 0], "{name}");
    let line = |(x, result): &(u16, u16)| {
        format!("packet 0 {x:04x} 0000\nexpect 1 {x:04x} {result:04x} $\n")
    };
    let script: String = cases.iter().map(line).collect();
    let script = stf::Script::parse(&script).expect("a script");
    let report = stf::run(&compiled.expect("no errors"), &script, stf::Ports::All);
    assert!(report.is_ok(), "{name}: {report}");
}

fn joined(separator: &str, link: impl Fn(usize) -> String) -> String {
    (0..MANY).map(link).collect::<Vec<_>>().join(separator)
}

fn on_an_ordinary_stack(run: fn()) {
    let thread = std::thread::Builder::new().stack_size(STACK).spawn(run);
    thread.expect("a thread").join().expect("no panic");
}

#[test]
fn chains_of_operators() {
    on_an_ordinary_stack(|| {
        let many = MANY as u16;
        let sum = format!("y = {};", joined(" + ", |_| "x".into()));
        expect(
            "sum",
            &program("", "", &sum),
            &[(1, many), (3, many.wrapping_mul(3))],
        );
        let mixed = format!("y = x{};", " + 7 - x * 2".repeat(MANY / 2));
        let step = |y: u16, x: u16| y.wrapping_add(7).wrapping_sub(x.wrapping_mul(2));
        let mixed_of = |x| (0..MANY / 2).fold(x, |y, _| step(y, x));
        expect(
            "mixed",
            &program("", "", &mixed),
            &[(1, mixed_of(1)), (9, mixed_of(9))],
        );
        let calls = format!("y = {};", joined(" + ", |_| "f(x)".into()));
        expect("calls", &program("", "", &calls), &[(1, many)]);
        let any = joined(" || ", |i| format!("x == {i}"));
        let any = format!("y = 1; if ({any}) {{ y = 2; }}");
        let cases = [(0, 2), (many / 2, 2), (many - 1, 2), (many, 1)];
        expect("any", &program("", "", &any), &cases);
        let all = joined(" && ", |i| format!("f(x) != {i}"));
        let all = format!("y = 1; if ({all}) {{ y = 2; }}");
        let cases = [(0, 1), (many / 2, 1), (many - 1, 1), (many, 2)];
        expect("all", &program("", "", &all), &cases);
        let of_parser = joined(" ^ ", |_| "hdr.pair.x".into());
        let of_parser = format!("hdr.pair.result = {of_parser} ^ hdr.pair.x;");
        expect("parser", &program("", &of_parser, ""), &[(77, 77)]);
        let constant = format!("const bit<16> SUM = {};", joined(" + ", |_| "1".into()));
        expect(
            "constant",
            &program(&constant, "", "y = SUM;"),
            &[(0, many)],
        );
    });
}

#[test]
fn chains_of_choices() {
    on_an_ordinary_stack(|| {
        let many = MANY as u16;
        let cases = [
            (0, 7),
            (1, 8),
            (many / 2, many / 2 + 7),
            (many - 1, many + 6),
            (many, 3),
        ];
        let choices = joined("", |i| format!("x == {i} ? 16w{} : ", i + 7));
        expect("?:", &program("", "", &format!("y = {choices}3;")), &cases);
        let choices = joined("", |i| format!("f(x) == {i} ? 16w{} : ", i + 7));
        expect(
            "?: of calls",
            &program("", "", &format!("y = {choices}3;")),
            &cases,
        );
        let choices = joined("", |i| format!("x == {i} ? (wrapped_t) {{ {} }} : ", i + 7));
        let choices = format!("w = {choices}(wrapped_t) {{ 3 }}; y = w.value;");
        expect("?: of structs", &program("", "", &choices), &cases);
        let arms = joined("", |i| format!("if (x == {i}) {{ y = {}; }} else ", i + 7));
        expect(
            "else if",
            &program("", "", &format!("{arms} {{ y = 3; }}")),
            &cases,
        );
        let arms = joined("", |i| format!("if (f(x) == {i}) y = {}; else ", i + 7));
        expect(
            "else if of calls",
            &program("", "", &format!("{arms} y = 3;")),
            &cases,
        );
        let arms = joined("", |i| {
            format!("if (hdr.pair.x == {i}) hdr.pair.result = {}; else ", i + 7)
        });
        let arms = format!("{arms} hdr.pair.result = 3;");
        expect("else if in a parser", &program("", &arms, ""), &cases);
    });
}

/// Chains in chains: each alone is short.
#[test]
fn chains_nest_as_deep_as_their_source() {
    on_an_ordinary_stack(|| {
        let mut sum = "x".to_string();
        for _ in 0..150 {
            sum = format!("({sum}{})", " + 1".repeat(99));
        }
        let sum = format!("y = {sum};");
        expect("sums", &program("", "", &sum), &[(0, 14_850)]);
        let mut arms = "y = y + 1;".to_string();
        for _ in 0..60 {
            let tried = "if (x == 1) { y = 9; } else ".repeat(99);
            arms = format!("y = y + 1; {tried} {{ {arms} }}");
        }
        expect("arms", &program("", "", &arms), &[(0, 61), (1, 9)]);
    });
}

#[test]
fn lists() {
    on_an_ordinary_stack(|| {
        let many = MANY as u16;
        let cases = [(0, 7), (many - 1, many + 6), (many, 3)];
        let labels = joined("\n", |i| format!("{i}: {{ y = {}; }}", i + 7));
        let switch = format!("switch (x) {{ {labels} default: {{ y = 3; }} }}");
        expect("switch", &program("", "", &switch), &cases);
        let statements = joined("\n", |_| "y = y + x;".into());
        expect("statements", &program("", "", &statements), &[(1, many)]);
        let members = joined(", ", |i| format!("E{i}"));
        let errors = format!(
            "error {{ {members} }} enum bit<16> e_t {{ {} }}",
            joined(", ", |i| format!("M{i} = {i}"))
        );
        let last = MANY - 1;
        let used =
            format!("if (std.parser_error != error.E{last}) {{ y = (bit<16>) e_t.M{last}; }}");
        expect("members", &program(&errors, "", &used), &[(0, many - 1)]);
        let constants = joined("\n", |i| format!("const bit<16> C{} = C{i} + 1;", i + 1));
        let constants = format!("const bit<16> C0 = 0; {constants}");
        expect(
            "constants",
            &program(&constants, "", &format!("y = C{MANY};")),
            &[(0, many)],
        );
        let states = joined("\n", |i| format!("state s{i} {{ transition s{}; }}", i + 1));
        let states = states
            .split_inclusive('\n')
            .take(16_000)
            .collect::<String>();
        let states = format!("transition s0; }} {states} state s16000 {{ hdr.pair.result = 5;");
        expect("states", &program("", &states, ""), &[(0, 5)]);
        let cases = joined("\n", |i| format!("{i}: odd;"));
        let cases = format!(
            "transition select(hdr.pair.x) {{ {cases} }} }} state odd {{ hdr.pair.result = 6;"
        );
        expect(
            "select",
            &program("", &cases, ""),
            &[(many - 1, 6), (many, 0)],
        );
    });
}
