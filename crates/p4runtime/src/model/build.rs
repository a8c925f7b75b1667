//! Binds a P4Info to a program, and reports mismatches.

use super::*;
use p4_info::proto as p4;
use p4_ir::{ActionParam, MatchKind, Program, Scalar, Type, TypeKind, control_plane_name};
use std::collections::BTreeSet;

impl Model {
    /// Binds a P4Info to the program that it describes.
    ///
    /// # Errors
    /// `INVALID_ARGUMENT` with everything in which the program differs.
    pub fn new(p4info: P4Info, program: &Program) -> Outcome<Model> {
        let mut builder = Builder {
            program,
            p4info: &p4info,
            translations: Translations(p4info.type_info.as_ref()),
            faults: Vec::new(),
        };
        let mut model = Model {
            tables: BTreeMap::new(),
            actions: builder.actions(),
            profiles: BTreeMap::new(),
            counters: BTreeMap::new(),
            meters: BTreeMap::new(),
            registers: BTreeMap::new(),
            value_sets: BTreeMap::new(),
            digests: BTreeMap::new(),
            packet_in: None,
            packet_out: None,
            p4info: P4Info::default(),
        };
        builder.check_platform();
        builder.check_ids();
        builder.tables(&mut model);
        builder.profiles(&mut model);
        builder.arrays(&mut model);
        builder.value_sets(&mut model);
        builder.digests(&mut model);
        builder.packet_headers(&mut model);
        if !builder.faults.is_empty() {
            return Err(Fault::invalid(format!(
                "the P4Info does not fit the program: {}",
                list(&builder.faults)
            )));
        }
        model.p4info = p4info;
        Ok(model)
    }
}

struct Builder<'a> {
    program: &'a Program,
    p4info: &'a P4Info,
    translations: Translations<'a>,
    faults: Vec<String>,
}

/// ID and name of a preamble. Zero and empty if there is none, which match nothing.
fn named(preamble: &Option<p4::Preamble>) -> (u32, &str) {
    preamble
        .as_ref()
        .map_or((0, ""), |p| (p.id, p.name.as_str()))
}

/// The encoding of values of a type.
fn shape(program: &Program, ty: &Type) -> Shape {
    match ty.scalar(program) {
        Some(Scalar::Int(width)) => Shape::int(width),
        Some(scalar) => Shape::bits(scalar.width()),
        None => Shape::bits(0),
    }
}

