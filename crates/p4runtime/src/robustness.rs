//! Tests with messages of all kinds, most of them invalid: each receives a response, and everything that is written can
//! be read.

use crate::batch;
use crate::device::{Device, GeneratorApps, Target};
use crate::entities::{self, Prepared};
use crate::fault::Outcome;
use crate::pipeline;
use crate::proto::v1::set_forwarding_pipeline_config_request::Action;
use crate::proto::v1::*;
use crate::whole;
use engine::{Switch, SwitchConfig};
use p4_frontend::{NoLoader, SourceMap};
use prost::Message;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};
use units::Instant;

const SOURCE: &str = include_str!("../../../tests/p4/entities.p4");

/// A device that runs the test program.
pub fn loaded() -> (Device, Option<Switch>) {
    loaded_with(SOURCE)
}

/// A device that runs the test program with a table `route` of 1000 entries, an action selector of 1000 members, and a
/// counter of 2000 cells.
pub fn large() -> (Device, Option<Switch>) {
    let table = SOURCE.replacen("size = 64", "size = 1000", 1);
    let selector = table.replace("crc16, 32, 16)", "crc16, 1000, 16)");
    loaded_with(&selector.replace("counter(8,", "counter(2000,"))
}

/// An entry of that table, with an idle timeout in nanoseconds.
pub fn route(device: &Device, number: u32, idle_timeout_ns: i64) -> TableEntry {
    let model = &device.loaded().unwrap().model;
    let mut tables = model.tables.values();
    let table = tables.find(|table| table.idle_timeout).unwrap();
    let mut actions = table.actions.iter();
    let forward = actions.find(|used| model.actions[&used.id].name.ends_with("forward"));
    let param = action::Param {
        param_id: 1,
        value: vec![1],
    };
    let action = crate::proto::v1::Action {
        action_id: forward.unwrap().id,
        params: vec![param],
    };
    TableEntry {
        table_id: table.id,
        r#match: entities::encode_match(&table.fields, &[engine::Match::lpm(number, 32)]),
        action: Some(TableAction {
            r#type: Some(table_action::Type::Action(action)),
        }),
        idle_timeout_ns,
        ..TableEntry::default()
    }
}

fn loaded_with(source: &str) -> (Device, Option<Switch>) {
    let mut sources = SourceMap::new();
    let entry = sources.add("entities.p4", source);
    let (program, _) = p4_frontend::compile(&mut sources, entry, &mut NoLoader, &[]);
    let config = ForwardingPipelineConfig {
        p4info: Some(p4_info::p4info(&program.unwrap()).unwrap()),
        p4_device_config: source.into(),
        cookie: None,
    };
    let verified = pipeline::verify(config, true, &GeneratorApps::default()).unwrap();
    let (mut device, mut switch) = (Device::default(), None);
    let (now, action) = (Instant::ZERO, Action::VerifyAndCommit);
    let fresh = verified.start(&SwitchConfig::default());
    pipeline::set(&mut device, &mut switch, now, action, Some(fresh)).unwrap();
    (device, switch)
}

/// An entity of each kind, valid or nearly valid.
fn seeds(target: &Target<'_>) -> Vec<Update> {
    use entity::Entity as E;
    let mut entities = Vec::new();
    for wildcard in [
        E::TableEntry(TableEntry::default()),
        E::CounterEntry(CounterEntry::default()),
        E::MeterEntry(MeterEntry::default()),
        E::RegisterEntry(RegisterEntry::default()),
        E::ValueSetEntry(ValueSetEntry::default()),
    ] {
        let wildcard = Entity {
            entity: Some(wildcard),
        };
        entities::read(target, &wildcard, &mut entities).unwrap();
    }
    let model = target.model;
    for table in model.tables.values() {
        for used in &table.actions {
            let params = model.actions[&used.id].params.iter();
            let action = crate::proto::v1::Action {
                action_id: used.id,
                params: params
                    .map(|param| action::Param {
                        param_id: param.id,
                        value: vec![1],
                    })
                    .collect(),
            };
            let matches = table.fields.iter().map(|field| {
                let one = engine::Match::exact(5_u32);
                entities::encode_match(std::slice::from_ref(field), &[one]).remove(0)
            });
            let entry = TableEntry {
                table_id: table.id,
                r#match: matches.collect(),
                priority: i32::from(table.fields.len() > 1),
                action: Some(TableAction {
                    r#type: Some(table_action::Type::Action(action.clone())),
                }),
                ..TableEntry::default()
            };
            entities.push(E::TableEntry(entry).into());
            for profile in model.profiles.values() {
                let member = ActionProfileMember {
                    action_profile_id: profile.id,
                    member_id: 1,
                    action: Some(action.clone()),
                };
                entities.push(E::ActionProfileMember(member).into());
                let group = ActionProfileGroup {
                    action_profile_id: profile.id,
                    group_id: 1,
                    members: vec![action_profile_group::Member {
                        member_id: 1,
                        weight: 2,
                        watch_kind: None,
                    }],
                    max_size: 4,
                };
                entities.push(E::ActionProfileGroup(group).into());
            }
        }
    }
    let replica = Replica {
        instance: 1,
        backup_replicas: Vec::new(),
        port_kind: Some(replica::PortKind::Port(vec![3])),
    };
    use packet_replication_engine_entry::Type as Replicated;
    for replicated in [
        Replicated::MulticastGroupEntry(MulticastGroupEntry {
            multicast_group_id: 1,
            replicas: vec![replica.clone()],
            ..Default::default()
        }),
        Replicated::CloneSessionEntry(CloneSessionEntry {
            session_id: 1,
            replicas: vec![replica],
            ..Default::default()
        }),
    ] {
        let entry = PacketReplicationEngineEntry {
            r#type: Some(replicated),
        };
        entities.push(E::PacketReplicationEngineEntry(entry).into());
    }
    let update = |entity| Update {
        r#type: update::Type::Insert as i32,
        entity: Some(entity),
    };
    entities.into_iter().map(update).collect()
}

