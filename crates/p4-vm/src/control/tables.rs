//! Entries and default actions.

use crate::cells::{Marker, MeterWrite};
use crate::draft::CellWrite;
use crate::filter::{Filter, FilterConfig};
use crate::table::{Direct, DirectWrite, Origin, Outcome, Reference, TableState, prepare};
use crate::{
    ActionSpec, ControlError, CounterData, DirectOf, Entry, EntryAction, Machine, Match,
    MeterConfig,
};
use p4_ir::{ExternId, TableId};
use std::borrow::Cow;
use units::Instant;

impl Machine {
    /// Inserts an entry. Fails if there is an entry with the same matches and priority.
    pub fn insert(&mut self, table: TableId, entry: Entry) -> Result<(), ControlError> {
        let now = self.now;
        let outcome = self.check_entry(table, &entry)?;
        let id = self
            .table_mut(table)?
            .insert(entry, outcome, Origin::Control)?;
        self.tables[table.0 as usize].renew(id, now);
        Ok(())
    }

    /// Changes the action of an existing entry.
    pub fn modify(&mut self, table: TableId, entry: Entry) -> Result<(), ControlError> {
        let outcome = self.check_entry(table, &entry)?;
        self.table_mut(table)?.modify(entry, outcome)
    }

    /// Removes the entry with these matches and this priority.
    pub fn delete(
        &mut self,
        table: TableId,
        matches: &[Match],
        priority: u32,
    ) -> Result<(), ControlError> {
        self.check_not_const(table)?;
        self.table_mut(table)?.delete(matches, priority)
    }

    /// The entry with these matches and this priority.
    pub fn read(
        &self,
        table: TableId,
        matches: &[Match],
        priority: u32,
    ) -> Result<Entry, ControlError> {
        let table = self.table_ref(table)?;
        Ok(table.row(table.find(matches, priority)?).entry.clone())
    }

    /// All entries, in the order in which they were inserted, those of the source first.
    pub fn entries(&self, table: TableId) -> Result<Vec<Entry>, ControlError> {
        let rows = self.table_ref(table)?.in_order();
        Ok(rows.map(|(_, row)| row.entry.clone()).collect())
    }

    /// At most `most` entries, each with its sequence number, from number `from` on. Sequence numbers increase and may
    /// have gaps.
    pub fn entries_from(
        &self,
        table: TableId,
        from: u64,
        most: usize,
    ) -> Result<Vec<(u64, Entry)>, ControlError> {
        let rows = self.table_ref(table)?.in_order_from(from).take(most);
        Ok(rows
            .map(|(number, row)| (number, row.entry.clone()))
            .collect())
    }

    /// Whether the source declares an entry as constant, so that it can be neither changed nor removed.
    pub fn is_constant(
        &self,
        table: TableId,
        matches: &[Match],
        priority: u32,
    ) -> Result<bool, ControlError> {
        let state = self.table_ref(table)?;
        let row = state.row(state.find(matches, priority)?);
        Ok(row.is_constant() || self.program()[table].const_entries)
    }

    /// Sets the default action, which runs on a miss.
    pub fn set_default(&mut self, table: TableId, action: EntryAction) -> Result<(), ControlError> {
        let definition = self.check_table(table)?;
        if definition.const_default {
            return Err(ControlError::Constant {
                at: format!("table `{}`", definition.name),
                what: "the default action".into(),
            });
        }
        let outcome = self.check_action(table, &action, "tableonly")?;
        self.table_mut(table)?.set_default(outcome, action);
        Ok(())
    }

    /// Resets the default action, and its direct counter and meter, to the program's.
    pub fn reset_default(&mut self, table: TableId) -> Result<(), ControlError> {
        let definition = self.check_table(table)?;
        let call = &definition.default_action;
        let action = definition.actions[call.action as usize].action;
        let spec = ActionSpec {
            action,
            args: call.args.clone(),
        };
        let outcome = Outcome::Run(prepare(self.program(), table, &spec));
        let state = self.table_mut(table)?;
        state.set_default(outcome, EntryAction::Run(spec));
        let write = DirectWrite {
            first: Some(Box::new(self.tables[table.0 as usize].objects.cells())),
            ..DirectWrite::default()
        };
        self.write_or_draft(CellWrite::Direct(table.0, None, write));
        Ok(())
    }