fn meter_type(spec: &Option<p4::MeterSpec>) -> MeterType {
    spec.as_ref().map(p4::MeterSpec::r#type).unwrap_or_default()
}

impl Builder<'_> {
    /// The actions. For an action that no table lists, a client knows at most the name: the program calls it with its
    /// own arguments, which P4Info omits, and it is not in p4c's JSON.
    fn actions(&mut self) -> BTreeMap<u32, ActionModel> {
        let tables = self.p4info.tables.iter();
        let references = tables.flat_map(|table| &table.action_refs);
        let listed: BTreeSet<u32> = references.map(|reference| reference.id).collect();
        let mut actions = BTreeMap::new();
        for action in &self.p4info.actions {
            let (id, name) = named(&action.preamble);
            let Some(found) = self.program.actions.iter().find(|a| a.name == name) else {
                if listed.contains(&id) {
                    self.faults.push(format!("it has no action `{name}`"));
                }
                continue;
            };
            let mut params = Vec::new();
            if listed.contains(&id) {
                params = self.params(name, &found.params, &action.params);
            }
            let name = name.to_string();
            actions.insert(id, ActionModel { name, params });
        }
        actions
    }

    /// The parameters of an action, in the engine's order.
    fn params(
        &mut self,
        action: &str,
        found: &[ActionParam],
        listed: &[p4::action::Param],
    ) -> Vec<ParamModel> {
        let mut params = Vec::new();
        for param in found {
            let name = control_plane_name(&param.name, &param.annotations);
            let Some(listed) = listed.iter().find(|p| p.name == name) else {
                self.faults
                    .push(format!("action `{action}` has a parameter `{name}`"));
                continue;
            };
            let shape = shape(self.program, &param.ty);
            let place = || format!("parameter `{name}` of action `{action}`");
            params.push(ParamModel {
                id: listed.id,
                shape: self.client_shape(&listed.type_name, listed.bitwidth, shape, place),
                name,
            });
        }
        if listed.len() > found.len() {
            let fault = format!("action `{action}` has {} parameters", found.len());
            self.faults.push(fault);
        }
        params
    }

    fn tables(&mut self, model: &mut Model) {
        let direct =
            |preambles: Vec<u32>| move |ids: &[u32]| ids.iter().any(|id| preambles.contains(id));
        let counters = self.p4info.direct_counters.iter();
        let has_counter = direct(counters.map(|c| named(&c.preamble).0).collect());
        let meter_of = |ids: &[u32]| {
            let mut meters = self.p4info.direct_meters.iter();
            let found = meters.find(|meter| ids.contains(&named(&meter.preamble).0))?;
            Some(meter_type(&found.spec))
        };
        for table in &self.p4info.tables {
            let (id, name) = named(&table.preamble);
            let Some(at) = self.program.tables.iter().position(|t| t.name == name) else {
                self.faults.push(format!("it has no table `{name}`"));
                continue;
            };
            let found = &self.program.tables[at];
            let keys = found
                .keys
                .iter()
                .filter(|key| key.kind != MatchKind::Selector);
            let keys = keys.map(|key| (&key.name, &key.ty, &key.kind));
            let fields = self.fields(&format!("table `{name}`"), &table.match_fields, keys);
            let mut actions = Vec::new();
            for reference in &table.action_refs {
                let action = model.actions.get(&reference.id);
                let listed = action.and_then(|action| {
                    let mut listed = found.actions.iter();
                    listed.find(|a| self.program[a.action].name == action.name)
                });
                match listed {
                    Some(listed) => actions.push(ActionUse {
                        id: reference.id,
                        action: listed.action,
                        scope: match reference.scope() {
                            p4::action_ref::Scope::TableAndDefault => Scope::Anywhere,
                            p4::action_ref::Scope::TableOnly => Scope::Entries,
                            p4::action_ref::Scope::DefaultOnly => Scope::Default,
                        },
                    }),
                    None => {
                        let fault = format!("table `{name}` has no action {}", reference.id);
                        self.faults.push(fault);
                    }
                }
            }
            let table = TableModel {
                id,
                name: name.to_string(),
                table: TableId(at as u32),
                fields,
                actions,
                profile: Some(table.implementation_id).filter(|&id| id != 0),
                idle_timeout: found.support_timeout,
                counter: has_counter(&table.direct_resource_ids),
                meter: meter_of(&table.direct_resource_ids),
            };
            model.tables.insert(id, table);
        }
    }

    /// Checks that the device has what the P4Info requires of the platform.
    fn check_platform(&mut self) {
        let package = self.p4info.pkg_info.as_ref();
        let Some(wanted) = package.and_then(|package| package.platform_properties.as_ref()) else {
            return;
        };
        // Groups hold as many replicas as there are ports and instances.
        let groups = i32::from(u16::MAX);
        if wanted.multicast_group_table_size > groups {
            self.faults.push(format!(
                "it needs {} multicast groups, and this target has {groups}",
                wanted.multicast_group_table_size
            ));
        }
    }

    /// Checks that the IDs of each kind of object are unique and not 0.
    fn check_ids(&mut self) {
        fn ids<'a>(all: impl Iterator<Item = &'a Option<p4::Preamble>>) -> Vec<(u32, &'a str)> {
            all.map(named).collect()
        }
        let info = self.p4info;
        let kinds = [
            ids(info.tables.iter().map(|object| &object.preamble)),
            ids(info.actions.iter().map(|object| &object.preamble)),
            ids(info.action_profiles.iter().map(|object| &object.preamble)),
            ids(info.counters.iter().map(|object| &object.preamble)),
            ids(info.direct_counters.iter().map(|object| &object.preamble)),
            ids(info.meters.iter().map(|object| &object.preamble)),
            ids(info.direct_meters.iter().map(|object| &object.preamble)),
            ids(info.registers.iter().map(|object| &object.preamble)),
            ids(info.value_sets.iter().map(|object| &object.preamble)),
            ids(info.digests.iter().map(|object| &object.preamble)),
        ];
        for objects in kinds {
            for (i, &(id, name)) in objects.iter().enumerate() {
                if id == 0 {
                    self.faults
                        .push(format!("`{name}` has the ID 0, which is not valid"));
                } else if let Some((_, other)) = objects[..i].iter().find(|(known, _)| *known == id)
                {
                    self.faults
                        .push(format!("`{name}` has the ID {id} of `{other}`"));
                }
            }
        }
    }

    /// The fields of a table or value set, in the engine's order.
    fn fields<'p>(
        &mut self,
        owner: &str,
        listed: &[p4::MatchField],
        keys: impl Iterator<Item = (&'p String, &'p Type, &'p MatchKind)> + Clone,
    ) -> Vec<FieldModel> {
        if keys.clone().count() != listed.len() {
            let names = list(keys.clone().map(|(name, ..)| format!("`{name}`")));
            self.faults
                .push(format!("{owner} has the match fields {names}"));
            return Vec::new();
        }
        let mut fields = Vec::new();
        for (name, ty, kind) in keys {
            let Some(field) = listed.iter().find(|field| field.name == *name) else {
                self.faults
                    .push(format!("{owner} has a match field `{name}`"));
                continue;
            };
            let place = || format!("{owner}, field `{name}`");
            let declared = shape(self.program, ty);
            let shape = self.client_shape(&field.type_name, field.bitwidth, declared, place);
            let given = match field.r#match {
                Some(p4::match_field::Match::MatchType(kind)) => kind,
                _ => 0,
            };
            use p4::match_field::MatchType;
            let (kind, expected) = match kind {
                MatchKind::Lpm => (Kind::Lpm, MatchType::Lpm),
                MatchKind::Ternary => (Kind::Ternary, MatchType::Ternary),
                MatchKind::Range => (Kind::Range, MatchType::Range),
                MatchKind::Optional => (Kind::Optional, MatchType::Optional),
                _ => (Kind::Exact, MatchType::Exact),
            };
            if given != expected as i32 {
                let expected = expected.as_str_name();
                self.faults
                    .push(format!("{owner} matches `{name}` by {expected}"));
            }
            // Prefixes, masks and bounds are meaningless if the encodings differ.
            if shape != declared && !matches!(kind, Kind::Exact | Kind::Optional) {
                self.faults.push(format!(
                    "{owner} matches `{name}` by {}, and its type is translated, which is possible for EXACT and OPTIONAL",
                    expected.as_str_name()
                ));
            }
            fields.push(FieldModel {
                id: field.id,
                name: name.clone(),
                shape,
                whole: match u32::try_from(field.bitwidth) {
                    Ok(width) if width > shape.width => Shape::bits(width),
                    _ => shape,
                },
                kind,
            });
        }
        fields
    }

    fn profiles(&mut self, model: &mut Model) {
        for profile in &self.p4info.action_profiles {
            let (id, name) = named(&profile.preamble);
            let Some(object) = self.object(name, &["action_profile", "action_selector"]) else {
                continue;
            };
            let mut tables = model.tables.values();
            let table = tables.find(|table| table.profile == Some(id));
            use p4::action_profile::SelectorSizeSemantics::SumOfMembers;
            let max_member_weight = match &profile.selector_size_semantics {
                Some(SumOfMembers(members)) => Some(members.max_member_weight),
                _ => None,
            };
            let profile = ProfileModel {
                id,
                name: name.to_string(),
                object,
                max_group_size: profile.max_group_size,
                size_is_weights: max_member_weight.is_none(),
                max_member_weight: max_member_weight.unwrap_or(0),
                weights_disallowed: profile.weights_disallowed,
                table: table.map(|table| table.id),
            };
            model.profiles.insert(id, profile);
        }
        for table in model.tables.values() {
            let id = table.profile.unwrap_or(0);
            if id != 0 && !model.profiles.contains_key(&id) {
                let fault = format!(
                    "table `{}` is implemented by {id}, which is not an action profile",
                    table.name
                );
                self.faults.push(fault);
            }
        }
    }

    fn arrays(&mut self, model: &mut Model) {
        for counter in &self.p4info.counters {
            if let Some(array) = self.array(&counter.preamble, counter.size, "counter") {
                model.counters.insert(array.id, array);
            }
        }
        for meter in &self.p4info.meters {
            if let Some(array) = self.array(&meter.preamble, meter.size, "meter") {
                let ty = meter_type(&meter.spec);
                model.meters.insert(array.id, (array, ty));
            }
        }
        for register in &self.p4info.registers {
            let size = i64::from(register.size);
            let Some(array) = self.array(&register.preamble, size, "register") else {
                continue;
            };
            let Some(declared) = self.program[array.object].type_args.first() else {
                continue;
            };
            let cells = shape(self.program, declared);
            let spec = register.type_spec.as_ref();
            let named = match spec.and_then(|spec| spec.type_spec.as_ref()) {
                Some(p4::p4_data_type_spec::TypeSpec::NewType(named)) => Some(named),
                _ => None,
            };
            let translated = self.translations.of(named, cells);
            let ty = match translated {
                Some(shape) => Ok(DataType::Bits(shape)),
                None => DataType::new(spec, self.p4info.type_info.as_ref()),
            };
            match ty {
                Ok(DataType::Bits(given)) if translated.is_none() && given != cells => {
                    self.faults.push(format!(
                        "register `{}` holds {} bits",
                        array.name, cells.width
                    ));
                }
                ty => match ty.and_then(|ty| CellType::new(ty, self.program, declared)) {
                    Ok(ty) => {
                        model.registers.insert(array.id, (array, ty));
                    }
                    Err(fault) => self
                        .faults
                        .push(format!("register `{}`: {}", array.name, fault.message)),
                },
            }
        }
    }

    fn array(
        &mut self,
        preamble: &Option<p4::Preamble>,
        size: i64,
        kind: &str,
    ) -> Option<ArrayModel> {
        let (id, name) = named(preamble);
        let object = self.object(name, &[kind])?;
        let declared = match self.program[object].args.first() {
            Some(p4_ir::CtorArg::Int(size)) => u64::try_from(size).unwrap_or(0),
            _ => 0,
        };
        if u64::try_from(size) != Ok(declared) {
            self.faults
                .push(format!("{kind} `{name}` has {declared} cells, not {size}"));
        }
        Some(ArrayModel {
            id,
            name: name.to_string(),
            object,
            size: declared,
        })
    }

    fn object(&mut self, name: &str, kinds: &[&str]) -> Option<ExternId> {
        let mut all = self.program.externs.iter();
        // Architectures name the same kinds of objects differently.
        let is_of = |object: &p4_ir::ExternObject| {
            let prefix = p4_info::prefix(&object.type_name);
            kinds.iter().any(|kind| p4_info::prefix(kind) == prefix)
        };
        let found = all.position(|o| o.name == name && is_of(o));
        if found.is_none() {
            self.faults
                .push(format!("it has no {} `{name}`", kinds.join(" or ")));
        }
        found.map(|at| ExternId(at as u32))
    }

    fn value_sets(&mut self, model: &mut Model) {
        for set in &self.p4info.value_sets {
            let (id, name) = named(&set.preamble);
            let Some(at) = self.program.value_sets.iter().position(|s| s.name == name) else {
                self.faults.push(format!("it has no value set `{name}`"));
                continue;
            };
            let found = &self.program.value_sets[at];
            let names = self.value_set_names(found);
            let keys = names.iter().zip(&found.fields);
            let keys = keys.map(|(name, (_, ty, kind))| (name, ty, kind));
            // A single component has a field with an arbitrary name. For an enum, p4c also lists the members.
            let only = match (&set.r#match[..], &names[..]) {
                ([given, ..], [name]) => Some(p4::MatchField {
                    name: name.clone(),
                    ..given.clone()
                }),
                _ => None,
            };
            let listed = only.as_ref().map_or(&set.r#match[..], std::slice::from_ref);
            let fields = self.fields(&format!("value set `{name}`"), listed, keys);
            let set = ValueSetModel {
                name: name.to_string(),
                set: ValueSetId(at as u32),
                size: found.size,
                fields,
            };
            model.value_sets.insert(id, set);
        }
    }

    /// The control-plane names of a value set's components, in the engine's order.
    fn value_set_names(&self, set: &p4_ir::ValueSet) -> Vec<String> {
        let members = match &set.element {
            Type::Named(id) => match &self.program[*id].kind {
                TypeKind::Struct(members) => &members[..],
                _ => &[],
            },
            _ => &[],
        };
        let names = set.fields.iter().map(|(name, ..)| {
            let member = members.iter().find(|member| member.name == *name);
            member.map_or(name.clone(), |m| control_plane_name(name, &m.annotations))
        });
        names.collect()
    }

    fn digests(&mut self, model: &mut Model) {
        let passed = p4_info::digests(self.program);
        for digest in &self.p4info.digests {
            let (id, name) = named(&digest.preamble);
            match DataType::new(digest.type_spec.as_ref(), self.p4info.type_info.as_ref()) {
                Ok(data) => {
                    let found = passed.iter().find(|(passed, _)| passed == name);
                    let digest = DigestModel {
                        name: name.to_string(),
                        ty: found.map(|(_, ty)| ty.clone()),
                        data,
                    };
                    model.digests.insert(id, digest);
                }
                Err(fault) => self
                    .faults
                    .push(format!("digest `{name}`: {}", fault.message)),
            }
        }
    }

    fn packet_headers(&mut self, model: &mut Model) {
        for header in &self.p4info.controller_packet_metadata {
            let (_, name) = named(&header.preamble);
            let place = match name {
                "packet_in" => &mut model.packet_in,
                "packet_out" => &mut model.packet_out,
                _ => continue,
            };
            match PacketHeader::new(self.program, name, &header.metadata, self.translations) {
                Ok(found) => *place = Some(found),
                Err(fault) => self.faults.push(fault.message),
            }
        }
    }

    /// How a client encodes values that P4Info lists with this type and width.
    fn client_shape(
        &mut self,
        type_name: &Option<p4::P4NamedType>,
        bitwidth: i32,
        shape: Shape,
        place: impl Fn() -> String,
    ) -> Shape {
        let seen = self.translations.shape(type_name.as_ref(), bitwidth, shape);
        seen.unwrap_or_else(|differs| {
            self.faults.push(format!("{} {differs}", place()));
            shape
        })
    }
}
