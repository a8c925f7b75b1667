//! The package: its six blocks, the standard metadata, and the field lists.

use crate::V1Model;
use crate::externs::Call;
use p4_ir::{AnnotationValue, Block, Program, Type, TypeKind};
use p4_vm::{Compiler, MetaField, NONE, Reported, Sequence, Slot, Stage, Target};
use std::ops::Range;

/// What v1model knows about a program.
#[derive(Debug, Default)]
pub struct Layout {
    pub blocks: Blocks,
    pub metadata: StandardMetadata,
    /// The words of the headers.
    pub headers: Range<usize>,
    /// First words and numbers of words of the headers in the user metadata.
    pub metadata_headers: Vec<(Slot, u32)>,
    /// What each field list keeps of the user metadata: its index, first word and number of words.
    pub field_lists: Vec<(u64, Slot, u32)>,
    /// The word that holds the drop port.
    pub drop_port: Slot,
}

/// Entry points of the blocks.
#[derive(Clone, Copy, Debug, Default)]
pub struct Blocks {
    pub parser: Target,
    pub verify: Target,
    pub ingress: Target,
    pub egress: Target,
    pub compute: Target,
    pub deparser: Target,
}

impl Blocks {
    pub fn all_mut(&mut self) -> [&mut Target; 6] {
        [
            &mut self.parser,
            &mut self.verify,
            &mut self.ingress,
            &mut self.egress,
            &mut self.compute,
            &mut self.deparser,
        ]
    }
}

/// The sequence from the parser to ingress.
pub const ARRIVAL: usize = 0;
/// The sequence from egress to the deparser.
pub const DEPARTURE: usize = 1;

/// The sequences. A call of an extern of v1model may request an action behind egress; then the sequence ends at egress.
pub fn sequences(layout: &Layout, calls: &[Call]) -> Vec<Sequence> {
    let Layout {
        blocks, metadata, ..
    } = layout;
    let parser = Stage {
        reported: Some((Reported::ParserError, metadata.parser_error)),
        ..Stage::new(blocks.parser)
    };
    let verify = Stage {
        reported: Some((Reported::ChecksumError, metadata.checksum_error)),
        ..Stage::new(blocks.verify)
    };
    let egress_spec = metadata.egress_spec.slot;
    let egress = Stage {
        last_if_equal: (egress_spec != NONE).then_some((egress_spec, layout.drop_port)),
        ..Stage::new(blocks.egress)
    };
    let mut departure = vec![egress];
    if calls.is_empty() {
        departure.extend([blocks.compute, blocks.deparser].map(Stage::new));
    }
    let arrival = vec![parser, verify, Stage::new(blocks.ingress)];
    let [mut arrival, mut departure] = [arrival, departure].map(|stages| Sequence {
        stages,
        ..Sequence::default()
    });
    if calls.is_empty() {
        arrival.given = Some(metadata.given_on_arrival());
        arrival.read = metadata.read();
        departure.given = Some(metadata.given_on_departure());
    }
    vec![arrival, departure]
}

impl StandardMetadata {
    /// Words that are written when a packet arrives.
    fn given_on_arrival(&self) -> Vec<Slot> {
        [
            self.ingress_port,
            self.packet_length,
            self.ingress_global_timestamp,
        ]
        .map(|field| field.slot)
        .into()
    }

    /// Words that are written when a packet joins or leaves a queue.
    fn given_on_departure(&self) -> Vec<Slot> {
        [
            self.instance_type,
            self.enq_timestamp,
            self.enq_qdepth,
            self.egress_port,
            self.egress_spec,
            self.egress_global_timestamp,
            self.deq_timedelta,
            self.deq_qdepth,
            self.qid,
            self.packet_length,
        ]
        .map(|field| field.slot)
        .into()
    }

    /// Words that are read behind ingress, and the word of the replica number, which is only written for replicas.
    fn read(&self) -> Vec<Slot> {
        [
            self.egress_spec,
            self.mcast_grp,
            self.priority,
            self.egress_rid,
        ]
        .map(|field| field.slot)
        .into()
    }
}

/// Slots of the fields of `standard_metadata_t`, with their widths.
#[derive(Clone, Copy, Debug, Default)]
pub struct StandardMetadata {
    pub ingress_port: MetaField,
    pub egress_spec: MetaField,
    pub egress_port: MetaField,
    pub instance_type: MetaField,
    pub packet_length: MetaField,
    pub enq_timestamp: MetaField,
    pub enq_qdepth: MetaField,
    pub deq_timedelta: MetaField,
    pub deq_qdepth: MetaField,
    pub ingress_global_timestamp: MetaField,
    pub egress_global_timestamp: MetaField,
    pub mcast_grp: MetaField,
    pub egress_rid: MetaField,
    pub checksum_error: MetaField,
    pub parser_error: MetaField,
    pub priority: MetaField,
    /// The number of the packet's queue. p4c's declaration lacks it; programs that use it bring their own.
    pub qid: MetaField,
}

/// The type of the package.
pub const PACKAGE: &str = "V1Switch";

const SHAPE: &str =
    "V1Switch(parser, verify checksum, ingress, egress, compute checksum, deparser)";