    /// The default action, which runs on a miss.
    pub fn default_action(&self, table: TableId) -> Result<EntryAction, ControlError> {
        Ok(self.table_ref(table)?.default_action().clone())
    }

    /// When an entry was last hit, or inserted if it was never hit, in tables with `support_timeout`.
    pub fn last_hit(
        &self,
        table: TableId,
        matches: &[Match],
        priority: u32,
    ) -> Result<Instant, ControlError> {
        let id = self.table_ref(table)?.find(matches, priority)?;
        Ok(self.tables[table.0 as usize].last_hit(id))
    }

    /// The direct counter of an entry, or of the default.
    pub fn direct_counter_read(
        &self,
        table: TableId,
        of: DirectOf<'_>,
    ) -> Result<CounterData, ControlError> {
        if self.table_ref(table)?.objects.counter.is_none() {
            return Err(self.has_none(table, "direct counter"));
        }
        Ok(self.direct(table, of)?.counter)
    }

    /// Sets the direct counter of an entry, or of the default.
    pub fn direct_counter_write(
        &mut self,
        table: TableId,
        of: DirectOf<'_>,
        data: CounterData,
    ) -> Result<(), ControlError> {
        self.direct_counter_read(table, of)?;
        let of = self.table_ref(table)?.numbered(of)?;
        let write = DirectWrite {
            counter: Some(data),
            ..DirectWrite::default()
        };
        self.write_or_draft(CellWrite::Direct(table.0, of, write));
        Ok(())
    }

    /// The direct meter of an entry or of the default. `None` if it is not configured, so that every packet is green.
    pub fn direct_meter_read(
        &self,
        table: TableId,
        of: DirectOf<'_>,
    ) -> Result<Option<MeterConfig>, ControlError> {
        let marker = self.direct_meter(table, of)?.meter.marker;
        Ok(marker.map(|marker| marker.config))
    }

    /// Configures the direct meter of an entry or of the default, with full buckets.
    pub fn direct_meter_write(
        &mut self,
        table: TableId,
        of: DirectOf<'_>,
        config: Option<MeterConfig>,
    ) -> Result<(), ControlError> {
        self.direct_meter(table, of)?;
        let at = format!("direct meter of table `{}`", self.program()[table].name);
        let marker = config.map(|config| check_meter(&at, config)).transpose()?;
        let of = self.table_ref(table)?.numbered(of)?;
        let write = DirectWrite {
            meter: MeterWrite {
                marker: Some(marker.map(Box::new)),
                ..MeterWrite::default()
            },
            ..DirectWrite::default()
        };
        self.write_or_draft(CellWrite::Direct(table.0, of, write));
        Ok(())
    }

    /// The number of packets that the direct meter of an entry or of the default has marked green, yellow and red.
    pub fn direct_meter_colours(
        &self,
        table: TableId,
        of: DirectOf<'_>,
    ) -> Result<[CounterData; 3], ControlError> {
        Ok(self.direct_meter(table, of)?.meter.colours)
    }

    /// Resets the colour counters of a direct meter.
    pub fn direct_meter_clear_colours(
        &mut self,
        table: TableId,
        of: DirectOf<'_>,
    ) -> Result<(), ControlError> {
        self.direct_meter(table, of)?;
        let of = self.table_ref(table)?.numbered(of)?;
        let write = DirectWrite {
            meter: MeterWrite {
                clears_colours: true,
                ..MeterWrite::default()
            },
            ..DirectWrite::default()
        };
        self.write_or_draft(CellWrite::Direct(table.0, of, write));
        Ok(())
    }

