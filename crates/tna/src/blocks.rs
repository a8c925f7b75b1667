//! The package: its pipelines, the metadata of the architecture, and the storage of a packet besides its variables.

use crate::generation::Generation;
use crate::prefix::{self, Prefix};
use crate::residual::Residual;
use crate::{Tna, parser_errors, ports, unsupported};
use p4_ir::{
    Annotation, AnnotationValue, Block, BlockBody, Program, Type, TypeDef, TypeId, TypeKind,
};
use p4_vm::{Compiler, MetaField, Slot, Target};

/// What TNA knows about a program.
#[derive(Debug, Default)]
pub struct Layout {
    /// The hardware generation that the program is written for.
    pub generation: Generation,
    /// The pipelines of the package.
    pub pipes: Vec<Pipe>,
    /// The pipeline that serves each pipe of the hardware.
    serves: [usize; ports::PIPES],
    /// Words of a packet that programs do not see.
    pub own: Own,
    /// The metadata that precedes a packet in the ingress parser, and the octets of port metadata behind it.
    pub ingress_prefix: Prefix<3>,
    pub port_metadata: usize,
    /// The metadata that precedes a packet in the egress parser.
    pub egress_prefix: Prefix<14>,
    /// Whether a deparser may request mirrored packets, and resubmission.
    pub mirrors: bool,
    pub resubmits: bool,
    /// Whether a deparser may request packets of the packet generator.
    pub generates: bool,
    /// The bit of each parser error.
    pub error_bits: Vec<u16>,
    /// Octets per cell of the packet buffer.
    pub cell_octets: u32,
    /// The word of each checksum unit and parser counter, by object number.
    pub object_words: Vec<(u32, Slot)>,
    /// Words that are 0 when a packet arrives at a parser.
    pub cleared: Vec<Slot>,
    /// Where parsers deposit the residuals of checksums.
    pub residuals: Vec<Residual>,
}

/// One pipeline.
#[derive(Debug, Default)]
pub struct Pipe {
    pub blocks: Blocks,
    pub ingress: IngressMetadata,
    pub egress: EgressMetadata,
    /// The control that the traffic manager runs when the length of a queue changes.
    pub ghost: Option<Ghost>,
    /// Whether ingress reads `parser_err`, and therefore receives packets with errors.
    pub takes_errors: bool,
}

/// The ghost control, and its metadata.
#[derive(Clone, Copy, Debug)]
pub struct Ghost {
    pub entry: Target,
    pub ping_pong: MetaField,
    pub length: MetaField,
    pub queue: MetaField,
    pub pipe: MetaField,
}

impl Pipe {
    /// All entry points.
    pub fn entries_mut(&mut self) -> impl Iterator<Item = &mut Target> {
        let ghost = self.ghost.as_mut().map(|ghost| &mut ghost.entry);
        self.blocks.all_mut().into_iter().chain(ghost)
    }
}

/// Entry points of the blocks on the path of packets.
#[derive(Clone, Copy, Debug, Default)]
pub struct Blocks {
    pub ingress_parser: Target,
    pub ingress: Target,
    pub ingress_deparser: Target,
    pub egress_parser: Target,
    pub egress: Target,
    pub egress_deparser: Target,
}

impl Blocks {
    fn all_mut(&mut self) -> [&mut Target; 6] {
        [
            &mut self.ingress_parser,
            &mut self.ingress,
            &mut self.ingress_deparser,
            &mut self.egress_parser,
            &mut self.egress,
            &mut self.egress_deparser,
        ]
    }
}

/// Metadata of ingress.
#[derive(Clone, Copy, Debug, Default)]
pub struct IngressMetadata {
    pub timestamp: MetaField,
    pub parser_error: MetaField,
    pub drop: MetaField,
    pub mirror_io_select: MetaField,
    pub generator_line: MetaField,
    pub generator_octets: MetaField,
    pub port: MetaField,
    pub bypass_egress: MetaField,
    pub deflect_on_drop: MetaField,
    pub class_of_service: MetaField,
    pub queue: MetaField,
    pub group_a: MetaField,
    pub group_b: MetaField,
    pub copy_to_cpu: MetaField,
    pub cpu_class_of_service: MetaField,
}

