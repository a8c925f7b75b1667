//! Actions with their data.

use super::one_shot;
use crate::fault::{Fault, Outcome, list};
use crate::model::{Model, Scope, TableModel};
use crate::proto::v1::action::Param;
use crate::proto::v1::table_action::Type;
use crate::proto::v1::{Action, ActionProfileActionSet, TableAction};
use engine::{ActionSpec, EntryAction};
use std::collections::BTreeSet;
use tonic::Code;

/// Where an action is used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// In an entry, or in a member of an action profile.
    Entry,
    /// In the default entry.
    Default,
}

/// Decodes and checks an action of a table.
pub fn decode(
    model: &Model,
    table: &TableModel,
    given: &Action,
    stands: Place,
) -> Outcome<ActionSpec> {
    let listed = table.action(model, given.action_id)?;
    let action = listed.action;
    let definition = &model.actions[&given.action_id];
    let place = || format!("action `{}`", definition.name);
    let denied = match (listed.scope, stands) {
        (Scope::Default, Place::Entry) => Some("it may only be the default action"),
        (Scope::Entries, Place::Default) => Some("it may not be the default action"),
        _ => None,
    };
    if let Some(message) = denied {
        return Err(Fault::new(Code::PermissionDenied, message).at(place()));
    }
    let known = |id| definition.params.iter().any(|param| param.id == id);
    let valid = || {
        list(
            definition
                .params
                .iter()
                .map(|p| format!("{} ({})", p.name, p.id)),
        )
    };
    for (i, param) in given.params.iter().enumerate() {
        let id = param.param_id;
        if !known(id) {
            let message = format!("there is no parameter with the ID {id}; valid: {}", valid());
            return Err(Fault::invalid(message).at(place()));
        }
        if given.params[..i].iter().any(|before| before.param_id == id) {
            return Err(Fault::invalid(format!("parameter {id} is given twice")).at(place()));
        }
    }
    let mut args = Vec::new();
    for param in &definition.params {
        let Some(found) = given.params.iter().find(|given| given.param_id == param.id) else {
            let message = format!(
                "no value for `{}`; expected values for {}",
                param.name,
                valid()
            );
            return Err(Fault::invalid(message).at(place()));
        };
        let value = param.shape.decode(&found.value);
        let place = || format!("{}, parameter `{}`", place(), param.name);
        args.push(value.map_err(|fault| fault.into_invalid().at(place()))?);
    }
    Ok(ActionSpec { action, args })
}

/// Encodes an action for a client.
pub fn encode(model: &Model, table: &TableModel, spec: &ActionSpec) -> Action {
    // An action that P4Info omits from the table has no ID.
    let action_id = table.action_id(spec.action).unwrap_or(0);
    let params = model.actions.get(&action_id).map(|action| {
        let pairs = action.params.iter().zip(&spec.args);
        pairs
            .map(|(param, value)| Param {
                param_id: param.id,
                value: param.shape.encode(value),
            })
            .collect()
    });
    Action {
        action_id,
        params: params.unwrap_or_default(),
    }
}

/// Decodes the action of an entry. For an action set, returns the actions to select from at the
/// moment.
pub fn decode_entry(
    model: &Model,
    table: &TableModel,
    given: Option<&TableAction>,
    stands: Place,
    down: &BTreeSet<u16>,
) -> Outcome<EntryAction> {
    let Some(given) = given.and_then(|action| action.r#type.as_ref()) else {
        return Err(Fault::invalid("its action is not set"));
    };
    Ok(match given {
        Type::Action(action) => EntryAction::Run(decode(model, table, action, stands)?),
        Type::ActionProfileMemberId(id) => EntryAction::Member(*id),
        Type::ActionProfileGroupId(id) => EntryAction::Group(*id),
        Type::ActionProfileActionSet(set) => one_shot::choices(model, table, set, down)?,
    })
}

/// Encodes the action of an entry for a client. `set` is the action set of the entry, if it has
/// one.
pub fn encode_entry(
    model: &Model,
    table: &TableModel,
    action: &EntryAction,
    set: Option<&ActionProfileActionSet>,
) -> TableAction {
    let action = match action {
        EntryAction::Run(spec) => Type::Action(encode(model, table, spec)),
        EntryAction::Member(id) => Type::ActionProfileMemberId(*id),
        EntryAction::Group(id) => Type::ActionProfileGroupId(*id),
        EntryAction::OneShot(_) => Type::ActionProfileActionSet(set.cloned().unwrap_or_default()),
    };
    TableAction {
        r#type: Some(action),
    }
}

/// The maximum sum of the weights of a group, because the engine stores each member as often as its
/// weight.
pub const MAX_WEIGHTS: u64 = 1 << 16;

/// Checks the sum of a group's weights.
pub fn check_weights(sum: u64) -> Outcome<()> {
    if sum <= MAX_WEIGHTS {
        return Ok(());
    }
    let message = format!("its weights add up to {sum}, more than {MAX_WEIGHTS}");
    Err(Fault::new(Code::ResourceExhausted, message))
}