    fn direct_meter(
        &self,
        table: TableId,
        of: DirectOf<'_>,
    ) -> Result<Cow<'_, Direct>, ControlError> {
        if self.table_ref(table)?.objects.meter.is_none() {
            return Err(self.has_none(table, "direct meter"));
        }
        self.direct(table, of)
    }

    /// The cells of an entry, or of the default.
    fn direct(&self, table: TableId, of: DirectOf<'_>) -> Result<Cow<'_, Direct>, ControlError> {
        let of = self.table_ref(table)?.numbered(of)?;
        Ok(self.tables[table.0 as usize].cells(of))
    }

    /// Configures the direct filter of an entry or of the default, like [`filter_write`](Self::filter_write).
    pub fn direct_filter_write(
        &mut self,
        table: TableId,
        of: DirectOf<'_>,
        config: Option<FilterConfig>,
    ) -> Result<(), ControlError> {
        let Some(kind) = self.table_ref(table)?.objects.filter else {
            return Err(self.has_none(table, "direct filter"));
        };
        if let Some(config) = config {
            let name = || format!("direct filter of table `{}`", self.program()[table].name);
            config.check(kind, name)?;
        }
        let of = self.table_ref(table)?.numbered(of)?;
        self.tables[table.0 as usize].cells_mut(of).filter = Filter::new(config);
        Ok(())
    }

    // -- checks -------------------------------------------------------------------------------

    pub(crate) fn check_table(&self, table: TableId) -> Result<&p4_ir::Table, ControlError> {
        let tables = &self.program().tables;
        tables
            .get(table.0 as usize)
            .ok_or_else(|| ControlError::UnknownId {
                kind: "table",
                id: table.0 as u64,
                valid: format!("0 to {}", tables.len() as i64 - 1),
            })
    }

    pub(crate) fn table_ref(&self, table: TableId) -> Result<&TableState, ControlError> {
        self.check_table(table)?;
        Ok(self.view(table.0))
    }

    fn table_mut(&mut self, table: TableId) -> Result<&mut TableState, ControlError> {
        self.check_table(table)?;
        Ok(self.view_mut(table.0))
    }

    fn has_none(&self, table: TableId, what: &str) -> ControlError {
        ControlError::NotFound {
            at: format!("table `{}`", self.program()[table].name),
            what: what.into(),
        }
    }

    fn check_not_const(&self, table: TableId) -> Result<(), ControlError> {
        let definition = self.check_table(table)?;
        if !definition.const_entries {
            return Ok(());
        }
        Err(ControlError::Constant {
            at: format!("table `{}`", definition.name),
            what: "its entries".into(),
        })
    }

    fn check_entry(&self, table: TableId, entry: &Entry) -> Result<Outcome, ControlError> {
        self.check_not_const(table)?;
        self.check_action(table, &entry.action, "defaultonly")
    }

    /// Checks and prepares the action of an entry, or of a miss if `banned` is "tableonly".
    fn check_action(
        &self,
        table: TableId,
        action: &EntryAction,
        banned: &str,
    ) -> Result<Outcome, ControlError> {
        let definition = self.check_table(table)?;
        let at = || format!("table `{}`", definition.name);
        let invalid = |expected: &str, found: &str| ControlError::Invalid {
            at: at(),
            expected: expected.into(),
            found: found.into(),
        };
        // A miss may run its own action even if entries refer to members.
        let direct_allowed = definition.implementation.is_none() || banned == "tableonly";
        if let EntryAction::Run(spec) = action {
            if !direct_allowed {
                let expected = "a member, a group or a one-shot group, as it has an action profile";
                return Err(invalid(expected, "an action"));
            }
            self.check_spec(table, spec, banned)?;
            return Ok(Outcome::Run(prepare(self.program(), table, spec)));
        }
        let profile = definition.implementation;
        let Some(id) = profile.map(|id| self.program().action_profile(id)) else {
            let expected = "an action, as it has no action profile";
            return Err(invalid(expected, "a member or a group"));
        };
        let Some(profile) = self.profile_view(id.0) else {
            return Err(invalid(
                "an action_profile or action_selector",
                "another object",
            ));
        };
        let unknown = |kind, id: u32, there: Vec<u32>| ControlError::UnknownId {
            kind,
            id: id as u64,
            valid: list(&there),
        };
        match action {
            EntryAction::Run(_) => unreachable!("handled above"),
            EntryAction::Member(id) if profile.members.contains_key(id) => Ok(Outcome::Member(*id)),
            EntryAction::Member(id) => {
                let there = profile.members.keys().copied().collect();
                Err(unknown("member", *id, there))
            }
            EntryAction::Group(id) if profile.groups.contains_key(id) => Ok(Outcome::Group(*id)),
            EntryAction::Group(id) => {
                let there = profile.groups.keys().copied().collect();
                Err(unknown("group", *id, there))
            }
            EntryAction::OneShot(choices) => {
                if profile.algorithm.is_none() {
                    return Err(invalid(
                        "a member, as it has no action selector",
                        "a one-shot group",
                    ));
                }
                let mut prepared = Vec::new();
                for (spec, weight) in choices {
                    self.check_spec(table, spec, banned)?;
                    check_weight(&at(), *weight)?;
                    let choice = prepare(self.program(), table, spec);
                    prepared.extend(std::iter::repeat_n(choice, *weight as usize));
                }
                Ok(Outcome::OneShot(prepared))
            }
        }
    }

    fn check_spec(
        &self,
        table: TableId,
        spec: &ActionSpec,
        banned: &str,
    ) -> Result<(), ControlError> {
        let program = self.program();
        let definition = &program[table];
        let names = definition
            .actions
            .iter()
            .map(|a| program[a.action].name.clone());
        let Some(listed) = definition.actions.iter().find(|a| a.action == spec.action) else {
            let name = program.actions.get(spec.action.0 as usize);
            return Err(ControlError::UnknownName {
                kind: "action of this table",
                name: name.map_or_else(|| format!("number {}", spec.action.0), |a| a.name.clone()),
                valid: names.collect(),
            });
        };
        if listed.annotations.iter().any(|a| a.name == banned) {
            let role = if banned == "defaultonly" {
                "in entries"
            } else {
                "as default"
            };
            return Err(ControlError::Invalid {
                at: format!("table `{}`", definition.name),
                expected: format!("an action that may be used {role}"),
                found: format!("`{}`, which is @{banned}", program[spec.action].name),
            });
        }
        self.check_args(spec)
    }

    /// Checks an action's data.
    pub(crate) fn check_args(&self, spec: &ActionSpec) -> Result<(), ControlError> {
        let program = self.program();
        let action = &program[spec.action];
        if spec.args.len() != action.params.len() {
            let names: Vec<_> = action
                .params
                .iter()
                .map(|param| param.name.as_str())
                .collect();
            return Err(ControlError::Invalid {
                at: format!("action `{}`", action.name),
                expected: format!("{} values ({})", names.len(), names.join(", ")),
                found: spec.args.len().to_string(),
            });
        }
        for (param, value) in action.params.iter().zip(&spec.args) {
            let width = param.ty.scalar(program).map_or(0, |scalar| scalar.width());
            if value.bits() > width as u64 {
                return Err(ControlError::Invalid {
                    at: format!("action `{}`, parameter `{}`", action.name, param.name),
                    expected: format!("a value of {width} bits"),
                    found: format!("{value:#x}"),
                });
            }
        }
        Ok(())
    }

    /// Finds a table whose entries refer to a member or group of a profile.
    pub(crate) fn user_of(&self, profile: ExternId, reference: Reference) -> Option<String> {
        let mut tables = (0..).zip(&self.program().tables);
        let user = tables.find(|(id, _)| {
            let state = self.view(*id);
            state.profile == Some(profile) && state.uses(reference)
        });
        user.map(|(_, table)| format!("table `{}`", table.name))
    }
}

/// Formats a list of numbers for a message.
pub(crate) fn list(numbers: &[u32]) -> String {
    match numbers {
        [] => "none".into(),
        _ => numbers
            .iter()
            .map(u32::to_string)
            .collect::<Vec<_>>()
            .join(", "),
    }
}

/// The largest weight. It prevents groups that do not fit into memory.
const MAX_WEIGHT: u32 = 65_535;

pub(crate) fn check_weight(at: &str, weight: u32) -> Result<(), ControlError> {
    if (1..=MAX_WEIGHT).contains(&weight) {
        return Ok(());
    }
    Err(ControlError::Invalid {
        at: at.into(),
        expected: format!("a weight of 1 to {MAX_WEIGHT}"),
        found: weight.to_string(),
    })
}

pub(crate) fn check_meter(at: &str, config: MeterConfig) -> Result<Marker, ControlError> {
    let MeterConfig { cir, pir, .. } = config;
    if cir >= 0.0 && cir <= pir && pir.is_finite() {
        return Ok(Marker::new(config));
    }
    Err(ControlError::Invalid {
        at: at.into(),
        expected: "rates with 0 ≤ cir ≤ pir".into(),
        found: format!("cir {cir}, pir {pir}"),
    })
}
