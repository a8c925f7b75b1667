//! Tables: keys, actions, entries.

use crate::builder::Builder;
use crate::expr;
use crate::integer;
use crate::node::{Node, Result};
use crate::objects::Action;
use num_bigint::BigUint;
use p4_ir::{
    ActionCall, Arg, BinaryOp, Entry, Expr, ExprKind, Key, KeyMatch, MatchKind, Place, Scalar,
    StmtKind, Table, TableAction, TableId, Type,
};

impl<'j> Builder<'j> {
    /// Reads a table.
    pub fn table(&mut self, node: &Node<'j>) -> Result<TableId> {
        let outer = self.loc;
        let loc = self.locate(node)?;
        let name = node.text("name")?;
        let mut keys = Vec::new();
        for key in node.list("key")? {
            keys.push(self.key(&key)?);
        }
        let mut implementation = None;
        if let Some(profile) = node.find("action_profile")? {
            let found = self.objects.profiles.get(profile.str()?).cloned();
            let told = || profile.error("no action profile has this name");
            let found = found.ok_or_else(told)?;
            implementation = Some(found.id);
            let inputs = found.selector.into_iter();
            keys.extend(inputs.map(|(name, place)| Key {
                name,
                ty: Type::Scalar(place.ty),
                value: Expr::load(place),
                kind: MatchKind::Selector,
                annotations: Vec::new(),
                loc,
            }));
        }
        let id = TableId(self.out.tables.len() as u32);
        let mut direct = Vec::new();
        let mut colour = None;
        for (object, result) in self.objects.direct.get(name).cloned().unwrap_or_default() {
            self.out[object].table = Some(id);
            direct.push(object);
            colour = result.map(|place| (object, place)).or(colour);
        }
        let mut ids = Vec::new();
        let mut actions = Vec::new();
        for action in node.list("action_ids")? {
            let number = action.small()?.into();
            let Action { id, mut body } = self.action(&action)?;
            if let Some((object, place)) = &colour {
                body = self.metered(body, *object, place.clone())?;
            }
            ids.push(number);
            actions.push(TableAction {
                action: id,
                body,
                annotations: Vec::new(),
            });
        }
        let (default_action, const_default) = self.default_action(node, &ids, &mut actions)?;
        let mut entries = Vec::new();
        for entry in node.list("entries")? {
            entries.push(self.entry(&entry, &keys, &ids, &actions)?);
        }
        self.out.tables.push(Table {
            name: name.into(),
            keys,
            actions,
            default_action,
            const_default,
            const_entries: !entries.is_empty(),
            entries,
            size: match node.find("max_size")? {
                Some(size) => Some(size.small()?.into()),
                None => None,
            },
            largest_priority_wins: false,
            implementation,
            direct,
            support_timeout: node.flag("support_timeout")?,
            properties: Vec::new(),
            annotations: Vec::new(),
            loc,
        });
        self.loc = outer;
        Ok(id)
    }

    /// The action that a node has the id of.
    pub fn action(&self, id: &Node<'j>) -> Result<Action> {
        let number = id.small()?;
        let found = self.actions.get(&number.into()).copied();
        found.ok_or_else(|| id.error(format!("there is no action with the id {number}")))
    }

    fn key(&mut self, node: &Node<'j>) -> Result<Key> {
        let kind = match node.text("match_type")? {
            "exact" | "valid" => MatchKind::Exact,
            "lpm" => MatchKind::Lpm,
            "ternary" => MatchKind::Ternary,
            "range" => MatchKind::Range,
            "optional" => MatchKind::Optional,
            other => {
                return Err(node.get("match_type")?.error(format!(
                    "{other:?} is not a match kind; valid: exact, lpm, ternary, range, optional"
                )));
            }
        };
        let target = node.get("target")?;
        // Compilers of P4_14 name the header whose validity is the key.
        let validity = match kind {
            MatchKind::Exact => target.str().ok(),
            _ => None,
        };
        let place = match validity {
            Some(_) => Place::validity(&self.header_named(&target)?.at),
            None => self.field(&target)?,
        };
        let mut value = Expr::load(place);
        value = match value.ty {
            Scalar::Varbit(_) => return Err(target.error("a varbit cannot be a key")),
            Scalar::Bool => expr::resize(value, Scalar::Bit(1)),
            _ => value,
        };
        if let Some(mask) = node.find("mask")? {
            let ty = value.ty;
            let mask = Expr::constant(integer::bits(&mask, ty.width())?, ty);
            value = expr::binary(BinaryOp::BitAnd, value, mask, ty);
        }
        let name = match (node.find("name")?, validity) {
            (Some(name), _) => name.str()?.to_owned(),
            (None, Some(header)) => format!("{header}.$valid$"),
            (None, None) => {
                let [header, field] = target.exactly()?;
                format!("{}.{}", header.str()?, field.str()?)
            }
        };
        Ok(Key {
            name,
            ty: Type::Scalar(value.ty),
            value,
            kind,
            annotations: Vec::new(),
            loc: self.loc,
        })
    }

