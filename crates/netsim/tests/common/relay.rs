//! A program in the intermediate form itself: what comes in by port 1 leaves by port 2, and back.

use engine::Pipeline;
use netsim::Programs;
use p4_ir::*;

const PORT: Scalar = Scalar::Bit(9);
const FIELDS: [&str; 2] = ["ingress_port", "egress_spec"];

/// The program, called `relay`.
pub fn relay() -> Programs {
    let loc = SourceLoc::default();
    let field = |name: &&str| Field {
        name: name.to_string(),
        ty: Type::Scalar(PORT),
        annotations: Vec::new(),
        loc,
    };
    let structure = |name: &str, fields: &[&str]| TypeDef {
        name: name.to_string(),
        kind: TypeKind::Struct(fields.iter().map(field).collect()),
        annotations: Vec::new(),
        loc,
    };
    let param = |id: u32| BlockParam {
        name: String::new(),
        ty: Type::Named(TypeId(id)),
        variable: VariableId(id),
    };
    let variable = |id: u32| Variable {
        name: String::new(),
        ty: Type::Named(TypeId(id)),
        loc,
    };
    let block = |body| Block {
        role: String::new(),
        package: String::new(),
        type_name: String::new(),
        body,
        params: vec![param(0), param(0), param(1)],
        declared: Vec::new(),
        loc,
    };
    let idle = BlockBody::Control(FunctionId(0));
    let function = |name: &str, body| Function {
        name: name.to_string(),
        body,
        loc,
    };
    let program = Program {
        package: "V1Switch".to_string(),
        blocks: [
            BlockBody::Parser(ParserId(0)),
            idle,
            BlockBody::Control(FunctionId(1)),
            idle,
            idle,
            idle,
        ]
        .map(block)
        .to_vec(),
        types: vec![
            structure("headers", &[]),
            structure("standard_metadata_t", &FIELDS),
        ],
        errors: [
            "NoError",
            "PacketTooShort",
            "HeaderTooShort",
            "ParserInvalidArgument",
        ]
        .map(str::to_string)
        .to_vec(),
        variables: vec![variable(0), variable(1)],
        functions: vec![
            function("idle", Vec::new()),
            function("cross", vec![cross(loc)]),
        ],
        parsers: vec![Parser {
            name: "parser".to_string(),
            states: vec![ParserState {
                name: "start".to_string(),
                body: Vec::new(),
                transition: Transition::Goto(StateTarget::Accept),
                loc,
            }],
            loc,
        }],
        ..Program::default()
    };
    let pipeline = Pipeline::compile(&program).expect("v1model runs the program");
    Programs::from([("relay".to_string(), pipeline)])
}

/// `egress_spec = 3 - ingress_port`.
fn cross(loc: SourceLoc) -> Stmt {
    let place = |field| Place {
        at: Location::variable(VariableId(1)).member(field),
        ty: PORT,
    };
    let expr = |kind| Expr { kind, ty: PORT };
    let three = expr(ExprKind::Const(3u32.into()));
    let ingress_port = expr(ExprKind::Load(place(0)));
    Stmt {
        kind: StmtKind::Assign {
            to: place(1),
            value: expr(ExprKind::Binary(
                BinaryOp::Sub,
                Box::new(three),
                Box::new(ingress_port),
            )),
        },
        loc,
    }
}
