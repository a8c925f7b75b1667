//! Registers, counters, meters, action profiles, value sets.

use super::tables::{check_meter, check_weight, list};
use crate::cells::{MeterCell, MeterWrite};
use crate::draft::CellWrite;
use crate::filter::{Filter, FilterConfig};
use crate::object::{Object, Profile};
use crate::table::{Reference, prepare};
use crate::value_set::ValueSetState;
use crate::{
    ControlError, CounterData, Entry, Group, Machine, Match, Member, MeterConfig, RegisterCells,
};
use num_bigint::BigUint;
use p4_ir::{ExternId, TableId, ValueSetId};
use std::borrow::Cow;

impl Machine {
    /// Reads a cell of a register. For a register of structs, the number is the concatenation of the fields, the first
    /// field most significant.
    pub fn register_read(&self, register: ExternId, index: u64) -> Result<BigUint, ControlError> {
        let Object::Register(r) = self.object_ref(register)? else {
            return Err(self.not_a(register, "register"));
        };
        Ok(r.number(self.check_index(register, index, r.size)?))
    }

    /// Sets a cell of a register. The number has the format of [`register_read`](Self::register_read).
    pub fn register_write(
        &mut self,
        register: ExternId,
        index: u64,
        value: &BigUint,
    ) -> Result<(), ControlError> {
        let Object::Register(r) = self.object_ref(register)? else {
            return Err(self.not_a(register, "register"));
        };
        let at = self.check_index(register, index, r.size)? * r.limbs;
        if value.bits() > r.width as u64 {
            return Err(ControlError::Invalid {
                at: self.named(register),
                expected: format!("a value of {} bits", r.width),
                found: format!("{value:#x}"),
            });
        }
        let words = r.cell_of(value).into_iter();
        for (word, at) in words.zip(at as u32..) {
            self.write_or_draft(CellWrite::Word(register.0, at, word));
        }
        Ok(())
    }