/// Metadata of egress.
#[derive(Clone, Copy, Debug, Default)]
pub struct EgressMetadata {
    pub timestamp: MetaField,
    pub parser_error: MetaField,
    pub drop: MetaField,
    pub mirror_io_select: MetaField,
}

/// Words of a packet that programs do not see. They are not cleared with the variables.
#[derive(Clone, Copy, Debug, Default)]
pub struct Own {
    /// The port at which it arrived.
    pub ingress_port: Slot,
    /// Whether it is resubmitted: it carries data in place of port metadata.
    pub resubmitted: Slot,
    /// Its queue at the egress port.
    pub queue: Slot,
    /// Whether it goes directly from its queue to the line.
    pub bypass_egress: Slot,
    /// Whether it is deflected if its queue refuses it, and whether it has been deflected.
    pub deflect_on_drop: Slot,
    pub deflected: Slot,
    /// Bits with which the ingress deparser has padded the packet's last octet.
    pub padding: Slot,
    /// `egress_cos`.
    pub class_of_service: Slot,
    /// `egress_rid`.
    pub replication: Slot,
    /// `egress_rid_first`.
    pub first_replica: Slot,
    /// `pkt_length` in egress.
    pub length: Slot,
}

impl Own {
    /// The words that the traffic manager sets for a packet.
    pub fn of_queued(&self) -> [Slot; 8] {
        [
            self.queue,
            self.bypass_egress,
            self.deflect_on_drop,
            self.deflected,
            self.padding,
            self.class_of_service,
            self.replication,
            self.first_replica,
        ]
    }
}

/// The package with several parsers per pipe.
const MULTI_PARSER: &str = "MultiParserSwitch";

/// The package that programs instantiate.
pub const PACKAGE: &str = "Switch";

const SHAPE: &str = "Switch(Pipeline(ingress_parser, ingress, ingress_deparser, egress_parser, egress, \
                     egress_deparser[, ghost]), …)";

const FOR_TM: &str = "ingress_intrinsic_metadata_for_tm_t";
/// The metadata that ingress receives from its parser.
const FROM_PARSER: &str = "ingress_intrinsic_metadata_from_parser_t";

/// Fields of `ingress_intrinsic_metadata_t`.
const INGRESS_FIELDS: [&str; 3] = ["resubmit_flag", "ingress_port", "ingress_mac_tstamp"];

/// Fields of `egress_intrinsic_metadata_t`.
const EGRESS_FIELDS: [&str; 14] = [
    "egress_port",
    "enq_qdepth",
    "enq_congest_stat",
    "enq_tstamp",
    "deq_qdepth",
    "deq_congest_stat",
    "app_pool_congest_stat",
    "deq_timedelta",
    "egress_rid",
    "egress_rid_first",
    "egress_qid",
    "egress_cos",
    "deflection_flag",
    "pkt_length",
];

/// Whether a program is for the architecture of this name.
pub fn is_for(program: &Program, name: &str) -> bool {
    let annotations = program.package_annotations.iter();
    let mut pairs = annotations
        .filter(|a| a.name == "pkginfo")
        .flat_map(Annotation::pairs);
    pairs.any(|(key, value)| key == "arch" && *value == AnnotationValue::String(name.into()))
}

