//! Look-up of tables, actions, objects and keys by name, and construction of calls and entries from names.

use crate::object::Object;
use crate::{ActionSpec, ControlError, Entry, EntryAction, Machine, Match};
use num_bigint::BigUint;
use p4_ir::{ActionId, ExternId, MatchKind, TableId, ValueSetId, control_plane_name};

/// Finds a name in a list: the full name, or a suffix that only one of them has.
pub(super) fn find<'a>(
    kind: &'static str,
    name: &str,
    all: impl Iterator<Item = &'a str> + Clone,
) -> Result<usize, ControlError> {
    if let Some(found) = all.clone().position(|full| full == name) {
        return Ok(found);
    }
    let ends = |full: &str| {
        full.strip_suffix(name)
            .is_some_and(|rest| rest.ends_with('.'))
    };
    let found: Vec<_> = all
        .clone()
        .enumerate()
        .filter(|(_, full)| ends(full))
        .collect();
    match &found[..] {
        [(only, _)] => Ok(*only),
        [] => Err(ControlError::UnknownName {
            kind,
            name: name.into(),
            valid: all.map(String::from).collect(),
        }),
        many => Err(ControlError::AmbiguousName {
            name: name.into(),
            valid: many.iter().map(|(_, full)| full.to_string()).collect(),
        }),
    }
}

impl Machine {
    /// The table of this name: its full control-plane name, or an unambiguous suffix.
    pub fn table(&self, name: &str) -> Result<TableId, ControlError> {
        let all = self
            .program()
            .tables
            .iter()
            .map(|table| table.name.as_str());
        find("table", name, all).map(|i| TableId(i as u32))
    }

    /// The action of this name among the actions of a table.
    pub fn action(&self, table: TableId, name: &str) -> Result<ActionId, ControlError> {
        self.check_table(table)?;
        let program = self.program();
        let listed = &program[table].actions;
        let all = listed
            .iter()
            .map(|listed| program[listed.action].name.as_str());
        find("action of this table", name, all).map(|i| listed[i].action)
    }

    /// The register, counter, meter, profile or selector of this name.
    pub fn object(&self, name: &str) -> Result<ExternId, ControlError> {
        let all = self
            .program()
            .externs
            .iter()
            .map(|object| object.name.as_str());
        find("extern object", name, all).map(|i| ExternId(i as u32))
    }

    /// The value set of this name.
    pub fn value_set(&self, name: &str) -> Result<ValueSetId, ControlError> {
        let all = self
            .program()
            .value_sets
            .iter()
            .map(|set| set.name.as_str());
        find("value set", name, all).map(|i| ValueSetId(i as u32))
    }

    /// Creates an action call from names: `("MyIngress.forward", [("port", 3)])`.
    pub fn action_spec(
        &self,
        table: TableId,
        action: &str,
        args: &[(&str, BigUint)],
    ) -> Result<ActionSpec, ControlError> {
        let action = self.action(table, action)?;
        let definition = &self.program()[action];
        let at = || format!("action `{}`", definition.name);
        let params = definition.params.iter();
        let names: Vec<String> = params
            .map(|param| control_plane_name(&param.name, &param.annotations))
            .collect();
        let mut values = vec![None; definition.params.len()];
        for (name, value) in args {
            let i = find(
                "parameter of this action",
                name,
                names.iter().map(String::as_str),
            )?;
            if values[i].replace(value.clone()).is_some() {
                let what = format!("a value for `{name}`");
                return Err(ControlError::Exists { at: at(), what });
            }
        }
        let missing = |i: usize| ControlError::Invalid {
            at: at(),
            expected: format!("a value for each of: {}", names.join(", ")),
            found: format!("none for `{}`", names[i]),
        };
        let args = values.into_iter().enumerate();
        let args: Result<_, _> = args.map(|(i, v)| v.ok_or_else(|| missing(i))).collect();
        Ok(ActionSpec {
            action,
            args: args?,
        })
    }

