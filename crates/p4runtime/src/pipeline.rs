//! Forwarding pipeline configs: compilation, saving, committing, reconciliation.

use crate::device::{Device, GeneratorApps, Loaded, State, Target};
use crate::entities;
use crate::fault::{Fault, MAX_MESSAGE, Outcome, length_in_header};
use crate::model::{self, Model};
use crate::proto::v1::get_forwarding_pipeline_config_request::ResponseType;
use crate::proto::v1::packet_replication_engine_entry as replication;
use crate::proto::v1::set_forwarding_pipeline_config_request::Action;
use crate::proto::v1::update::Type;
use crate::proto::v1::*;
use crate::published::Published;
use engine::{Pipeline, Switch, SwitchConfig};
use p4_frontend::{Diagnostic, NoLoader, SourceMap};
use p4_info::proto::P4Info;
use prost::Message;
use std::sync::Arc;
use tonic::Code;
use units::Instant;

/// The largest device config, in octets.
const MAX_SOURCE: usize = 8 << 20;

/// A config that this target can run.
#[derive(Debug)]
pub struct Verified {
    loaded: Loaded,
    pipeline: Arc<Pipeline>,
}

/// Compiles a config and binds its P4Info to the program. With `target_rules`, a program for Tofino must obey the rules
/// of the hardware. Its architecture must have a packet generator that can run the applications.
///
/// # Errors
/// `INVALID_ARGUMENT` with the compiler's diagnostics or the mismatches.
pub fn verify(
    config: ForwardingPipelineConfig,
    target_rules: bool,
    generator: &GeneratorApps,
) -> Outcome<Verified> {
    let Some(p4info) = config.p4info else {
        return Err(Fault::invalid("config.p4info is not set"));
    };
    let pipeline = compile(&config.p4_device_config, &p4info, target_rules)?;
    if !generator.is_empty() {
        let mut switch = Switch::with_pipeline(pipeline.clone(), SwitchConfig::default());
        set_up(&mut switch, Instant::ZERO, generator)?;
    }
    let loaded = Loaded {
        model: Arc::new(Model::new(p4info, pipeline.program())?),
        device_config: config.p4_device_config.into(),
        cookie: config.cookie,
        state: State::default(),
    };
    Ok(Verified { loaded, pipeline })
}

/// The replaced program. Freeing a program with many entries takes time; packets need not wait for that.
pub type Replaced = (Option<Loaded>, Option<Switch>);

impl Verified {
    /// Creates a switch that runs the program, without entries of clients. This takes time; packets need not wait for
    /// that.
    pub fn start(self, settings: &SwitchConfig) -> (Loaded, Switch) {
        let switch = Switch::with_pipeline(self.pipeline, settings.clone());
        (self.loaded, switch)
    }
}

/// Executes an action on a device. [`verify`] has already executed `VERIFY`, and [`reconcile`](crate::reconcile)
/// executes `RECONCILE_AND_COMMIT`.
pub fn set(
    device: &mut Device,
    switch: &mut Option<Switch>,
    now: Instant,
    action: Action,
    fresh: Option<(Loaded, Switch)>,
) -> Outcome<Replaced> {
    let replaced = match (action, fresh) {
        (Action::VerifyAndSave, Some(fresh)) => {
            let before = device.saved.replace(fresh);
            before.map_or((None, None), |(loaded, switch)| {
                (Some(loaded), Some(switch))
            })
        }
        (Action::VerifyAndCommit, Some(fresh)) => commit(device, switch, now, fresh)?,
        (Action::Commit, _) => match device.saved.take() {
            Some(saved) => commit(device, switch, now, saved)?,
            None => {
                return Err(Fault::not_found(
                    "no config was saved that is not committed yet; save one with VERIFY_AND_SAVE",
                ));
            }
        },
        _ => (None, None),
    };
    Ok(replaced)
}

/// The config that a device runs or has saved, with the parts that the client requests.
pub fn get(programs: &Published, wanted: ResponseType) -> Option<ForwardingPipelineConfig> {
    let loaded = programs.loaded()?;
    let p4info = matches!(wanted, ResponseType::All | ResponseType::P4infoAndCookie);
    let source = matches!(
        wanted,
        ResponseType::All | ResponseType::DeviceConfigAndCookie
    );
    Some(ForwardingPipelineConfig {
        p4info: p4info.then(|| loaded.model.p4info.clone()),
        p4_device_config: if source {
            loaded.device_config.to_vec()
        } else {
            Vec::new()
        },
        cookie: loaded.cookie,
    })
}