/// Binds the package `Switch`.
pub fn bind(compiler: &mut Compiler<'_, Tna>) {
    let program = compiler.program();
    if program.package == MULTI_PARSER {
        let loc = program.blocks.first().map(|block| block.loc);
        compiler.set_loc(loc.unwrap_or_default());
        return compiler.error(format!(
            "package `{MULTI_PARSER}` is not supported: the program does not say which ports each parser serves, since \
             the compiler and the driver of Tofino map them; write {SHAPE}, with one parser that selects on \
             `ingress_port` or `egress_port`",
        ));
    }
    if program.package != PACKAGE {
        return compiler.error(format!(
            "package `{}` is not supported; the switch runs {SHAPE}",
            program.package
        ));
    }
    compiler.layout.own = Own {
        ingress_port: compiler.setting(),
        resubmitted: compiler.setting(),
        queue: compiler.setting(),
        bypass_egress: compiler.setting(),
        deflect_on_drop: compiler.setting(),
        deflected: compiler.setting(),
        padding: compiler.setting(),
        class_of_service: compiler.setting(),
        replication: compiler.setting(),
        first_replica: compiler.setting(),
        length: compiler.setting(),
    };
    compiler.layout.error_bits = parser_errors::bits(program);
    let generation = generation(program);
    compiler.layout.generation = generation;
    compiler.layout.port_metadata = generation.port_metadata();
    compiler.layout.cell_octets = generation.cell_octets();
    compiler.layout.ingress_prefix =
        prefix(compiler, "ingress_intrinsic_metadata_t", INGRESS_FIELDS);
    compiler.layout.egress_prefix = prefix(compiler, "egress_intrinsic_metadata_t", EGRESS_FIELDS);
    for blocks in program.blocks.chunk_by(|a, b| pipe_of(a) == pipe_of(b)) {
        pipe(compiler, blocks);
    }
    compiler.layout.serves = generation.serves(compiler.layout.pipes.len());
}

/// The header of this name, with the layout in which the hardware prepends it to packets.
fn prefix<const N: usize>(
    compiler: &mut Compiler<'_, Tna>,
    name: &str,
    fields: [&str; N],
) -> Prefix<N> {
    let program = compiler.program();
    let Some(id) = program.types.iter().position(|ty| ty.name == name) else {
        return Prefix::default();
    };
    let prefix = Prefix::of(program, &Type::Named(TypeId(id as u32)), fields);
    prefix.unwrap_or_else(|| {
        compiler.set_loc(program.types[id].loc);
        compiler.error(format!(
            "`{name}` has more than the {} octets that the hardware may put in front of a packet",
            prefix::LONGEST
        ));
        Prefix::default()
    })
}

/// The pipeline of a block: `pipe0`.
fn pipe_of(block: &Block) -> &str {
    let (pipe, _) = block.role.split_once('.').unwrap_or_default();
    pipe
}

/// The generation that the program is written for, determined by the width of a queue number, because `tna.p4` compiles
/// for both.
fn generation(program: &Program) -> Generation {
    let queue = |ty: &TypeDef| match &ty.kind {
        TypeKind::Struct(fields) if ty.name == FOR_TM => {
            let field = fields.iter().find(|field| field.name == "qid")?;
            Some(field.ty.scalar(program)?.width())
        }
        _ => None,
    };
    match program.types.iter().find_map(queue) {
        Some(7) => Generation::Tofino2,
        _ => Generation::Tofino1,
    }
}

