//! What the preprocessor makes of directives and macros.

use p4_frontend::preprocess::{Loader, preprocess};
use p4_frontend::{NoLoader, SourceMap};

/// The tokens of a text, separated by spaces.
fn tokens_with(text: &str, loader: &mut dyn Loader, defines: &[(String, String)]) -> String {
    let mut sources = SourceMap::new();
    let entry = sources.add("dir/main.p4", text);
    let result = preprocess(&mut sources, entry, loader, defines);
    assert!(result.diagnostics.is_empty(), "{:?}", result.diagnostics);
    let texts: Vec<&str> = result.tokens.iter().map(|token| &*token.text).collect();
    texts.join(" ").trim_end().to_owned()
}

fn tokens(text: &str) -> String {
    tokens_with(text, &mut NoLoader, &[])
}

#[test]
fn object_macros() {
    assert_eq!(tokens("#define A 1 + B\n#define B 2\nA A"), "1 + 2 1 + 2");
    assert_eq!(tokens("#define A A + 1\nA"), "A + 1");
    assert_eq!(tokens("#define A B\n#define B A\nA B"), "A B");
    assert_eq!(tokens("#define A 1\n#undef A\nA"), "A");
    assert_eq!(tokens("#define EMPTY\nx EMPTY y"), "x y");
    assert_eq!(tokens("#define const\nconst x"), "x");
}

#[test]
fn function_macros() {
    assert_eq!(tokens("#define F(x, y) y x\nF(1, (2, 3))"), "( 2 , 3 ) 1");
    assert_eq!(tokens("#define F() 1\nF() F"), "1 F");
    assert_eq!(tokens("#define F(x) [x]\nF() F(\n1\n)"), "[ ] [ 1 ]");
    assert_eq!(tokens("#define F (x)\nF"), "( x )");
    assert_eq!(tokens("#define F(x) x F\nF(1)(2)"), "1 F ( 2 )");
    assert_eq!(
        tokens("#define F(x) x + F(x)\nF(F(1))"),
        "1 + F ( 1 ) + F ( 1 + F ( 1 ) )"
    );
    assert_eq!(tokens("#define G F\n#define F(x) <x>\nG(1)"), "< 1 >");
    assert_eq!(
        tokens("#define F(x, ...) x: __VA_ARGS__\nF(1, 2, 3) F(4)"),
        "1 : 2 , 3 4 :"
    );
}

/// The order of C: arguments are expanded first, then the body once more with what follows it; a macro stays
/// closed to what comes out of it.
#[test]
fn expansion_is_as_in_c() {
    let text = "
        #define port 7
        #define next(a) next(port + a)
        #undef port
        #define port 9
        #define alias next
        #define pair 1, 2
        #define call(a) a(pair)
        #define same(a) a
        ";
    let expand = |line: &str| tokens(&format!("{text}\n{line}"));
    assert_eq!(expand("next(port)"), "next ( 9 + 9 )");
    assert_eq!(expand("next(next(1))"), "next ( 9 + next ( 9 + 1 ) )");
    assert_eq!(expand("same(alias)(1)"), "next ( 9 + 1 )");
    assert_eq!(
        expand("same(same)(1) same(same(same))(1)"),
        "same ( 1 ) same ( 1 )"
    );
    assert_eq!(
        expand("call(next) call(call)"),
        "next ( 9 + 1 , 2 ) call ( 1 , 2 )"
    );
}

#[test]
fn hashes() {
    assert_eq!(
        tokens("#define S(x) #x\nS(a  +b \"c\\n\")"),
        r#""a +b \"c\\n\"""#
    );
    assert_eq!(
        tokens("#define S(x) #x\n#define T(x) S(x)\n#define N 4\nS(N) T(N)"),
        r#""N" "4""#
    );
    assert_eq!(
        tokens("#define P(a, b) a ## b\nP(x, 1) P(4, w5) P(<, <=)"),
        "x1 4w5 <<="
    );
    assert_eq!(
        tokens("#define P(a, b) a##b c\n#define XY 1\nP(X, Y)"),
        "1 c"
    );
    assert_eq!(tokens("#define P(n) x[##n-1:##n]\nP(4)"), "x [ 4 - 1 : 4 ]");
}