impl From<entity::Entity> for Entity {
    fn from(entity: entity::Entity) -> Self {
        Entity {
            entity: Some(entity),
        }
    }
}

fn mutated(update: &Update, random: &mut ChaCha8Rng) -> Option<Update> {
    let mut octets = update.encode_to_vec();
    for _ in 0..random.next_u32() % 4 {
        let at = random.next_u32() as usize % octets.len();
        octets[at] = match random.next_u32() % 3 {
            0 => random.next_u32() as u8,
            1 => octets[at].wrapping_add(1),
            _ => octets[at] ^ (1 << (random.next_u32() % 8)),
        };
    }
    Update::decode(&octets[..]).ok()
}

fn prepared(target: &Target<'_>, batch: &[Update]) -> Vec<Prepared> {
    let updates = batch.iter().cloned();
    updates
        .map(|update| Prepared::new(target.model, update))
        .collect()
}

fn write_or_take_back(target: &mut Target<'_>, batch: &[Update]) -> Vec<Outcome<()>> {
    write(target, batch, |_| true)
}

fn write(
    target: &mut Target<'_>,
    batch: &[Update],
    undoes: impl Fn(&Prepared) -> bool,
) -> Vec<Outcome<()>> {
    match batch::write_all(target, &mut prepared(target, batch), undoes) {
        Ok(_) => vec![Ok(()); batch.len()],
        Err((failed, fault)) => batch::none_carried_out(batch.len(), failed, fault),
    }
}

/// Like `write`, prepared in a draft.
fn write_as_a_whole(target: &mut Target<'_>, batch: &[Update]) -> Vec<Outcome<()>> {
    target
        .switch
        .begin_batch(&whole::scope(target.model, batch));
    while !target.switch.copy_to_batch(3) {}
    target.switch.edit_draft(true);
    let results = write(target, batch, |update| !update.is_of_cells());
    target.switch.edit_draft(false);
    match results.iter().all(Result::is_ok) {
        true => target.switch.publish_batch(),
        false => target.switch.discard_batch(),
    };
    // Some cells are written when they are reached.
    target.switch.settle_batch(batch.len() / 2);
    results
}

#[test]
fn every_message_is_answered() {
    let (mut device, mut switch) = loaded();
    let mut target = device.target(&mut switch, Instant::ZERO).unwrap();
    let seeds = seeds(&target);
    let mut random = ChaCha8Rng::seed_from_u64(1);
    let (mut accepted, mut refused) = (0, 0);
    for round in 0..20_000 {
        let mut batch = Vec::new();
        for _ in 0..1 + random.next_u32() % 3 {
            let seed = &seeds[random.next_u32() as usize % seeds.len()];
            let Some(mut update) = mutated(seed, &mut random) else {
                continue;
            };
            update.r#type = 1 + (random.next_u32() % 3) as i32;
            batch.push(update);
        }
        let results = match round % 3 {
            0 => {
                let mut batch = prepared(&target, &batch);
                batch::write_each(&mut target, &mut batch)
            }
            1 => write_as_a_whole(&mut target, &batch),
            _ => write_or_take_back(&mut target, &batch),
        };
        assert_eq!(results.len(), batch.len());
        let failed = results.iter().filter(|result| result.is_err()).count();
        assert_eq!(
            batch::status(&results, "update", batch::DEFAULT_METADATA).is_err(),
            failed > 0
        );
        refused += failed;
        accepted += results.len() - failed;
        for (update, result) in batch.iter().zip(&results) {
            let entity = update.entity.clone().unwrap_or_default();
            let read = entities::read(&target, &entity, &mut Vec::new());
            let written = result.is_ok() && update.r#type() != update::Type::Delete;
            assert!(
                read.is_ok() || !written || batch.len() > 1,
                "{update:?} was written, and cannot be read: {read:?}"
            );
        }
    }
    assert!(
        accepted > 1_000 && refused > 1_000,
        "{accepted} accepted, {refused} refused"
    );
}

