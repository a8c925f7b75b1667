//! Tests of links that go down and come up: members that watch ports, and backup replicas.

use crate::device::Device;
use crate::entities;
use crate::proto::v1::packet_replication_engine_entry::Type as Replicated;
use crate::proto::v1::*;
use crate::robustness::loaded;
use engine::{EntryAction, Switch};
use units::Instant;

fn insert(device: &mut Device, switch: &mut Option<Switch>, entity: entity::Entity) {
    let mut target = device.target(switch, Instant::ZERO).unwrap();
    let update = Update {
        r#type: update::Type::Insert as i32,
        entity: Some(entity.into()),
    };
    entities::write(&mut target, &update).unwrap();
}

fn set_link(device: &mut Device, switch: &mut Option<Switch>, port: u16, up: bool) {
    device.set_link(switch, Instant::ZERO, port, up);
}

/// The ID of the selector's table, and its action `forward` with this port.
fn forward(device: &Device, port: u8) -> (u32, crate::proto::v1::Action) {
    let model = &device.loaded().unwrap().model;
    let mut tables = model.tables.values();
    let table = tables.find(|table| table.profile.is_some()).unwrap();
    let mut actions = model.actions.iter();
    let (&action_id, _) = actions
        .find(|(_, a)| a.name == "MyIngress.forward")
        .unwrap();
    let param = action::Param {
        param_id: 1,
        value: vec![port],
    };
    let action = crate::proto::v1::Action {
        action_id,
        params: vec![param],
    };
    (table.id, action)
}

// p4runtime: one-shot-watch-port
#[test]
fn actions_of_an_action_set_go_with_their_ports() {
    let (mut device, mut switch) = loaded();
    set_link(&mut device, &mut switch, 2, false);
    let choice = |port: u8, watched: &[u8]| ActionProfileAction {
        action: Some(forward(&device, port).1),
        weight: 1,
        watch_kind: Some(action_profile_action::WatchKind::WatchPort(watched.into())),
    };
    let set = ActionProfileActionSet {
        action_profile_actions: vec![choice(1, &[1]), choice(2, &[2]), choice(3, &[])],
        ..Default::default()
    };
    let exact = field_match::FieldMatchType::Exact(field_match::Exact { value: vec![5] });
    let (table_id, _) = forward(&device, 1);
    let entry = TableEntry {
        table_id,
        r#match: vec![FieldMatch {
            field_id: 1,
            field_match_type: Some(exact),
        }],
        action: Some(TableAction {
            r#type: Some(table_action::Type::ActionProfileActionSet(set)),
        }),
        ..Default::default()
    };
    let written = entity::Entity::TableEntry(entry.clone());
    insert(&mut device, &mut switch, written.clone());
    let chosen = |device: &mut Device, switch: &mut Option<Switch>| {
        let target = device.target(switch, Instant::ZERO).unwrap();
        let mut found = Vec::new();
        entities::read(&target, &written.clone().into(), &mut found).unwrap();
        assert_eq!(
            found,
            [written.clone().into()],
            "it is read as it was written"
        );
        let table = target.model.tables[&table_id].table;
        match &target.switch.entries(table).unwrap()[0].action {
            EntryAction::OneShot(choices) => choices.len(),
            other => panic!("{other:?}"),
        }
    };
    assert_eq!(chosen(&mut device, &mut switch), 2, "one was down before");
    set_link(&mut device, &mut switch, 1, false);
    assert_eq!(chosen(&mut device, &mut switch), 1);
    set_link(&mut device, &mut switch, 1, true);
    set_link(&mut device, &mut switch, 2, true);
    assert_eq!(chosen(&mut device, &mut switch), 3);
}

// p4runtime: watch-port
#[test]
fn members_of_a_group_go_with_their_ports() {
    let (mut device, mut switch) = loaded();
    let (&profile, _) = device
        .loaded()
        .unwrap()
        .model
        .profiles
        .iter()
        .next()
        .unwrap();
    let member = |member_id: u32| ActionProfileMember {
        action_profile_id: profile,
        member_id,
        action: Some(forward(&device, member_id as u8).1),
    };
    let members = [1, 2].map(member);
    for member in members {
        insert(
            &mut device,
            &mut switch,
            entity::Entity::ActionProfileMember(member),
        );
    }
    let watching = |member_id: u32| action_profile_group::Member {
        member_id,
        weight: 1,
        watch_kind: Some(action_profile_group::member::WatchKind::WatchPort(vec![
            member_id as u8,
        ])),
    };
    let group = ActionProfileGroup {
        action_profile_id: profile,
        group_id: 1,
        members: [1, 2].map(watching).into(),
        max_size: 4,
    };
    insert(
        &mut device,
        &mut switch,
        entity::Entity::ActionProfileGroup(group),
    );
    let object = device.loaded().unwrap().model.profiles[&profile].object;
    let chosen = |switch: &Option<Switch>| {
        let groups = switch.as_ref().unwrap().groups(object).unwrap();
        groups[0]
            .members
            .iter()
            .map(|(id, _)| *id)
            .collect::<Vec<_>>()
    };
    assert_eq!(chosen(&switch), [1, 2]);
    set_link(&mut device, &mut switch, 1, false);
    assert_eq!(chosen(&switch), [2]);
    set_link(&mut device, &mut switch, 1, true);
    assert_eq!(chosen(&switch), [1, 2]);
}