/// Binds one pipeline.
fn pipe(compiler: &mut Compiler<'_, Tna>, blocks: &[Block]) {
    let [ip, ig, id, ep, eg, ed, ghost @ ..] = blocks else {
        let program = compiler.program();
        return compiler.error(format!(
            "package `{}` has {} blocks in a pipeline; the switch runs {SHAPE}",
            program.package,
            blocks.len()
        ));
    };
    // A block may omit parameters, so each is found by its type.
    let program = compiler.program();
    let param = |blocks: &[&Block], ty: &str| {
        let mut params = blocks.iter().flat_map(|block| &block.params);
        let param = params.find(|param| match param.ty {
            Type::Named(id) => program[id].name == ty,
            _ => false,
        });
        param.cloned()
    };
    let field = |compiler: &Compiler<'_, Tna>, blocks: &[&Block], ty: &str, name: &str| {
        param(blocks, ty).map_or_else(MetaField::default, |param| {
            compiler.metadata_field(&param, name)
        })
    };
    let parsed = |name| field(compiler, &[ig, ip], FROM_PARSER, name);
    let deparsed = |name| {
        field(
            compiler,
            &[id, ig],
            "ingress_intrinsic_metadata_for_deparser_t",
            name,
        )
    };
    let managed = |name| field(compiler, &[ig, ip], FOR_TM, name);
    let ingress = IngressMetadata {
        timestamp: parsed("global_tstamp"),
        parser_error: parsed("parser_err"),
        drop: deparsed("drop_ctl"),
        mirror_io_select: deparsed("mirror_io_select"),
        generator_line: deparsed("pktgen_address"),
        generator_octets: deparsed("pktgen_length"),
        port: managed("ucast_egress_port"),
        bypass_egress: managed("bypass_egress"),
        deflect_on_drop: managed("deflect_on_drop"),
        class_of_service: managed("ingress_cos"),
        queue: managed("qid"),
        group_a: managed("mcast_grp_a"),
        group_b: managed("mcast_grp_b"),
        copy_to_cpu: managed("copy_to_cpu"),
        cpu_class_of_service: managed("icos_for_copy_to_cpu"),
    };
    let parsed = |name| {
        field(
            compiler,
            &[eg, ep],
            "egress_intrinsic_metadata_from_parser_t",
            name,
        )
    };
    let deparsed = |name| {
        field(
            compiler,
            &[ed, eg],
            "egress_intrinsic_metadata_for_deparser_t",
            name,
        )
    };
    let egress = EgressMetadata {
        timestamp: parsed("global_tstamp"),
        parser_error: parsed("parser_err"),
        drop: deparsed("drop_ctl"),
        mirror_io_select: deparsed("mirror_io_select"),
    };
    for (name, wanted) in unsupported::FIELDS {
        let params = [
            param(&[id, ig], "ingress_intrinsic_metadata_for_deparser_t"),
            param(&[ed, eg], "egress_intrinsic_metadata_for_deparser_t"),
        ];
        let fields = params.iter().flatten();
        for field in fields.filter_map(|param| param.field(program, name)) {
            if let Some(loc) = unsupported::write(program, &field) {
                compiler.set_loc(loc);
                compiler.error(format!(
                    "`{name}` is set, but the switch does not have {wanted}"
                ));
            }
        }
    }
    let asks = param(&[id, ig], "ingress_intrinsic_metadata_for_deparser_t");
    let asks = asks.and_then(|param| param.field(program, "pktgen"));
    if let Some(loc) = asks.and_then(|field| unsupported::write(program, &field))
        && unsupported::call(program, &id.body, "Pktgen.emit").is_none()
    {
        compiler.set_loc(loc);
        compiler.error(
            "`pktgen` is set, but the ingress deparser has no `Pktgen.emit(context)`, whose context the generator's \
             packets have",
        );
    }
    if let Some(loc) = unsupported::call(program, &ed.body, "Pktgen.emit") {
        compiler.set_loc(loc);
        compiler.error(
            "`Pktgen.emit` is in an egress deparser; only an ingress deparser can ask the packet generator for packets",
        );
    }
    let takes_errors = match ig.body {
        BlockBody::Control(function) => param(&[ig, ip], FROM_PARSER).is_some_and(|param| {
            let field = param.field(program, "parser_err");
            field.is_some_and(|field| parser_errors::reads(program, function, &field))
        }),
        BlockBody::Parser(_) => false,
    };
    let blocks = Blocks {
        ingress_parser: compiler.parser_block(ip, SHAPE),
        ingress: compiler.control_block(ig, SHAPE),
        ingress_deparser: compiler.control_block(id, SHAPE),
        egress_parser: compiler.parser_block(ep, SHAPE),
        egress: compiler.control_block(eg, SHAPE),
        egress_deparser: compiler.control_block(ed, SHAPE),
    };
    let ghost = ghost.first().map(|block| {
        let of_ghost = |name| field(compiler, &[block], "ghost_intrinsic_metadata_t", name);
        let [ping_pong, length, queue, pipe] =
            ["ping_pong", "qlength", "qid", "pipe_id"].map(of_ghost);
        Ghost {
            entry: compiler.control_block(block, SHAPE),
            ping_pong,
            length,
            queue,
            pipe,
        }
    });
    compiler.layout.pipes.push(Pipe {
        blocks,
        ingress,
        egress,
        ghost,
        takes_errors,
    });
}

impl Layout {
    /// The pipeline that a port belongs to.
    #[inline]
    pub fn pipe(&self, port: u16) -> &Pipe {
        &self.pipes[self.serves[ports::pipe(port)]]
    }
}
