//! Extern objects: counters, meters, registers, digests, action profiles and selectors.

use crate::Builder;
use crate::annotations::{listed, number, string};
use crate::interface::Interface;
use crate::proto::action_profile::{SelectorSizeSemantics, SumOfMembers, SumOfWeights};
use crate::proto::p4_ids::Prefix;
use crate::proto::*;
use p4_ir::{CtorArg, ExternId, ExternObject, Program};

/// All that a control plane can name: those declared, then those that tables construct in place.
pub(crate) fn all(program: &Program, interface: &Interface) -> Vec<ExternId> {
    let mut all: Vec<ExternId> = interface
        .externs()
        .filter(|id| program.action_profile(*id) == *id)
        .collect();
    for table in interface.tables().map(|id| &program[id]) {
        for id in table.implementation.iter().chain(&table.direct) {
            if !all.contains(id) {
                all.push(*id);
            }
        }
    }
    all
}

/// The prefix of the IDs of an extern type's objects: v1model names the types in snake case, all other
/// architectures in camel case.
pub fn prefix(type_name: &str) -> Option<Prefix> {
    Some(match type_name {
        "counter" | "Counter" => Prefix::Counter,
        "direct_counter" | "DirectCounter" => Prefix::DirectCounter,
        "meter" | "Meter" => Prefix::Meter,
        "direct_meter" | "DirectMeter" => Prefix::DirectMeter,
        "register" | "Register" => Prefix::Register,
        "action_profile" | "ActionProfile" => Prefix::ActionProfile,
        "action_selector" | "ActionSelector" => Prefix::ActionProfile,
        "Digest" => Prefix::Digest,
        _ => return None,
    })
}

impl Builder<'_> {
    /// An object that is declared; direct counters and meters come with their tables.
    pub(crate) fn extern_object(&mut self, id: ExternId) {
        self.types.touch();
        let object = &self.program[id];
        let Some(prefix) = prefix(&object.type_name) else {
            return;
        };
        if self.program.action_profile(id) != id {
            return;
        }
        let preamble = Some(self.preamble(prefix, &object.name, &object.annotations));
        let index_type_name = match prefix {
            Prefix::Counter | Prefix::Meter | Prefix::Register => self.index_type(object),
            _ => None,
        };
        match prefix {
            Prefix::Counter => self.info.counters.push(Counter {
                preamble,
                spec: Some(counter_spec(object)),
                size: size(object),
                index_type_name,
            }),
            Prefix::Meter => self.info.meters.push(Meter {
                preamble,
                spec: Some(meter_spec(object)),
                size: size(object),
                index_type_name,
            }),
            Prefix::Register => {
                let type_spec = object.type_args.first().map(|ty| self.types.spec(ty));
                self.info.registers.push(Register {
                    preamble,
                    type_spec,
                    size: i32::try_from(size(object)).unwrap_or(i32::MAX),
                    index_type_name,
                });
            }
            Prefix::Digest => {
                let type_spec = object.type_args.first().map(|ty| self.types.spec(ty));
                self.info.digests.push(Digest {
                    preamble,
                    type_spec,
                });
            }
            Prefix::ActionProfile => self.action_profile(id),
            _ => {}
        }
    }

    /// The `type` of an array's index. `register<T, I>`, `Register<T, S>` and `Counter<W, S>` have it second.
    fn index_type(&mut self, object: &ExternObject) -> Option<P4NamedType> {
        let second = matches!(
            object.type_name.as_str(),
            "register" | "Register" | "Counter"
        );
        self.types
            .mention(object.type_args.get(usize::from(second))?)
    }

    /// The ID of a table's action profile; one that the table constructs is listed now.
    pub(crate) fn implementation(&mut self, table: &p4_ir::Table) -> u32 {
        let Some(id) = table.implementation else {
            return 0;
        };
        let in_place = !self.interface.externs().any(|declared| declared == id);
        if in_place {
            self.action_profile(id);
        }
        let id = self.program.action_profile(id);
        self.symbols
            .id(Prefix::ActionProfile, &self.program[id].name)
    }

    /// The IDs of a table's direct counter and meter, in that order; both are listed.
    pub(crate) fn direct_resources(&mut self, table: &p4_ir::Table) -> Vec<u32> {
        let table_id = self.symbols.id(Prefix::Table, &table.name);
        let mut direct: Vec<&ExternObject> =
            table.direct.iter().map(|id| &self.program[*id]).collect();
        direct.sort_by_key(|object| prefix(&object.type_name) != Some(Prefix::DirectCounter));
        let mut ids = Vec::new();
        for object in direct {
            let Some(prefix) = prefix(&object.type_name) else {
                continue;
            };
            ids.push(self.symbols.id(prefix, &object.name));
            let preamble = Some(self.preamble(prefix, &object.name, &object.annotations));
            if prefix == Prefix::DirectCounter {
                self.info.direct_counters.push(DirectCounter {
                    preamble,
                    spec: Some(counter_spec(object)),
                    direct_table_id: table_id,
                });
            } else {
                self.info.direct_meters.push(DirectMeter {
                    preamble,
                    spec: Some(meter_spec(object)),
                    direct_table_id: table_id,
                });
            }
        }
        ids
    }

    fn action_profile(&mut self, id: ExternId) {
        let program = self.program;
        let object = &program[id];
        let all = (0..program.externs.len() as u32).map(ExternId);
        let mut others = all.filter(|other| *other != id);
        let selector = others.find(|other| program.action_profile(*other) == id);
        let with_selector = selector.is_some()
            || matches!(
                object.type_name.as_str(),
                "action_selector" | "ActionSelector"
            );
        let mut preamble = self.preamble(Prefix::ActionProfile, &object.name, &object.annotations);
        let own_fields = [
            "max_group_size",
            "selector_size_semantics",
            "max_member_weight",
        ];
        preamble.annotations = listed(&object.annotations, &own_fields).0;
        let tables = self.interface.tables().map(|id| &self.program[id]);
        let mut tables: Vec<&str> = tables
            .filter(|t| t.implementation.map(|own| program.action_profile(own)) == Some(id))
            .map(|t| t.name.as_str())
            .collect();
        tables.sort();
        let tables = tables
            .into_iter()
            .map(|t| self.symbols.id(Prefix::Table, t));
        let table_ids = tables.collect();
        self.info.action_profiles.push(ActionProfile {
            preamble: Some(preamble),
            table_ids,
            with_selector,
            size: size(object),
            max_group_size: match (selector, with_selector) {
                (Some(selector), _) => i32::try_from(size(&program[selector])).unwrap_or(i32::MAX),
                (None, true) => number(&object.annotations, "max_group_size").unwrap_or(0),
                (None, false) => 0,
            },
            selector_size_semantics: match with_selector {
                true => semantics(object),
                false => None,
            },
            weights_disallowed: false,
        });
    }
}

