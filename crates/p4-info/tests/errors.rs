//! Programs that P4Runtime cannot name: the messages and their places.

mod support;

const OBJECTS: &str = include_str!("programs/objects.p4");

/// What is wrong with the program when `from` in it is `to`.
fn errors(from: &str, to: &str) -> Vec<String> {
    assert_eq!(OBJECTS.matches(from).count(), 1, "{from}");
    let program = support::compile_text("objects.p4", &OBJECTS.replace(from, to), &[]);
    told(&program.unwrap_or_else(|error| panic!("{error}")))
}

/// What is wrong with a program, with the line of each.
fn told(program: &p4_ir::Program) -> Vec<String> {
    let Err(errors) = p4_info::p4info(program) else {
        return Vec::new();
    };
    let told = errors
        .iter()
        .map(|e| format!("{}: {}", e.loc.line, e.message));
    told.collect()
}

/// The line of the program that holds `text`.
fn line(text: &str) -> usize {
    let found = OBJECTS.lines().position(|line| line.contains(text));
    found.expect("it is there") + 1
}

#[test]
fn the_program_itself_is_sound() {
    assert_eq!(errors("bit<8> x;", "bit<8> y;"), [""; 0]);
}

#[test]
fn an_id_has_the_prefix_of_its_kind_or_none() {
    let told = errors("@id(0x12000007)", "@id(0x13000007)");
    let at = line("@id(0x12000007)");
    assert_eq!(
        told,
        [format!(
            "{at}: `@id(0x13000007)` of `MyIngress.packets`: the top octet must be 0x12 (or 0)"
        )]
    );
}

#[test]
fn an_id_belongs_to_one_object() {
    let told = errors("    counter(512,", "    @id(7) counter(512,");
    let at = line("@id(0x12000007)");
    assert_eq!(
        told,
        [format!(
            "{at}: `@id(0x12000007)` of `MyIngress.packets` belongs to another object"
        )]
    );
}

#[test]
fn ids_of_fields_are_unique() {
    let told = errors("@match(ternary) bit<16>", "@id(5) @match(ternary) bit<16>");
    let at = line("value_set<choice_t>");
    assert_eq!(
        told,
        [format!(
            "{at}: the same `@id` is given twice in `PacketParser.choices`"
        )]
    );
}

/// The front end refuses such a program; one from elsewhere may have them.
#[test]
fn objects_of_a_kind_have_names_of_their_own() {
    let program = support::compile_text("objects.p4", OBJECTS, &[]);
    let mut program = program.unwrap_or_else(|error| panic!("{error}"));
    let mut objects = program.externs.iter_mut();
    let per_packet = objects.find(|object| object.name == "MyIngress.per_packet");
    per_packet.expect("it is there").name = "MyIngress.rate".into();
    let told = told(&program);
    let at = line("meter(1,");
    assert_eq!(
        told,
        [format!(
            "{at}: two objects of one kind have the control-plane name `MyIngress.rate`: give one of them another `@name`"
        )]
    );
}