#[test]
fn updates_that_are_decoded_beforehand_have_the_same_effect() {
    let ((mut one, mut first), (mut other, mut second)) = (loaded(), loaded());
    let mut decoding = one.target(&mut first, Instant::ZERO).unwrap();
    let mut plain = other.target(&mut second, Instant::ZERO).unwrap();
    let seeds = seeds(&plain);
    let mut random = ChaCha8Rng::seed_from_u64(3);
    let mut accepted = 0;
    for _ in 0..20_000 {
        let seed = &seeds[random.next_u32() as usize % seeds.len()];
        // Half of them are unchanged, so that many are accepted.
        let update = match random.next_u32() % 2 {
            0 => Some(seed.clone()),
            _ => mutated(seed, &mut random),
        };
        let Some(mut update) = update else { continue };
        update.r#type = 1 + (random.next_u32() % 3) as i32;
        let expected = entities::write(&mut plain, &update);
        let result = Prepared::new(decoding.model, update.clone()).write(&mut decoding);
        let said = |result: Outcome<()>| result.map_err(|fault| (fault.code, fault.message));
        let (expected, result) = (said(expected), said(result));
        assert_eq!(result, expected, "{update:?}");
        accepted += usize::from(result.is_ok());
    }
    assert!(accepted > 1_000, "{accepted}");
    let everything = |target: &Target<'_>| pipeline::everything(target).unwrap();
    assert_eq!(everything(&decoding), everything(&plain));
}

// p4runtime: dataplane-atomic
#[test]
fn a_batch_has_the_same_effect_if_packets_pass_while_it_is_prepared() {
    let ((mut one, mut first), (mut other, mut second)) = (loaded(), loaded());
    let mut at_once = one.target(&mut first, Instant::ZERO).unwrap();
    let mut drafted = other.target(&mut second, Instant::ZERO).unwrap();
    let seeds = seeds(&at_once);
    let mut random = ChaCha8Rng::seed_from_u64(4);
    let (mut whole, mut none) = (0, 0);
    for _ in 0..2_000 {
        let mut batch = Vec::new();
        for _ in 0..1 + random.next_u32() % 4 {
            let mut update = seeds[random.next_u32() as usize % seeds.len()].clone();
            update.r#type = 1 + (random.next_u32() % 3) as i32;
            batch.push(update);
        }
        let said = |results: Vec<Outcome<()>>| -> Vec<_> {
            let said = |result: Outcome<()>| result.map_err(|fault| (fault.code, fault.message));
            results.into_iter().map(said).collect()
        };
        let expected = said(write_or_take_back(&mut at_once, &batch));
        let results = said(write_as_a_whole(&mut drafted, &batch));
        assert_eq!(results, expected, "{batch:?}");
        match results.iter().all(Result::is_ok) {
            true => whole += 1,
            false => none += 1,
        }
        let everything = |target: &Target<'_>| pipeline::everything(target).unwrap();
        assert_eq!(everything(&drafted), everything(&at_once), "{batch:?}");
    }
    assert!(
        whole > 100 && none > 100,
        "{whole} whole, {none} not at all"
    );
}

// p4runtime: rollback
#[test]
fn a_batch_that_is_rolled_back_leaves_no_trace() {
    let (mut device, mut switch) = loaded();
    let mut target = device.target(&mut switch, Instant::ZERO).unwrap();
    let seeds = seeds(&target);
    let mut random = ChaCha8Rng::seed_from_u64(2);
    let everything = |target: &Target<'_>| {
        let mut octets: Vec<_> = pipeline::everything(target)
            .unwrap()
            .iter()
            .map(Message::encode_to_vec)
            .collect();
        octets.sort();
        octets
    };
    for round in 0..300 {
        let mut batch = Vec::new();
        for _ in 0..12 {
            let mut update = seeds[random.next_u32() as usize % seeds.len()].clone();
            update.r#type = 1 + (random.next_u32() % 3) as i32;
            // So that a batch makes some progress before it fails.
            let mut alone = prepared(&target, std::slice::from_ref(&update));
            if batch::write_all(&mut target, &mut alone, |_| true).is_ok() {
                batch.push(update);
            }
        }
        let before = everything(&target);
        batch.push(Update::default());
        let results = match round % 2 {
            0 => write_or_take_back(&mut target, &batch),
            _ => write_as_a_whole(&mut target, &batch),
        };
        assert!(results.iter().all(Result::is_err));
        assert_eq!(everything(&target), before);
    }
}