/// Binds the package `V1Switch`.
pub fn bind(compiler: &mut Compiler<'_, V1Model>) {
    let program = compiler.program();
    let [parser, verify, ingress, egress, compute, deparser] = &program.blocks[..] else {
        return compiler.error(format!(
            "package `{}` has {} blocks; this target runs {SHAPE}",
            program.package,
            program.blocks.len()
        ));
    };
    if program.package != PACKAGE {
        return compiler.error(format!(
            "package `{}` is not supported; this target runs {SHAPE}",
            program.package
        ));
    }
    compiler.layout.drop_port = compiler.setting();
    standard_metadata(compiler, ingress);
    if let Some(headers) = ingress.params.first() {
        compiler.layout.headers = compiler.words(headers);
    }
    if let Some(meta) = ingress.params.get(1) {
        let base = compiler.slot(meta.variable);
        let mut found = Vec::new();
        field_lists(compiler, &meta.ty, base, &[], &mut found);
        compiler.layout.field_lists = found;
        let mut found = Vec::new();
        headers_within(compiler, &meta.ty, base, &mut found);
        compiler.layout.metadata_headers = found;
    }
    compiler.layout.blocks = Blocks {
        parser: compiler.parser_block(parser, SHAPE),
        verify: compiler.control_block(verify, SHAPE),
        ingress: compiler.control_block(ingress, SHAPE),
        egress: compiler.control_block(egress, SHAPE),
        compute: compiler.control_block(compute, SHAPE),
        deparser: compiler.control_block(deparser, SHAPE),
    };
}

fn standard_metadata(compiler: &mut Compiler<'_, V1Model>, ingress: &Block) {
    let program = compiler.program();
    let named = |ty: &Type| match ty {
        Type::Named(id) => program[*id].name == "standard_metadata_t",
        _ => false,
    };
    let param = ingress.params.iter().find(|param| named(&param.ty));
    let Some(param) = param.or(ingress.params.get(2)) else {
        compiler.set_loc(ingress.loc);
        return compiler.error(format!(
            "`{}` has no standard_metadata_t parameter, which ingress of V1Switch must have",
            ingress.type_name
        ));
    };
    let field = |name: &str| compiler.metadata_field(param, name);
    compiler.layout.metadata = StandardMetadata {
        ingress_port: field("ingress_port"),
        egress_spec: field("egress_spec"),
        egress_port: field("egress_port"),
        instance_type: field("instance_type"),
        packet_length: field("packet_length"),
        enq_timestamp: field("enq_timestamp"),
        enq_qdepth: field("enq_qdepth"),
        deq_timedelta: field("deq_timedelta"),
        deq_qdepth: field("deq_qdepth"),
        ingress_global_timestamp: field("ingress_global_timestamp"),
        egress_global_timestamp: field("egress_global_timestamp"),
        mcast_grp: field("mcast_grp"),
        egress_rid: field("egress_rid"),
        checksum_error: field("checksum_error"),
        parser_error: field("parser_error"),
        priority: field("priority"),
        qid: field("qid"),
    };
}

/// Collects the fields that are marked with `@field_list(…)`. A mark on a struct or array applies to everything in it.
fn field_lists(
    compiler: &Compiler<'_, V1Model>,
    ty: &Type,
    base: Slot,
    outer: &[u64],
    found: &mut Vec<(u64, Slot, u32)>,
) {
    if let Type::Array(element, len) = ty {
        let stride = compiler.words_of(element);
        for i in 0..*len {
            field_lists(compiler, element, base + i * stride, outer, found);
        }
        return;
    }
    for (offset, field) in compiler.members(ty) {
        let mut lists = outer.to_vec();
        for annotation in field.annotations.iter().filter(|a| a.name == "field_list") {
            lists.extend(annotation.values.iter().filter_map(|value| match value {
                AnnotationValue::Int(index) => u64::try_from(index).ok(),
                _ => None,
            }));
        }
        if holds_fields(&field.ty, compiler.program()) {
            field_lists(compiler, &field.ty, base + offset, &lists, found);
            continue;
        }
        let words = compiler.words_of(&field.ty);
        let kept = lists.into_iter().map(|list| (list, base + offset, words));
        found.extend(kept);
    }
}

/// Collects the headers, header stacks and unions of a struct.
fn headers_within(
    compiler: &Compiler<'_, V1Model>,
    ty: &Type,
    base: Slot,
    found: &mut Vec<(Slot, u32)>,
) {
    if let Type::Array(element, len) = ty {
        let stride = compiler.words_of(element);
        for i in 0..*len {
            headers_within(compiler, element, base + i * stride, found);
        }
        return;
    }
    for (offset, field) in compiler.members(ty) {
        if holds_fields(&field.ty, compiler.program()) {
            headers_within(compiler, &field.ty, base + offset, found);
        } else if is_header(&field.ty, compiler.program()) {
            found.push((base + offset, compiler.words_of(&field.ty)));
        }
    }
}

fn is_header(ty: &Type, program: &Program) -> bool {
    match ty {
        Type::Stack(element, _) => is_header(element, program),
        Type::Named(id) => matches!(program[*id].kind, TypeKind::Header(_) | TypeKind::Union(_)),
        _ => false,
    }
}

/// Whether it is a struct, or an array of such, whose fields may have marks of their own.
fn holds_fields(ty: &Type, program: &Program) -> bool {
    match ty {
        Type::Array(element, _) => holds_fields(element, program),
        Type::Named(id) => matches!(program[*id].kind, TypeKind::Struct(_)),
        _ => false,
    }
}
