//! Programs built by hand: what a front end would give for small v1model programs.
#![allow(dead_code)]

use num_bigint::BigUint;
use p4_ir::*;
use units::Instant;
use v1model::{Packet, PortConfig, Switch, SwitchConfig, Target, Transmit};

/// A program under construction, with one header of two 16-bit fields and an octet, and metadata of two
/// 32-bit fields, of which field list 1 keeps the first.
///
/// ```text
/// header h_t { bit<16> a; bit<16> b; bit<8> c; }
/// struct headers { h_t h; }   struct meta { @field_list(1) bit<32> x; bit<32> y; }
/// parser: extract(h); accept      deparser: emit(h)
/// ```
pub struct Build {
    pub program: Program,
}

/// A part of a variable: the variable's number, and the members to go through.
#[derive(Clone, Copy)]
pub struct Part(u32, &'static [u32]);

impl Part {
    pub fn at(self) -> Location {
        Location {
            variable: VariableId(self.0),
            path: self.1.iter().map(|&member| Step::Member(member)).collect(),
        }
    }
}

pub const H: Part = Part(0, &[0]);
pub const A: Part = Part(0, &[0, 0]);
pub const B: Part = Part(0, &[0, 1]);
pub const C: Part = Part(0, &[0, 2]);
pub const X: Part = Part(1, &[0]);
pub const Y: Part = Part(1, &[1]);
const META: VariableId = VariableId(2);
/// The header's type.
pub const HEADER: TypeId = TypeId(0);

const STANDARD: [(&str, u32); 17] = [
    ("ingress_port", 9),
    ("egress_spec", 9),
    ("egress_port", 9),
    ("instance_type", 32),
    ("packet_length", 32),
    ("enq_timestamp", 32),
    ("enq_qdepth", 19),
    ("deq_timedelta", 32),
    ("deq_qdepth", 19),
    ("ingress_global_timestamp", 48),
    ("egress_global_timestamp", 48),
    ("mcast_grp", 16),
    ("egress_rid", 16),
    ("checksum_error", 1),
    ("parser_error", 32),
    ("priority", 3),
    ("qid", 5),
];

/// A field of the standard metadata.
pub fn meta(name: &str) -> Place {
    let at = STANDARD
        .iter()
        .position(|(field, _)| *field == name)
        .unwrap();
    Place {
        at: Location::variable(META).member(at as u32),
        ty: Scalar::Bit(STANDARD[at].1),
    }
}

pub fn bits(part: Part, width: u32) -> Place {
    Place {
        at: part.at(),
        ty: Scalar::Bit(width),
    }
}

pub fn num(value: u64, width: u32) -> Expr {
    Expr::constant(value, Scalar::Bit(width))
}

pub fn load(place: &Place) -> Expr {
    Expr::load(place.clone())
}

pub fn binary(op: BinaryOp, a: Expr, b: Expr) -> Expr {
    use BinaryOp::*;
    let ty = match op {
        Eq | Ne | Lt | Le | Gt | Ge | And | Or => Scalar::Bool,
        Concat => Scalar::Bit(a.ty.width() + b.ty.width()),
        _ => a.ty,
    };
    Expr {
        kind: ExprKind::Binary(op, Box::new(a), Box::new(b)),
        ty,
    }
}

pub fn stmt(kind: StmtKind) -> Stmt {
    Stmt {
        kind,
        loc: SourceLoc::default(),
    }
}

pub fn set(to: Place, value: Expr) -> Stmt {
    stmt(StmtKind::Assign { to, value })
}

pub fn when(condition: Expr, then: Vec<Stmt>) -> Stmt {
    stmt(StmtKind::If {
        condition,
        then,
        otherwise: Vec::new(),
    })
}

/// A call of an extern function or method.
pub fn call(name: &str, object: Option<ExternId>, args: Vec<Arg>) -> Stmt {
    stmt(StmtKind::Extern(ExternCall {
        name: name.into(),
        object,
        type_args: Vec::new(),
        args,
        result: None,
    }))
}

pub fn item(place: Place, header: Option<Part>) -> ListItem {
    ListItem {
        value: Expr::load(place),
        valid: header.map(|header| Place::validity(&header.at())),
        name: String::new(),
    }
}

/// `if (condition) egress_spec = port`.
pub fn to_port(port: u64) -> Stmt {
    set(meta("egress_spec"), num(port, 9))
}

fn field(name: &str, ty: Type, lists: &[i64]) -> Field {
    let annotation = |list: &i64| Annotation {
        name: "field_list".into(),
        values: vec![AnnotationValue::Int((*list).into())],
        text: list.to_string(),
        ..Annotation::default()
    };
    Field {
        name: name.into(),
        ty,
        annotations: lists.iter().map(annotation).collect(),
        loc: SourceLoc::default(),
    }
}

fn bit(width: u32) -> Type {
    Type::Scalar(Scalar::Bit(width))
}

fn add_variable(program: &mut Program, name: &str, ty: Type) -> VariableId {
    program.variables.push(Variable {
        name: name.into(),
        ty,
        loc: SourceLoc::default(),
    });
    VariableId(program.variables.len() as u32 - 1)
}

impl Default for Build {
    fn default() -> Self {
        let ty = |name: &str, kind| TypeDef {
            name: name.into(),
            kind,
            annotations: Vec::new(),
            loc: SourceLoc::default(),
        };
        let h = [("a", 16), ("b", 16), ("c", 8)].map(|(name, w)| field(name, bit(w), &[]));
        let standard = STANDARD.map(|(name, width)| field(name, bit(width), &[]));
        let members =
            |names: &[&str]| TypeKind::Enum(names.iter().map(|n| n.to_string()).collect());
        let mut program = Program {
            package: "V1Switch".into(),
            types: vec![
                ty("h_t", TypeKind::Header(h.into())),
                ty(
                    "headers",
                    TypeKind::Struct(vec![field("h", Type::Named(TypeId(0)), &[])]),
                ),
                ty(
                    "meta",
                    TypeKind::Struct(vec![field("x", bit(32), &[1]), field("y", bit(32), &[])]),
                ),
                ty("standard_metadata_t", TypeKind::Struct(standard.into())),
                ty(
                    "CounterType",
                    members(&["packets", "bytes", "packets_and_bytes"]),
                ),
                ty("MeterType", members(&["packets", "bytes"])),
            ],
            errors: p4_ir::CORE_ERRORS.map(String::from).into(),
            ..Program::default()
        };
        let mut param = |name: &str, ty| {
            let ty = Type::Named(TypeId(ty));
            BlockParam {
                name: name.into(),
                ty: ty.clone(),
                variable: add_variable(&mut program, name, ty),
            }
        };
        let params = [param("hdr", 1), param("meta", 2), param("std", 3)];
        for (i, role) in ["p", "vr", "ig", "eg", "ck", "dep"].into_iter().enumerate() {
            let body = match i {
                0 => BlockBody::Parser(ParserId(0)),
                _ => BlockBody::Control(FunctionId(i as u32 - 1)),
            };
            program.blocks.push(Block {
                role: role.into(),
                package: "main".into(),
                type_name: role.into(),
                body,
                params: params.to_vec(),
                declared: Vec::new(),
                loc: SourceLoc::default(),
            });
            if i > 0 {
                program.functions.push(Function {
                    name: role.into(),
                    body: Vec::new(),
                    loc: SourceLoc::default(),
                });
            }
        }
        let header = H.at();
        program.parsers.push(Parser {
            name: "p".into(),
            states: vec![ParserState {
                name: "start".into(),
                body: vec![stmt(StmtKind::Extract {
                    header: header.clone(),
                    ty: HEADER,
                    varbit_bits: None,
                })],
                transition: Transition::Goto(StateTarget::Accept),
                loc: SourceLoc::default(),
            }],
            loc: SourceLoc::default(),
        });
        program.functions[4].body = vec![stmt(StmtKind::Emit { header, ty: HEADER })];
        Build { program }
    }
}

impl Build {
    /// A place for another variable.
    pub fn variable(&mut self, width: u32) -> Place {
        let ty = Scalar::Bit(width);
        Place::variable(self.variable_of(Type::Scalar(ty)), ty)
    }

    /// Another variable.
    pub fn variable_of(&mut self, ty: Type) -> VariableId {
        add_variable(&mut self.program, "variable", ty)
    }

    fn block(mut self, function: usize, body: Vec<Stmt>) -> Self {
        self.program.functions[function].body.extend(body);
        self
    }

    pub fn verify(self, body: Vec<Stmt>) -> Self {
        self.block(0, body)
    }

    pub fn ingress(self, body: Vec<Stmt>) -> Self {
        self.block(1, body)
    }

    pub fn egress(self, body: Vec<Stmt>) -> Self {
        self.block(2, body)
    }

    pub fn compute(self, body: Vec<Stmt>) -> Self {
        self.block(3, body)
    }

    /// An extern object.
    pub fn object(&mut self, ty: &str, type_args: Vec<Type>, args: Vec<CtorArg>) -> ExternId {
        let name = format!("ingress.{ty}");
        self.program.externs.push(ExternObject {
            type_name: ty.into(),
            type_args,
            name,
            args,
            table: None,
            annotations: Vec::new(),
            loc: SourceLoc::default(),
        });
        ExternId(self.program.externs.len() as u32 - 1)
    }

    /// An action with one parameter of 16 bits, if `body` makes use of it.
    pub fn action(&mut self, name: &str, body: impl FnOnce(Place) -> Vec<Stmt>) -> TableAction {
        let place = self.variable(16);
        self.program.functions.push(Function {
            name: name.into(),
            body: body(place.clone()),
            loc: SourceLoc::default(),
        });
        self.program.actions.push(Action {
            name: format!("ingress.{name}"),
            params: vec![ActionParam {
                name: "value".into(),
                ty: bit(16),
                variable: place.at.variable,
                annotations: Vec::new(),
            }],
            annotations: Vec::new(),
            loc: SourceLoc::default(),
        });
        TableAction {
            action: ActionId(self.program.actions.len() as u32 - 1),
            body: FunctionId(self.program.functions.len() as u32 - 1),
            annotations: Vec::new(),
        }
    }

    /// A table of the given keys; its default is the last action with the value 0.
    pub fn table(&mut self, keys: &[(Place, MatchKind)], actions: Vec<TableAction>) -> TableId {
        let key = |(place, kind): &(Place, MatchKind)| Key {
            name: match place.at.path[..] {
                [Step::Member(0), Step::Member(field)] => {
                    format!("hdr.h.{}", ["a", "b", "c"][field as usize])
                }
                _ => "hdr.h.c".into(),
            },
            value: Expr::load(place.clone()),
            ty: Type::Scalar(place.ty),
            kind: kind.clone(),
            annotations: Vec::new(),
            loc: SourceLoc::default(),
        };
        let default = actions.len() as u32 - 1;
        let name = format!("ingress.t{}", self.program.tables.len());
        self.program.tables.push(Table {
            name,
            keys: keys.iter().map(key).collect(),
            actions,
            default_action: ActionCall {
                action: default,
                args: vec![BigUint::ZERO],
            },
            const_default: false,
            entries: Vec::new(),
            const_entries: false,
            size: None,
            largest_priority_wins: true,
            implementation: None,
            direct: Vec::new(),
            support_timeout: false,
            properties: Vec::new(),
            annotations: Vec::new(),
            loc: SourceLoc::default(),
        });
        TableId(self.program.tables.len() as u32 - 1)
    }

    pub fn switch(&self) -> Switch {
        self.switch_with(SwitchConfig {
            report_drops: true,
            ..SwitchConfig::default()
        })
    }

    pub fn switch_with(&self, config: SwitchConfig) -> Switch {
        Switch::new(&self.program, config).unwrap()
    }
}

/// Applies a table, and says in metadata `y` whether it hit.
pub fn apply(table: TableId) -> Stmt {
    stmt(StmtKind::Apply {
        table,
        hit: Some(Place {
            at: Y.at(),
            ty: Scalar::Bool,
        }),
        action_run: None,
    })
}

/// The octets of header `h` and a payload.
pub fn packet(a: u16, b: u16, c: u8, payload: &[u8]) -> Packet {
    let mut octets = Vec::new();
    octets.extend(a.to_be_bytes());
    octets.extend(b.to_be_bytes());
    octets.push(c);
    octets.extend(payload);
    Packet::new(octets)
}

/// What a packet that comes in at `us` on port 7 makes the switch send at once.
pub fn send(switch: &mut Switch, us: u64, packet: Packet) -> Vec<Transmit> {
    let now = Instant::from_micros(us);
    switch.handle_packet(now, 7, packet);
    std::iter::from_fn(|| switch.poll_transmit(now)).collect()
}

/// The fields of the header in the only packet sent.
pub fn fields(sent: &[Transmit]) -> (u16, u16, u8) {
    assert_eq!(sent.len(), 1, "one packet is sent");
    let o = &sent[0].packet.octets;
    (
        u16::from_be_bytes([o[0], o[1]]),
        u16::from_be_bytes([o[2], o[3]]),
        o[4],
    )
}

/// Egress port, header fields: everything sent, in order.
pub fn all(sent: &[Transmit]) -> Vec<(u16, u16, u16, u8)> {
    let one = |t: &Transmit| {
        let (a, b, c) = fields(std::slice::from_ref(t));
        (t.port, a, b, c)
    };
    sent.iter().map(one).collect()
}

/// One port at a bit rate with a limit.
pub fn line(bps: u64, capacity: u32) -> PortConfig {
    PortConfig {
        rate: units::Rate::from_bps(bps),
        capacity,
        queues: 8,
        ..PortConfig::default()
    }
}
