//! The package: its six blocks, the metadata of the architecture, and the data that packets carry to another block.

use crate::Psa;
use p4_ir::Block;
use p4_vm::{Compiler, MetaField, Slot, Target};
use std::ops::Range;

/// What PSA knows about a program.
#[derive(Debug, Default)]
pub struct Layout {
    pub blocks: Blocks,
    pub ingress: IngressMetadata,
    pub egress: EgressMetadata,
    pub along: Along,
    /// The number of each checksum object, and the word of its sum.
    pub sums: Vec<(u32, Slot)>,
    /// A scratch word for values between an extern and its caller.
    pub scratch: Slot,
}

/// Entry points of the blocks.
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
    pub fn all_mut(&mut self) -> [&mut Target; 6] {
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

/// Metadata of the ingress parser, ingress and its deparser (6.1).
#[derive(Clone, Copy, Debug, Default)]
pub struct IngressMetadata {
    pub parser_port: MetaField,
    pub parser_path: MetaField,
    pub port: MetaField,
    pub path: MetaField,
    pub timestamp: MetaField,
    pub parser_error: MetaField,
    pub class_of_service: MetaField,
    pub clone: MetaField,
    pub clone_session: MetaField,
    pub drop: MetaField,
    pub resubmit: MetaField,
    pub multicast_group: MetaField,
    pub egress_port: MetaField,
}

/// Metadata of the egress parser, egress and its deparser (6.1).
#[derive(Clone, Copy, Debug, Default)]
pub struct EgressMetadata {
    pub parser_port: MetaField,
    pub parser_path: MetaField,
    pub class_of_service: MetaField,
    pub port: MetaField,
    pub path: MetaField,
    pub instance: MetaField,
    pub timestamp: MetaField,
    pub parser_error: MetaField,
    pub clone: MetaField,
    pub clone_session: MetaField,
    pub drop: MetaField,
    pub deparser_port: MetaField,
}

/// The words of the user's metadata that a deparser writes and the parser at the end of the path reads. Both use the
/// same place.
#[derive(Clone, Debug, Default)]
pub struct Along {
    pub normal: Range<usize>,
    pub clone_i2e: Range<usize>,
    pub clone_e2e: Range<usize>,
    pub resubmit: Range<usize>,
    pub recirculate: Range<usize>,
}

/// The package that PSA programs instantiate.
pub const PACKAGE: &str = "PSA_Switch";

const SHAPE: &str = "PSA_Switch(IngressPipeline(parser, ingress, deparser), PacketReplicationEngine(), \
                     EgressPipeline(parser, egress, deparser), BufferingQueueingEngine())";

/// Binds the package `PSA_Switch`.
pub fn bind(compiler: &mut Compiler<'_, Psa>) {
    let program = compiler.program();
    let [ip, ig, id, ep, eg, ed] = &program.blocks[..] else {
        return compiler.error(format!(
            "package `{}` has {} blocks; PSA runs {SHAPE}",
            program.package,
            program.blocks.len()
        ));
    };
    compiler.layout.scratch = compiler.setting();
    for (number, object) in (0..).zip(&program.externs) {
        if ["InternetChecksum", "Checksum"].contains(&object.type_name.as_str()) {
            let sum = compiler.setting();
            compiler.layout.sums.push((number, sum));
        }
    }
    let own = |block: &Block, param: usize, field: &str| match block.params.get(param) {
        Some(param) => compiler.metadata_field(param, field),
        None => MetaField::default(),
    };
    let ingress = IngressMetadata {
        parser_port: own(ip, 2, "ingress_port"),
        parser_path: own(ip, 2, "packet_path"),
        port: own(ig, 2, "ingress_port"),
        path: own(ig, 2, "packet_path"),
        timestamp: own(ig, 2, "ingress_timestamp"),
        parser_error: own(ig, 2, "parser_error"),
        class_of_service: own(ig, 3, "class_of_service"),
        clone: own(ig, 3, "clone"),
        clone_session: own(ig, 3, "clone_session_id"),
        drop: own(ig, 3, "drop"),
        resubmit: own(ig, 3, "resubmit"),
        multicast_group: own(ig, 3, "multicast_group"),
        egress_port: own(ig, 3, "egress_port"),
    };
    let egress = EgressMetadata {
        parser_port: own(ep, 2, "egress_port"),
        parser_path: own(ep, 2, "packet_path"),
        class_of_service: own(eg, 2, "class_of_service"),
        port: own(eg, 2, "egress_port"),
        path: own(eg, 2, "packet_path"),
        instance: own(eg, 2, "instance"),
        timestamp: own(eg, 2, "egress_timestamp"),
        parser_error: own(eg, 2, "parser_error"),
        clone: own(eg, 3, "clone"),
        clone_session: own(eg, 3, "clone_session_id"),
        drop: own(eg, 3, "drop"),
        deparser_port: own(ed, 5, "egress_port"),
    };
    let words = |block: &Block, param: usize| {
        let param = block.params.get(param);
        param.map_or(0..0, |param| compiler.words(param))
    };
    compiler.layout.along = Along {
        clone_i2e: words(id, 0),
        resubmit: words(id, 1),
        normal: words(id, 2),
        clone_e2e: words(ed, 0),
        recirculate: words(ed, 1),
    };
    compiler.layout.ingress = ingress;
    compiler.layout.egress = egress;
    compiler.layout.blocks = Blocks {
        ingress_parser: compiler.parser_block(ip, SHAPE),
        ingress: compiler.control_block(ig, SHAPE),
        ingress_deparser: compiler.control_block(id, SHAPE),
        egress_parser: compiler.parser_block(ep, SHAPE),
        egress: compiler.control_block(eg, SHAPE),
        egress_deparser: compiler.control_block(ed, SHAPE),
    };
}