fn semantics(object: &ExternObject) -> Option<SelectorSizeSemantics> {
    let said = string(&object.annotations, "selector_size_semantics")?;
    match said.to_ascii_lowercase().as_str() {
        "sum_of_weights" => Some(SelectorSizeSemantics::SumOfWeights(SumOfWeights {})),
        "sum_of_members" => Some(SelectorSizeSemantics::SumOfMembers(SumOfMembers {
            max_member_weight: number(&object.annotations, "max_member_weight").unwrap_or(0),
        })),
        _ => None,
    }
}

/// The first number among the constructor's arguments.
fn size(object: &ExternObject) -> i64 {
    let size = object.args.iter().find_map(|arg| match arg {
        CtorArg::Int(size) => Some(size),
        _ => None,
    });
    size.and_then(|s| i64::try_from(s).ok()).unwrap_or(0)
}

/// The member of `CounterType` or `MeterType` among the constructor's arguments.
fn unit(object: &ExternObject) -> &str {
    let unit = object.args.iter().find_map(|arg| match arg {
        CtorArg::Member(_, member) => Some(member.as_str()),
        _ => None,
    });
    unit.unwrap_or("")
}

fn counter_spec(object: &ExternObject) -> CounterSpec {
    let unit = match unit(object) {
        "packets" | "PACKETS" => counter_spec::Unit::Packets,
        "bytes" | "BYTES" => counter_spec::Unit::Bytes,
        "packets_and_bytes" | "PACKETS_AND_BYTES" => counter_spec::Unit::Both,
        _ => counter_spec::Unit::Unspecified,
    };
    CounterSpec { unit: unit as i32 }
}

fn meter_spec(object: &ExternObject) -> MeterSpec {
    let unit = match unit(object) {
        "packets" | "PACKETS" => meter_spec::Unit::Packets,
        "bytes" | "BYTES" => meter_spec::Unit::Bytes,
        _ => meter_spec::Unit::Unspecified,
    };
    MeterSpec {
        unit: unit as i32,
        r#type: meter_spec::Type::TwoRateThreeColor as i32,
    }
}