    /// An action's body with the entry's direct meter executed before it, as BMv2 does.
    fn metered(
        &mut self,
        body: p4_ir::FunctionId,
        meter: p4_ir::ExternId,
        colour: p4_ir::Place,
    ) -> Result<p4_ir::FunctionId> {
        let statements = self.collect(|b| {
            b.call("direct_meter.read", Some(meter), vec![Arg::Out(colour)]);
            b.push(StmtKind::Call(body));
            Ok(())
        })?;
        let name = self.out[body].name.clone();
        Ok(self.function(&name, statements))
    }

    fn default_action(
        &mut self,
        node: &Node<'j>,
        ids: &[u64],
        actions: &mut Vec<TableAction>,
    ) -> Result<(ActionCall, bool)> {
        if let Some(entry) = node.find("default_entry")? {
            let call = self.action_call(&entry, ids, actions)?;
            return Ok((call, entry.flag("action_const")?));
        }
        let no_action = |listed: &TableAction| self.out[listed.action].name == "NoAction";
        let listed = actions.iter().position(no_action);
        let index = match listed {
            Some(index) => index,
            None => {
                self.out.actions.push(p4_ir::Action {
                    name: "NoAction".into(),
                    params: Vec::new(),
                    annotations: Vec::new(),
                    loc: self.loc,
                });
                let id = p4_ir::ActionId(self.out.actions.len() as u32 - 1);
                let body = self.function("NoAction", Vec::new());
                actions.push(TableAction {
                    action: id,
                    body,
                    annotations: Vec::new(),
                });
                actions.len() - 1
            }
        };
        let call = ActionCall {
            action: index as u32,
            args: Vec::new(),
        };
        Ok((call, false))
    }

    /// `action_id` and `action_data`.
    fn action_call(
        &self,
        node: &Node<'j>,
        ids: &[u64],
        actions: &[TableAction],
    ) -> Result<ActionCall> {
        let id = node.get("action_id")?;
        let number = u64::from(id.small()?);
        let index = ids.iter().position(|listed| *listed == number);
        let index = index.ok_or_else(|| id.error("the table does not list this action"))?;
        let params = &self.out[actions[index].action].params;
        let data = node.find("action_data")?;
        let given = data.as_ref().map_or(Ok(Vec::new()), Node::items)?;
        if data.is_some() && given.len() != params.len() {
            let (given, wanted) = (given.len(), params.len());
            let told = format!("{given} values for the action's {wanted} parameters");
            return Err(node.error(told));
        }
        let mut args = vec![BigUint::ZERO; params.len()];
        for ((arg, param), value) in args.iter_mut().zip(params).zip(&given) {
            let width = param.ty.scalar(&self.out).map_or(0, Scalar::width);
            *arg = integer::bits(value, width)?;
        }
        Ok(ActionCall {
            action: index as u32,
            args,
        })
    }

    fn entry(
        &mut self,
        node: &Node<'j>,
        keys: &[Key],
        ids: &[u64],
        actions: &[TableAction],
    ) -> Result<Entry> {
        let outer = self.loc;
        let loc = self.locate(node)?;
        self.loc = outer;
        let looked_up: Vec<_> = keys
            .iter()
            .filter(|key| key.kind != MatchKind::Selector)
            .collect();
        let sets = node.list("match_key")?;
        if sets.len() != looked_up.len() {
            let told = format!("{} sets for {} keys", sets.len(), looked_up.len());
            return Err(node.get("match_key")?.error(told));
        }
        let mut matches = Vec::new();
        for (set, key) in sets.iter().zip(&looked_up) {
            matches.push(key_match(set, key)?);
        }
        matches.resize(keys.len(), KeyMatch::Any);
        Ok(Entry {
            matches,
            call: self.action_call(&node.get("action_entry")?, ids, actions)?,
            priority: match node.find("priority")? {
                Some(priority) => Some(priority.small()?.into()),
                None => None,
            },
            is_const: true,
            annotations: Vec::new(),
            loc,
        })
    }
}

/// A set of values of a key.
fn key_match(node: &Node<'_>, key: &Key) -> Result<KeyMatch> {
    let ty = key.value.ty;
    let width = ty.width();
    let constant = |value: BigUint| Expr::constant(value & integer::ones(width), ty);
    let number = |name| Ok(constant(integer::bits(&node.get(name)?, width)?));
    let masked = |value: Expr, mask: BigUint| {
        let value = match value.kind {
            ExprKind::Const(value) => constant(value & &mask),
            _ => value,
        };
        KeyMatch::Mask(value, constant(mask))
    };
    Ok(match node.text("match_type")? {
        "exact" | "valid" | "optional" => match node.find("key")? {
            None => KeyMatch::Any,
            Some(value) if value.bool().is_ok() => {
                KeyMatch::Value(constant(u8::from(value.bool()?).into()))
            }
            Some(_) => KeyMatch::Value(number("key")?),
        },
        "ternary" => masked(number("key")?, integer::bits(&node.get("mask")?, width)?),
        "lpm" => {
            let length = node.get("prefix_length")?.number(width.into())? as u32;
            let mask = integer::ones(length) << (width - length);
            masked(number("key")?, mask)
        }
        "range" => KeyMatch::Range(number("start")?, number("end")?),
        other => {
            return Err(node.get("match_type")?.error(format!(
                "{other:?} is not a match kind; valid: exact, lpm, ternary, range, optional"
            )));
        }
    })
}
