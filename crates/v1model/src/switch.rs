//! The switch: packets in, packets and events out, at times that the caller says.

use crate::*;
use num_bigint::BigUint;
use p4_ir::{ActionId, ExternId, Program, TableId, ValueSetId};
use std::sync::Arc;
use units::Instant;

/// A program translated for this engine. Switches that run the same program share one.
#[derive(Debug)]
pub struct Pipeline {}

impl Pipeline {
    /// Translates a program; the errors say what this architecture supports.
    pub fn compile(_program: &Program) -> Result<Arc<Pipeline>, Vec<CompileError>> {
        todo!()
    }
}

/// A v1model switch: parser, ingress, traffic manager, egress, deparser.
///
/// It has no clock and no threads: `now` is an argument and must not go back.
/// ```text
/// handle_packet(now, port, packet)      ingress runs at once
/// poll_transmit(now) → Some(transmit)   egress runs when a line is free; call until None
/// poll_timeout()     → when to call poll_transmit next
/// ```
#[derive(Debug)]
pub struct Switch {}

impl Switch {
    /// A switch that runs `program`, its constant entries in place.
    pub fn new(program: &Program, config: SwitchConfig) -> Result<Switch, Vec<CompileError>> {
        Ok(Switch::with_pipeline(Pipeline::compile(program)?, config))
    }

    /// A switch that runs a program which is translated already.
    pub fn with_pipeline(_pipeline: Arc<Pipeline>, _config: SwitchConfig) -> Switch {
        todo!()
    }

    /// The program it runs.
    pub fn program(&self) -> &Program {
        todo!()
    }

    // -- packets ------------------------------------------------------------------------------

    /// A packet came in through `port` (its last octet, for a store-and-forward switch).
    pub fn handle_packet(&mut self, _now: Instant, _port: u16, _packet: Packet) {
        todo!()
    }

    /// The next packet whose serialisation starts at or before `now`, in order of that time, then of
    /// port. If the caller is late, `start` is still when the line was free.
    pub fn poll_transmit(&mut self, _now: Instant) -> Option<Transmit> {
        todo!()
    }

    /// When [`poll_transmit`](Self::poll_transmit) has something to do next; `None` if nothing waits.
    pub fn poll_timeout(&self) -> Option<Instant> {
        todo!()
    }

    /// The next event of the kinds that the configuration asks for.
    pub fn poll_event(&mut self) -> Option<Event> {
        todo!()
    }

    /// Gives back a packet's buffer, so that the next packet needs no allocation.
    pub fn recycle(&mut self, _packet: Packet) {
        todo!()
    }

    /// An empty buffer from the pool, for a packet to be handed in.
    pub fn buffer(&mut self) -> Vec<u8> {
        todo!()
    }

    // -- ports --------------------------------------------------------------------------------

    /// Sets a port's rate and queues from now on. Packets that wait already stay.
    pub fn set_port(&mut self, _port: u16, _config: PortConfig) {
        todo!()
    }

    /// A port's counts; zero for one that was never used.
    pub fn port_stats(&self, _port: u16) -> PortStats {
        todo!()
    }

    /// Drops of the whole switch, by cause.
    pub fn drops(&self) -> DropCounts {
        todo!()
    }

    // -- names --------------------------------------------------------------------------------

    /// The table of this name: its full control-plane name, or an unambiguous end of it.
    pub fn table(&self, _name: &str) -> Result<TableId, ControlError> {
        todo!()
    }

    /// The action of this name among those of a table.
    pub fn action(&self, _table: TableId, _name: &str) -> Result<ActionId, ControlError> {
        todo!()
    }

    /// The register, counter, meter, profile or selector of this name.
    pub fn object(&self, _name: &str) -> Result<ExternId, ControlError> {
        todo!()
    }

    /// The value set of this name.
    pub fn value_set(&self, _name: &str) -> Result<ValueSetId, ControlError> {
        todo!()
    }