    /// Creates matches from names. Omitted keys match anything, if their match kind allows it.
    pub fn matches(
        &self,
        table: TableId,
        matches: &[(&str, Match)],
    ) -> Result<Vec<Match>, ControlError> {
        self.check_table(table)?;
        let definition = &self.program()[table];
        let keys = definition
            .keys
            .iter()
            .filter(|key| key.kind != MatchKind::Selector);
        let names = keys.clone().map(|key| key.name.as_str());
        let mut sets = vec![Match::Any; names.clone().count()];
        for (name, set) in matches {
            let i = find("key of this table", name, names.clone())?;
            sets[i] = set.clone();
        }
        let missing = keys
            .zip(&sets)
            .find(|(key, set)| key.kind == MatchKind::Exact && matches!(set, Match::Any));
        match missing {
            None => Ok(sets),
            Some((key, _)) => Err(ControlError::Invalid {
                at: format!("table `{}`, key `{}`", definition.name, key.name),
                expected: "an exact value".into(),
                found: "none".into(),
            }),
        }
    }

    /// Creates an entry from names. Omitted keys match anything, if their match kind allows it.
    pub fn entry(
        &self,
        table: TableId,
        matches: &[(&str, Match)],
        priority: u32,
        action: &str,
        args: &[(&str, BigUint)],
    ) -> Result<Entry, ControlError> {
        self.entry_of(table, matches, priority, action, &[args])
    }

    /// Like [`entry`](Self::entry), with the data of several choices of equal weight. A table with an action selector
    /// chooses among them. It gets its own group even for a single choice.
    fn entry_of(
        &self,
        table: TableId,
        matches: &[(&str, Match)],
        priority: u32,
        action: &str,
        choices: &[&[(&str, BigUint)]],
    ) -> Result<Entry, ControlError> {
        let matches = self.matches(table, matches)?;
        let specs = choices
            .iter()
            .map(|args| self.action_spec(table, action, args));
        let specs = specs.collect::<Result<Vec<_>, _>>()?;
        Ok(Entry {
            matches,
            priority,
            action: self.choice_of(table, specs),
        })
    }

    /// The action of an entry that chooses among several with equal weights. It is the action itself if there is one
    /// and the table has no action selector.
    pub fn choice_of(&self, table: TableId, mut specs: Vec<ActionSpec>) -> EntryAction {
        let is_single = specs.len() == 1 && !self.has_selector(table);
        match specs.pop() {
            Some(spec) if is_single => EntryAction::Run(spec),
            last => EntryAction::OneShot(specs.into_iter().chain(last).map(|s| (s, 1)).collect()),
        }
    }

    fn has_selector(&self, table: TableId) -> bool {
        let implementation = self.program()[table].implementation;
        let profile = implementation.map(|id| self.program().action_profile(id));
        profile.is_some_and(|id| match &self.objects[id.0 as usize] {
            Object::Profile(profile) => profile.algorithm.is_some(),
            _ => false,
        })
    }

    /// Inserts an entry given by names. A shortcut for programs that know their P4 program.
    pub fn add(
        &mut self,
        table: &str,
        matches: &[(&str, Match)],
        priority: u32,
        action: &str,
        args: &[(&str, BigUint)],
    ) -> Result<(), ControlError> {
        self.add_choices(table, matches, priority, action, &[args])
    }

    /// Like [`add`](Self::add), with the data of several choices, among which the action selector of the table chooses
    /// with equal weights.
    pub fn add_choices(
        &mut self,
        table: &str,
        matches: &[(&str, Match)],
        priority: u32,
        action: &str,
        choices: &[&[(&str, BigUint)]],
    ) -> Result<(), ControlError> {
        let table = self.table(table)?;
        let entry = self.entry_of(table, matches, priority, action, choices)?;
        self.insert(table, entry)
    }

    /// Sets the default action of a table, given by names.
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
}