    /// All cells of a register, without [deferred writes](Self::settle) of a batch. `None` if the object is not a
    /// register.
    pub fn register_cells(&self, register: ExternId) -> Option<RegisterCells<'_>> {
        match self.objects.get(register.0 as usize)? {
            Object::Register(r) => Some(RegisterCells {
                limbs: r.limbs,
                cells: r.cells.stored(),
            }),
            _ => None,
        }
    }

    /// All cells of a counter, without [deferred writes](Self::settle) of a batch. `None` if the object is not a
    /// counter, or if its cells are in the entries of a table.
    pub fn counter_cells(&self, counter: ExternId) -> Option<&[CounterData]> {
        match self.objects.get(counter.0 as usize)? {
            Object::Counter(c) => Some(c.cells.stored()),
            _ => None,
        }
    }

    /// The cells of a table's direct counter: those of the entries in the order of insertion, then the cell of the
    /// default action. `None` if the table has no direct counter.
    pub fn direct_counter_cells(
        &self,
        table: TableId,
    ) -> Option<impl Iterator<Item = (Option<&Entry>, CounterData)>> {
        let state = self.tables.get(table.0 as usize)?;
        state.objects.counter?;
        let entries = state.in_order();
        let counter = |of| state.cells(of).counter;
        let entries = entries.map(move |(id, row)| (Some(&row.entry), counter(Some(id))));
        Some(entries.chain([(None, counter(None))]))
    }

    /// The number of cells of a register, counter or meter.
    pub fn object_size(&self, object: ExternId) -> Result<u64, ControlError> {
        Ok(match self.object_ref(object)? {
            Object::Register(r) => r.size,
            Object::Counter(c) => c.cells.size() as u64,
            Object::Meter(m) => m.cells.size() as u64,
            _ => return Err(self.not_a(object, "register, counter or meter")),
        })
    }

    /// A cell of a counter.
    pub fn counter_read(&self, counter: ExternId, index: u64) -> Result<CounterData, ControlError> {
        let Object::Counter(c) = self.object_ref(counter)? else {
            return Err(self.not_a(counter, "counter"));
        };
        let at = self.check_index(counter, index, c.cells.size() as u64)?;
        Ok(*c.cells.get(at).expect("the index is checked"))
    }

    /// Sets a cell of a counter.
    pub fn counter_write(
        &mut self,
        counter: ExternId,
        index: u64,
        data: CounterData,
    ) -> Result<(), ControlError> {
        self.counter_read(counter, index)?;
        self.write_or_draft(CellWrite::Count(counter.0, index as u32, data));
        Ok(())
    }

    /// The configuration of a cell. `None` if it is not configured, so that every packet is green.
    pub fn meter_read(
        &self,
        meter: ExternId,
        index: u64,
    ) -> Result<Option<MeterConfig>, ControlError> {
        let marker = self.meter_cell(meter, index)?.marker;
        Ok(marker.map(|marker| marker.config))
    }

    /// Configures a cell of a meter, with full buckets.
    pub fn meter_write(
        &mut self,
        meter: ExternId,
        index: u64,
        config: Option<MeterConfig>,
    ) -> Result<(), ControlError> {
        let at = self.named(meter);
        let marker = config.map(|config| check_meter(&at, config)).transpose()?;
        self.meter_cell(meter, index)?;
        let write = MeterWrite {
            marker: Some(marker.map(Box::new)),
            ..MeterWrite::default()
        };
        self.write_or_draft(CellWrite::Meter(meter.0, index as u32, write));
        Ok(())
    }

    /// The number of packets that a cell has marked green, yellow and red.
    pub fn meter_colours(
        &self,
        meter: ExternId,
        index: u64,
    ) -> Result<[CounterData; 3], ControlError> {
        Ok(self.meter_cell(meter, index)?.colours)
    }

    /// Resets the colour counters of a cell.
    pub fn meter_clear_colours(&mut self, meter: ExternId, index: u64) -> Result<(), ControlError> {
        self.meter_cell(meter, index)?;
        let write = MeterWrite {
            clears_colours: true,
            ..MeterWrite::default()
        };
        self.write_or_draft(CellWrite::Meter(meter.0, index as u32, write));
        Ok(())
    }

    fn meter_cell(&self, meter: ExternId, index: u64) -> Result<Cow<'_, MeterCell>, ControlError> {
        let Object::Meter(m) = self.object_ref(meter)? else {
            return Err(self.not_a(meter, "meter"));
        };
        let at = self.check_index(meter, index, m.cells.size() as u64)?;
        Ok(m.cells.get(at).expect("the index is checked"))
    }

    // -- filters ------------------------------------------------------------------------------

    /// Configures a cell of a low-pass filter or of random early drops, and removes its samples. With `None`, the
    /// filter returns the sample itself and nothing is dropped.
    pub fn filter_write(
        &mut self,
        filter: ExternId,
        index: u64,
        config: Option<FilterConfig>,
    ) -> Result<(), ControlError> {
        let Object::Filters(kind, cells) = self.object_ref(filter)? else {
            return Err(self.not_a(filter, "low-pass filter or random early drop"));
        };
        let (kind, at) = (*kind, self.check_index(filter, index, cells.len() as u64)?);
        if let Some(config) = config {
            config.check(kind, || self.named(filter))?;
        }
        if let Object::Filters(_, cells) = &mut self.objects[filter.0 as usize] {
            cells[at] = Filter::new(config);
        }
        Ok(())
    }

    // -- action profiles ----------------------------------------------------------------------

    /// Adds a member to an action profile.
    pub fn member_insert(&mut self, profile: ExternId, member: Member) -> Result<(), ControlError> {
        let state = self.profile(profile)?;
        let at = self.named(profile);
        if state.members.contains_key(&member.id) {
            let what = format!("a member {}", member.id);
            return Err(ControlError::Exists { at, what });
        }
        if state.members.len() as u64 >= state.size {
            return Err(ControlError::Full {
                at,
                size: state.size,
            });
        }
        self.put_member(profile, member)
    }

    /// Changes a member of an action profile.
    pub fn member_modify(&mut self, profile: ExternId, member: Member) -> Result<(), ControlError> {
        self.check_member(profile, member.id)?;
        self.put_member(profile, member)
    }

    /// Removes a member that is not in use.
    pub fn member_delete(&mut self, profile: ExternId, id: u32) -> Result<(), ControlError> {
        self.check_member(profile, id)?;
        let mut groups = self.profile(profile)?.groups.iter();
        let group = groups.find(|(_, members)| members.iter().any(|(member, _)| *member == id));
        let by = group.map(|(group, _)| format!("group {group}"));
        let by = by.or_else(|| self.user_of(profile, Reference::Member(id)));
        if let Some(by) = by {
            let what = format!("member {id}");
            return Err(ControlError::InUse {
                at: self.named(profile),
                what,
                by,
            });
        }
        self.profile_mut(profile)?.members.remove(&id);
        Ok(())
    }

    /// All members, by number.
    pub fn members(&self, profile: ExternId) -> Result<Vec<Member>, ControlError> {
        self.members_from(profile, 0, usize::MAX)
    }

    /// At most `most` members, from number `from` on.
    pub fn members_from(
        &self,
        profile: ExternId,
        from: u32,
        most: usize,
    ) -> Result<Vec<Member>, ControlError> {
        let members = self.profile(profile)?.members.range(from..);
        Ok(members
            .take(most)
            .map(|(&id, (action, _))| Member {
                id,
                action: action.clone(),
            })
            .collect())
    }

    /// Adds a group to an action selector.
    pub fn group_insert(&mut self, selector: ExternId, group: Group) -> Result<(), ControlError> {
        let state = self.profile(selector)?;
        let at = self.named(selector);
        if state.algorithm.is_none() {
            return Err(self.not_a(selector, "action_selector"));
        }
        if state.groups.contains_key(&group.id) {
            let what = format!("a group {}", group.id);
            return Err(ControlError::Exists { at, what });
        }
        self.put_group(selector, group)
    }

    /// Changes a group of an action selector.
    pub fn group_modify(&mut self, selector: ExternId, group: Group) -> Result<(), ControlError> {
        self.check_group(selector, group.id)?;
        self.put_group(selector, group)
    }

    /// Removes a group that is not in use.
    pub fn group_delete(&mut self, selector: ExternId, id: u32) -> Result<(), ControlError> {
        self.check_group(selector, id)?;
        if let Some(by) = self.user_of(selector, Reference::Group(id)) {
            let what = format!("group {id}");
            return Err(ControlError::InUse {
                at: self.named(selector),
                what,
                by,
            });
        }
        let state = self.profile_mut(selector)?;
        state.groups.remove(&id);
        state.choices.remove(&id);
        Ok(())
    }

    /// All groups, by number.
    pub fn groups(&self, selector: ExternId) -> Result<Vec<Group>, ControlError> {
        let groups = self.profile(selector)?.groups.iter();
        Ok(groups
            .map(|(&id, members)| Group {
                id,
                members: members.clone(),
            })
            .collect())
    }

    fn put_member(&mut self, profile: ExternId, member: Member) -> Result<(), ControlError> {
        let program = self.program();
        let tables = program.tables.iter();
        let mut listing = tables.enumerate().filter(|(_, t)| {
            t.implementation.map(|id| program.action_profile(id)) == Some(profile)
        });
        let fits = listing.find(|(_, table)| {
            table
                .actions
                .iter()
                .any(|listed| listed.action == member.action.action)
        });
        let Some((table, _)) = fits else {
            return Err(ControlError::Invalid {
                at: self.named(profile),
                expected: "an action of a table that it implements".into(),
                found: format!("action number {}", member.action.action.0),
            });
        };
        self.check_args(&member.action)?;
        let prepared = prepare(self.program(), p4_ir::TableId(table as u32), &member.action);
        let state = self.profile_mut(profile)?;
        state.members.insert(member.id, (member.action, prepared));
        Ok(())
    }

    fn put_group(&mut self, selector: ExternId, group: Group) -> Result<(), ControlError> {
        let at = self.named(selector);
        for &(member, weight) in &group.members {
            self.check_member(selector, member)?;
            check_weight(&at, weight)?;
        }
        let mut members = group.members.clone();
        members.sort_unstable();
        let choices = members
            .iter()
            .flat_map(|&(member, weight)| std::iter::repeat_n(member, weight as usize))
            .collect();
        let state = self.profile_mut(selector)?;
        state.choices.insert(group.id, choices);
        state.groups.insert(group.id, group.members);
        Ok(())
    }

    fn check_member(&self, profile: ExternId, id: u32) -> Result<(), ControlError> {
        let members = &self.profile(profile)?.members;
        if members.contains_key(&id) {
            return Ok(());
        }
        let there: Vec<u32> = members.keys().copied().collect();
        Err(ControlError::UnknownId {
            kind: "member",
            id: id as u64,
            valid: list(&there),
        })
    }

    fn check_group(&self, selector: ExternId, id: u32) -> Result<(), ControlError> {
        let groups = &self.profile(selector)?.groups;
        if groups.contains_key(&id) {
            return Ok(());
        }
        let there: Vec<u32> = groups.keys().copied().collect();
        Err(ControlError::UnknownId {
            kind: "group",
            id: id as u64,
            valid: list(&there),
        })
    }

    // -- value sets ---------------------------------------------------------------------------

    /// Sets the members of a value set, each with one match per field.
    pub fn value_set_write(
        &mut self,
        set: ValueSetId,
        members: Vec<Vec<Match>>,
    ) -> Result<(), ControlError> {
        let members = self.set_of(set)?.check(members)?;
        self.write_or_draft(CellWrite::ValueSet(set.0, Box::new(members)));
        Ok(())
    }

    /// The members of a value set.
    pub fn value_set_read(&self, set: ValueSetId) -> Result<Vec<Vec<Match>>, ControlError> {
        Ok(self.set_of(set)?.written().to_vec())
    }

    fn set_of(&self, set: ValueSetId) -> Result<&ValueSetState, ControlError> {
        let sets = &self.value_sets;
        let found = sets.get(set.0 as usize);
        found.ok_or_else(|| ControlError::UnknownId {
            kind: "value set",
            id: set.0 as u64,
            valid: format!("0 to {}", sets.len() as i64 - 1),
        })
    }

    // -- checks -------------------------------------------------------------------------------

    fn object_ref(&self, object: ExternId) -> Result<&Object, ControlError> {
        let objects = &self.objects;
        objects
            .get(object.0 as usize)
            .ok_or_else(|| ControlError::UnknownId {
                kind: "extern object",
                id: object.0 as u64,
                valid: format!("0 to {}", objects.len() as i64 - 1),
            })
    }

    fn profile(&self, profile: ExternId) -> Result<&Profile, ControlError> {
        self.object_ref(profile)?;
        let state = self.profile_view(profile.0);
        state.ok_or_else(|| self.not_a(profile, "action_profile or action_selector"))
    }

    fn profile_mut(&mut self, profile: ExternId) -> Result<&mut Profile, ControlError> {
        self.profile(profile)?;
        self.forget_recent(profile.0);
        Ok(self.profile_view_mut(profile.0).expect("checked above"))
    }

    fn named(&self, object: ExternId) -> String {
        let object = &self.program()[object];
        format!("{} `{}`", object.type_name, object.name)
    }

    fn not_a(&self, object: ExternId, expected: &str) -> ControlError {
        let definition = &self.program()[object];
        ControlError::Invalid {
            at: format!("`{}`", definition.name),
            expected: format!("a {expected}"),
            found: format!("a {}", definition.type_name),
        }
    }

    fn check_index(&self, object: ExternId, index: u64, size: u64) -> Result<usize, ControlError> {
        if index < size {
            return Ok(index as usize);
        }
        Err(ControlError::Invalid {
            at: self.named(object),
            expected: format!("an index below {size}"),
            found: index.to_string(),
        })
    }
}