    /// An action call from names: `("MyIngress.forward", [("port", 3)])`.
    pub fn action_spec(
        &self,
        _table: TableId,
        _action: &str,
        _args: &[(&str, BigUint)],
    ) -> Result<ActionSpec, ControlError> {
        todo!()
    }

    /// An entry from names. Keys left out match anything, where their kind can.
    pub fn entry(
        &self,
        _table: TableId,
        _matches: &[(&str, Match)],
        _priority: u32,
        _action: &str,
        _args: &[(&str, BigUint)],
    ) -> Result<Entry, ControlError> {
        todo!()
    }

    /// Inserts an entry given by names: the short way for a program that knows its P4.
    pub fn add(
        &mut self,
        table: &str,
        matches: &[(&str, Match)],
        priority: u32,
        action: &str,
        args: &[(&str, BigUint)],
    ) -> Result<(), ControlError> {
        let table = self.table(table)?;
        let entry = self.entry(table, matches, priority, action, args)?;
        self.insert(table, entry)
    }

    /// Sets a table's default action given by names.
    pub fn set_default_by_name(
        &mut self,
        table: &str,
        action: &str,
        args: &[(&str, BigUint)],
    ) -> Result<(), ControlError> {
        let table = self.table(table)?;
        let spec = self.action_spec(table, action, args)?;
        self.set_default(table, EntryAction::Run(spec))
    }

    // -- tables -------------------------------------------------------------------------------

    /// Inserts an entry; refused if one with the same matches and priority is there.
    pub fn insert(&mut self, _table: TableId, _entry: Entry) -> Result<(), ControlError> {
        todo!()
    }

    /// Changes the action of an entry that is there.
    pub fn modify(&mut self, _table: TableId, _entry: Entry) -> Result<(), ControlError> {
        todo!()
    }

    /// Removes the entry with these matches and this priority.
    pub fn delete(
        &mut self,
        _table: TableId,
        _matches: &[Match],
        _priority: u32,
    ) -> Result<(), ControlError> {
        todo!()
    }

    /// The entry with these matches and this priority.
    pub fn read(
        &self,
        _table: TableId,
        _matches: &[Match],
        _priority: u32,
    ) -> Result<Entry, ControlError> {
        todo!()
    }

    /// All entries, in the order in which they were inserted, constant ones first.
    pub fn entries(&self, _table: TableId) -> Result<Vec<Entry>, ControlError> {
        todo!()
    }

    /// Sets what a miss does.
    pub fn set_default(
        &mut self,
        _table: TableId,
        _action: EntryAction,
    ) -> Result<(), ControlError> {
        todo!()
    }

    /// Sets it back to what the program says.
    pub fn reset_default(&mut self, _table: TableId) -> Result<(), ControlError> {
        todo!()
    }

    /// What a miss does.
    pub fn default_action(&self, _table: TableId) -> Result<EntryAction, ControlError> {
        todo!()
    }

    /// When an entry was last hit, or inserted if it never was: for idle timeouts.
    pub fn last_hit(
        &self,
        _table: TableId,
        _matches: &[Match],
        _priority: u32,
    ) -> Result<Instant, ControlError> {
        todo!()
    }

    // -- extern objects -----------------------------------------------------------------------

    /// A cell of a register.
    pub fn register_read(&self, _register: ExternId, _index: u64) -> Result<BigUint, ControlError> {
        todo!()
    }

    /// Sets a cell of a register.
    pub fn register_write(
        &mut self,
        _register: ExternId,
        _index: u64,
        _value: &BigUint,
    ) -> Result<(), ControlError> {
        todo!()
    }

    /// A cell of a counter.
    pub fn counter_read(
        &self,
        _counter: ExternId,
        _index: u64,
    ) -> Result<CounterData, ControlError> {
        todo!()
    }

    /// Sets a cell of a counter.
    pub fn counter_write(
        &mut self,
        _counter: ExternId,
        _index: u64,
        _data: CounterData,
    ) -> Result<(), ControlError> {
        todo!()
    }