/// Makes a device run a program.
pub fn commit(
    device: &mut Device,
    switch: &mut Option<Switch>,
    now: Instant,
    (loaded, mut new): (Loaded, Switch),
) -> Outcome<Replaced> {
    set_up(&mut new, now, &device.generator)?;
    device.saved = None;
    Ok((device.running.replace(loaded), switch.replace(new)))
}

/// Configures the applications of the packet generator and starts their timers.
fn set_up(switch: &mut Switch, now: Instant, generator: &GeneratorApps) -> Outcome<()> {
    for (id, app) in generator.iter() {
        switch.set_generator_app(now, *id, Some(app.clone()))?;
    }
    Ok(())
}

// -- compiling --------------------------------------------------------------------------------

/// The message in which older clients wrap a device config (`p4.tmp.P4DeviceConfig`).
#[derive(Clone, PartialEq, Message)]
struct Wrapped {
    #[prost(bool, tag = "1")]
    reassign: bool,
    #[prost(bytes = "vec", tag = "3")]
    device_data: Vec<u8>,
}

fn compile(device_config: &[u8], p4info: &P4Info, target_rules: bool) -> Outcome<Arc<Pipeline>> {
    // P4 text begins with neither field 1 nor field 3 of a message.
    let unwrapped = match device_config.first() {
        Some(0x08 | 0x1a) => Wrapped::decode(device_config).ok(),
        _ => None,
    };
    let source = unwrapped
        .as_ref()
        .map_or(device_config, |wrapped| &wrapped.device_data);
    if source.len() > MAX_SOURCE {
        let message = format!(
            "p4_device_config has {} octets, more than {MAX_SOURCE}",
            source.len()
        );
        return Err(Fault::new(Code::ResourceExhausted, message));
    }
    let expected = "expected preprocessed P4_16 source, or p4c's BMv2 JSON";
    let Ok(source) = std::str::from_utf8(source) else {
        return Err(Fault::invalid(format!(
            "p4_device_config: {expected}, found octets that are no text"
        )));
    };
    let program = match source.trim_start().chars().next() {
        None => {
            return Err(Fault::invalid(format!(
                "p4_device_config: {expected}, found nothing"
            )));
        }
        Some('{') => {
            let mut program = bmv2_json::read(source)
                .map_err(|error| Fault::invalid(format!("p4_device_config: {error}")))?;
            model::complete(&mut program, p4info);
            program
        }
        Some(_) => compile_source(source, target_rules)?,
    };
    if program.blocks.is_empty() {
        let message = "p4_device_config: the program has no `main`; expected V1Switch(…) main";
        return Err(Fault::invalid(message));
    }
    Pipeline::compile(&program).map_err(|errors| {
        let told = errors.iter().map(|error| {
            let place = program.describe(error.loc, "p4_device_config");
            format!("{place}: {}", error.message)
        });
        Fault::invalid(shortened(&told.collect::<Vec<_>>()))
    })
}

fn compile_source(source: &str, target_rules: bool) -> Outcome<p4_ir::Program> {
    let mut sources = SourceMap::new();
    let entry = sources.add("p4_device_config", source);
    let (program, mut diagnostics) = p4_frontend::compile(&mut sources, entry, &mut NoLoader, &[]);
    if let Some(program) = program.as_ref().filter(|_| target_rules) {
        let broken = tofino_rules::check(program).into_iter();
        diagnostics.extend(broken.map(|violation| {
            let span = sources.rest_from(violation.loc);
            Diagnostic::error(violation.rule, violation.message)
                .label(span, "Tofino cannot do this")
                .note("a switch with the option --no-target-rules takes it")
                .help(violation.help)
        }));
    }
    let errors = diagnostics
        .iter()
        .filter(|diagnostic| diagnostic.is_error());
    let told: Vec<_> = errors
        .map(|error| p4_frontend::render(&sources, error, false))
        .collect();
    program
        .filter(|_| told.is_empty())
        .ok_or_else(|| Fault::invalid(shortened(&told)))
}

/// As many messages as fit into a status, at least a part of the first.
fn shortened(messages: &[String]) -> String {
    let mut text = String::new();
    for (i, message) in messages.iter().enumerate() {
        let separator = if i > 0 { "\n" } else { "" };
        let longer = format!("{text}{separator}{message}");
        let more = format!("\n({} more errors)", messages.len() - i);
        if i > 0 && length_in_header(&longer) + length_in_header(&more) > MAX_MESSAGE {
            return text + &more;
        }
        text = longer;
    }
    text
}