#[test]
fn conditionals() {
    let text = |condition: &str| format!("#if {condition}\nyes\n#else\nno\n#endif");
    let yes = [
        "1",
        "2 > 1",
        "!0",
        "~0 < 0",
        "1 + 2 * 3 == 7",
        "(1 + 2) * 3 == 9",
        "1 << 4 >> 2 == 4",
        "0 || 1 && 1",
        "1 ? 1 : 0",
        "!defined A",
        "!defined(A)",
        "defined __LINE__",
        "A == 0",
        "0x10 == 16",
        "7 / 2 == 3 && 7 % 2 == 1",
        "1 | 0 & 0",
        "true",
        "-1 < 0",
        "5 - 2 - 1 == 2",
    ];
    for condition in yes {
        assert_eq!(tokens(&text(condition)), "yes", "{condition}");
    }
    for condition in [
        "0",
        "A",
        "defined A",
        "1 == 2",
        "1 > 2 || 0",
        "false",
        "A > 1",
    ] {
        assert_eq!(tokens(&text(condition)), "no", "{condition}");
    }
    let branches = "#if N == 1\none\n#elif N == 2\ntwo\n#elif 1 / 0\n#else\nelse\n#endif";
    assert_eq!(tokens(&format!("#define N 1\n{branches}")), "one");
    assert_eq!(
        tokens("#if 0\n#if 1\na\n#else\nb\n#endif\n#elif 1\nc\n#else\nd\n#endif"),
        "c"
    );
    assert_eq!(
        tokens("#ifdef A\n\"'\n/* \n#endif */\n#else\nx\n#endif"),
        "x"
    );
}

#[test]
fn places() {
    let text = "a\n__LINE__ __FILE__\n#line 10 \"b.p4\"\n__LINE__ __FILE__\n__LINE__";
    assert_eq!(tokens(text), "a 2 \"dir/main.p4\" 10 \"b.p4\" 11");
    assert_eq!(tokens("#define L __LINE__\n\nL"), "3");
    assert_eq!(tokens("# 7 \"c.p4\" 2\n__LINE__"), "7");
}

#[test]
fn defines_of_the_command_line() {
    let defines = [
        ("N".to_owned(), "4".to_owned()),
        ("F(x)".to_owned(), "x N".to_owned()),
    ];
    assert_eq!(tokens_with("F(1)", &mut NoLoader, &defines), "1 4");
}

/// Gives each file a text that says how it was asked for.
struct Telling;

impl Loader for Telling {
    fn load(&mut self, from: Option<&str>, name: &str, system: bool) -> Option<(String, String)> {
        let from = from.unwrap_or("nothing");
        Some((
            format!("found/{name}"),
            format!("\"{from}\" \"{name}\" {system} __FILE__"),
        ))
    }
}

#[test]
fn the_loader_is_asked() {
    let all = |text| tokens_with(text, &mut Telling, &[]);
    assert_eq!(
        all("#include \"a.p4\"\nx"),
        r#""dir/main.p4" "a.p4" false "found/a.p4" x"#
    );
    assert_eq!(
        all("#include <b/c.p4>"),
        r#""dir/main.p4" "b/c.p4" true "found/b/c.p4""#
    );
    assert_eq!(
        all("#define H <d.p4>\n#include H"),
        r#""dir/main.p4" "d.p4" true "found/d.p4""#
    );
    // Also for those that are embedded.
    assert_eq!(
        all("#include <core.p4>"),
        r#""dir/main.p4" "core.p4" true "found/core.p4""#
    );
}

#[test]
fn v1model_is_embedded_in_both_its_versions() {
    let old = tokens("#include <v1model.p4>\n#include <core.p4>");
    let new = tokens("#define V1MODEL_VERSION 20200408\n#include \"v1model.p4\"");
    assert!(old.contains("extern register < T >") && !old.contains("PortId_t"));
    assert!(
        new.contains("extern register < T , I >") && new.contains("typedef bit < 9 > PortId_t")
    );
    assert_eq!(old.matches("extern packet_in").count(), 1);
}