    /// The direct counter of an entry.
    pub fn direct_counter_read(
        &self,
        _table: TableId,
        _matches: &[Match],
        _priority: u32,
    ) -> Result<CounterData, ControlError> {
        todo!()
    }

    /// Sets the direct counter of an entry.
    pub fn direct_counter_write(
        &mut self,
        _table: TableId,
        _matches: &[Match],
        _priority: u32,
        _data: CounterData,
    ) -> Result<(), ControlError> {
        todo!()
    }

    /// A cell's configuration; `None`: unset, everything is green.
    pub fn meter_read(
        &self,
        _meter: ExternId,
        _index: u64,
    ) -> Result<Option<MeterConfig>, ControlError> {
        todo!()
    }

    /// Configures a cell of a meter, its buckets full.
    pub fn meter_write(
        &mut self,
        _meter: ExternId,
        _index: u64,
        _config: Option<MeterConfig>,
    ) -> Result<(), ControlError> {
        todo!()
    }

    /// The direct meter of an entry.
    pub fn direct_meter_read(
        &self,
        _table: TableId,
        _matches: &[Match],
        _priority: u32,
    ) -> Result<Option<MeterConfig>, ControlError> {
        todo!()
    }

    /// Configures the direct meter of an entry.
    pub fn direct_meter_write(
        &mut self,
        _table: TableId,
        _matches: &[Match],
        _priority: u32,
        _config: Option<MeterConfig>,
    ) -> Result<(), ControlError> {
        todo!()
    }

    /// Adds a member to an action profile.
    pub fn member_insert(
        &mut self,
        _profile: ExternId,
        _member: Member,
    ) -> Result<(), ControlError> {
        todo!()
    }

    /// Changes a member.
    pub fn member_modify(
        &mut self,
        _profile: ExternId,
        _member: Member,
    ) -> Result<(), ControlError> {
        todo!()
    }

    /// Removes a member that nothing uses.
    pub fn member_delete(&mut self, _profile: ExternId, _id: u32) -> Result<(), ControlError> {
        todo!()
    }

    /// All members, by number.
    pub fn members(&self, _profile: ExternId) -> Result<Vec<Member>, ControlError> {
        todo!()
    }

    /// Adds a group to an action selector.
    pub fn group_insert(&mut self, _selector: ExternId, _group: Group) -> Result<(), ControlError> {
        todo!()
    }

    /// Changes a group.
    pub fn group_modify(&mut self, _selector: ExternId, _group: Group) -> Result<(), ControlError> {
        todo!()
    }

    /// Removes a group that nothing uses.
    pub fn group_delete(&mut self, _selector: ExternId, _id: u32) -> Result<(), ControlError> {
        todo!()
    }

    /// All groups, by number.
    pub fn groups(&self, _selector: ExternId) -> Result<Vec<Group>, ControlError> {
        todo!()
    }

    /// Sets the members of a value set: each a match per field.
    pub fn value_set_write(
        &mut self,
        _set: ValueSetId,
        _members: Vec<Vec<Match>>,
    ) -> Result<(), ControlError> {
        todo!()
    }

    /// The members of a value set.
    pub fn value_set_read(&self, _set: ValueSetId) -> Result<Vec<Vec<Match>>, ControlError> {
        todo!()
    }

    // -- replication --------------------------------------------------------------------------

    /// Sets a multicast group (1 to 65535); an empty list removes it.
    pub fn set_multicast_group(
        &mut self,
        _group: u16,
        _replicas: Vec<Replica>,
    ) -> Result<(), ControlError> {
        todo!()
    }

    /// A multicast group's replicas; empty if there is none.
    pub fn multicast_group(&self, _group: u16) -> &[Replica] {
        todo!()
    }

    /// Sets a clone session (0 to 32767); `None` removes it.
    pub fn set_clone_session(
        &mut self,
        _session: u16,
        _to: Option<CloneSession>,
    ) -> Result<(), ControlError> {
        todo!()
    }

    /// A clone session.
    pub fn clone_session(&self, _session: u16) -> Option<&CloneSession> {
        todo!()
    }
}