// p4runtime: backup-failover
#[test]
fn copies_fall_back_on_other_ports() {
    let (mut device, mut switch) = loaded();
    let backup = |port: u8| BackupReplica {
        port: vec![port],
        instance: u32::from(port),
    };
    let group = MulticastGroupEntry {
        multicast_group_id: 7,
        replicas: vec![Replica {
            instance: 1,
            port_kind: Some(replica::PortKind::Port(vec![1])),
            backup_replicas: [2, 3].map(backup).into(),
        }],
        ..Default::default()
    };
    let entry = PacketReplicationEngineEntry {
        r#type: Some(Replicated::MulticastGroupEntry(group)),
    };
    let entity = entity::Entity::PacketReplicationEngineEntry(entry);
    insert(&mut device, &mut switch, entity);
    let copied = |switch: &Option<Switch>| {
        let replicas = switch.as_ref().unwrap().multicast_group(7);
        replicas
            .iter()
            .map(|one| (one.port, one.rid))
            .collect::<Vec<_>>()
    };
    assert_eq!(copied(&switch), [(1, 1)]);
    let changes = [(1, false, (2, 2)), (2, false, (3, 3)), (3, false, (1, 1))];
    for (port, up, copy) in changes {
        set_link(&mut device, &mut switch, port, up);
        assert_eq!(copied(&switch), [copy]);
    }
    for (port, copy) in [(3, (3, 3)), (2, (2, 2)), (1, (1, 1))] {
        set_link(&mut device, &mut switch, port, true);
        assert_eq!(copied(&switch), [copy]);
    }
}

#[test]
fn groups_follow_links_that_change_while_a_batch_is_prepared() {
    let (mut device, mut switch) = loaded();
    let group = |id, port: u8| {
        let replica = Replica {
            instance: 1,
            port_kind: Some(replica::PortKind::Port(vec![port])),
            backup_replicas: vec![BackupReplica {
                port: vec![port + 10],
                instance: 1,
            }],
        };
        let group = MulticastGroupEntry {
            multicast_group_id: id,
            replicas: vec![replica],
            ..Default::default()
        };
        entity::Entity::PacketReplicationEngineEntry(PacketReplicationEngineEntry {
            r#type: Some(Replicated::MulticastGroupEntry(group)),
        })
    };
    insert(&mut device, &mut switch, group(1, 3));
    let ports = |switch: &Option<Switch>, group| -> Vec<u16> {
        let group = switch.as_ref().unwrap().multicast_group(group);
        group.iter().map(|replica| replica.port).collect()
    };
    let draft = engine::DraftScope {
        replication: true,
        ..Default::default()
    };
    for publish in [false, true] {
        let target = device.target(&mut switch, Instant::ZERO).unwrap();
        target.switch.begin_batch(&draft);
        while !target.switch.copy_to_batch(1) {}
        target.switch.edit_draft(true);
        insert(&mut device, &mut switch, group(2, 4));
        switch.as_mut().unwrap().edit_draft(false);
        set_link(&mut device, &mut switch, 3, publish);
        set_link(&mut device, &mut switch, 4, false);
        assert!(ports(&switch, 2).is_empty());
        let batch = switch.as_mut().unwrap();
        if publish {
            batch.publish_batch();
        } else {
            batch.discard_batch();
            // This is how the server undoes changes to its state when a batch fails.
            let state = &mut device.running.as_mut().unwrap().state;
            state.multicast_groups.remove(&2);
        }
        device.follow_links(&mut switch, Instant::ZERO);
        let expected: [&[u16]; 2] = match publish {
            true => [&[3], &[14]],
            false => [&[13], &[]],
        };
        assert_eq!([1, 2].map(|group| ports(&switch, group)), expected);
    }
}