// -- reconciling ------------------------------------------------------------------------------

/// Removes the entries of the source, because a client may have removed or changed them. The current state replaces
/// them.
pub fn clear_initial_entries(target: &mut Target<'_>) -> Outcome<()> {
    for table in target.model.tables.values() {
        for entry in target.switch.entries(table.table)? {
            if !target
                .switch
                .is_constant(table.table, &entry.matches, entry.priority)?
            {
                target
                    .switch
                    .delete(table.table, &entry.matches, entry.priority)?;
            }
        }
    }
    Ok(())
}

/// Wildcards for the forwarding state that only clients change.
pub fn set_by_clients() -> Vec<Entity> {
    use entity::Entity as E;
    let entry = TableEntry {
        counter_data: Some(CounterData::default()),
        meter_config: Some(MeterConfig::default()),
        ..TableEntry::default()
    };
    let default_entry = TableEntry {
        is_default_action: true,
        ..entry.clone()
    };
    let replicated = |r#type| {
        E::PacketReplicationEngineEntry(PacketReplicationEngineEntry {
            r#type: Some(r#type),
        })
    };
    let wildcards = [
        E::ActionProfileMember(ActionProfileMember::default()),
        E::ActionProfileGroup(ActionProfileGroup::default()),
        E::TableEntry(entry),
        E::TableEntry(default_entry),
        replicated(replication::Type::MulticastGroupEntry(
            MulticastGroupEntry::default(),
        )),
        replicated(replication::Type::CloneSessionEntry(
            CloneSessionEntry::default(),
        )),
        E::DigestEntry(DigestEntry::default()),
        E::ValueSetEntry(ValueSetEntry::default()),
        E::MeterEntry(MeterEntry::default()),
    ];
    wildcards.map(wrapped).into()
}

/// Wildcards for the forwarding state that packets also change.
pub fn changed_by_packets() -> Vec<Entity> {
    use entity::Entity as E;
    let direct = |is_default_action| {
        E::DirectCounterEntry(DirectCounterEntry {
            table_entry: Some(TableEntry {
                is_default_action,
                ..TableEntry::default()
            }),
            ..DirectCounterEntry::default()
        })
    };
    let wildcards = [
        direct(false),
        direct(true),
        E::CounterEntry(CounterEntry::default()),
        E::RegisterEntry(RegisterEntry::default()),
    ];
    wildcards.map(wrapped).into()
}

/// The update that sets an entity that was read, on a device without forwarding state. `None` if it is in this state
/// already.
pub fn update_of(target: &Target<'_>, entity: Entity) -> Option<Update> {
    use entity::Entity as E;
    let (r#type, entity) = match entity.entity? {
        E::TableEntry(entry) if entry.is_default_action => {
            let table = target.model.tables.get(&entry.table_id)?;
            if target.switch.program()[table.table].const_default {
                return None;
            }
            (Type::Modify, E::TableEntry(entry))
        }
        E::TableEntry(entry) if entry.is_const => {
            (Type::Modify, E::TableEntry(entities::writable(entry)))
        }
        E::CounterEntry(entry) if entry.data == Some(CounterData::default()) => return None,
        E::DirectCounterEntry(entry) if entry.data == Some(CounterData::default()) => return None,
        E::MeterEntry(entry) if entry.config.is_none() => return None,
        entity @ (E::ValueSetEntry(_)
        | E::CounterEntry(_)
        | E::DirectCounterEntry(_)
        | E::MeterEntry(_)
        | E::RegisterEntry(_)) => (Type::Modify, entity),
        entity => (Type::Insert, entity),
    };
    Some(Update {
        r#type: r#type as i32,
        entity: Some(wrapped(entity)),
    })
}

fn wrapped(entity: entity::Entity) -> Entity {
    Entity {
        entity: Some(entity),
    }
}

/// All forwarding state, as updates for a device without any.
#[cfg(test)]
pub fn everything(target: &Target<'_>) -> Outcome<Vec<Update>> {
    let mut found = Vec::new();
    for wildcard in [set_by_clients(), changed_by_packets()].concat() {
        entities::read(target, &wildcard, &mut found)?;
    }
    let updates = found.into_iter();
    Ok(updates
        .filter_map(|entity| update_of(target, entity))
        .collect())
}
