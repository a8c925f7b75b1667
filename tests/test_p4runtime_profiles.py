"""Members and groups of action profiles, and one-shot groups, over P4Runtime."""

from __future__ import annotations

from typing import Any

import pytest
from finsy.proto import p4r
from p4runtime_client import DELETE, INSERT, MODIFY, Client
from p4runtime_server import refused, said
from test_p4runtime_tables import INVALID, NOT_FOUND, UNMARKED, mark, probe

p4runtime = pytest.mark.p4runtime
IN_USE, FULL, EXISTS = ["FAILED_PRECONDITION"], ["RESOURCE_EXHAUSTED"], ["ALREADY_EXISTS"]


def member(client: Client, number: int, action: Any = None, profile: str = "few") -> Any:
    """A member of the profile that implements a table."""
    made = p4r.ActionProfileMember(action_profile_id=profile_of(client, profile), member_id=number)
    if action is not None:
        made.action.CopyFrom(action)
    return made


def profile_of(client: Client, table: str) -> int:
    tables = client.p4info.tables
    return next(t.implementation_id for t in tables if t.preamble.alias == table)


def group(
    client: Client, number: int, *members: tuple[int, int], size: int = 4, table: str = "few"
) -> Any:
    """A group with members and their weights."""
    made = p4r.ActionProfileGroup(
        action_profile_id=profile_of(client, table), group_id=number, max_size=size
    )
    for one, weight in members:
        made.members.add(member_id=one, weight=weight)
    return made


def to_group(client: Client, number: int, table: str = "few", klass: int = 1) -> Any:
    action = p4r.TableAction(action_profile_group_id=number)
    return client.entry(table, action, **{"class": klass})


def to_member(client: Client, number: int, table: str = "few", klass: int = 1) -> Any:
    action = p4r.TableAction(action_profile_member_id=number)
    return client.entry(table, action, **{"class": klass})


def one_shot(client: Client, *choices: tuple[int, int], table: str = "few", klass: int = 1) -> Any:
    """An entry with an action set: marks and weights."""
    action = p4r.TableAction()
    action.action_profile_action_set.SetInParent()
    for value, weight in choices:
        action.action_profile_action_set.action_profile_actions.add(
            action=mark(client, value), weight=weight
        )
    return client.entry(table, action, **{"class": klass})


def marks(client: Client, count: int = 4) -> list[int]:
    """The marks that a group gives, by the octets that its selector hashes."""
    return sorted({probe(client, 1, rest=rest) for rest in range(count)})


# -- members ------------------------------------------------------------------------------------


@p4runtime(
    "member-insert", "member-exists", "member-action", "member-zero", "member-foreign-action"
)
def test_members_are_inserted(tables: Client) -> None:
    tables.write((INSERT, member(tables, 1, mark(tables, 1))))
    assert said(tables, (INSERT, member(tables, 1, mark(tables, 2)))) == EXISTS
    assert said(tables, (INSERT, member(tables, 2)), (INSERT, member(tables, 0))) == INVALID * 2
    foreign = member(tables, 2, tables.action("metered"))
    assert said(tables, (INSERT, foreign)) == INVALID
    no_profile = p4r.ActionProfileMember(member_id=1, action=mark(tables, 1))
    assert said(tables, (INSERT, no_profile)) == INVALID


@p4runtime("member-full")
def test_a_profile_holds_no_more_members_than_its_size(tables: Client) -> None:
    members = [member(tables, i, mark(tables, i), "members") for i in range(1, 6)]
    codes = said(tables, *((INSERT, one) for one in members))
    assert codes == ["OK"] * 4 + FULL


@p4runtime("member-modify", "member-modify-missing", "member-modify-action", "member-in-groups")
def test_members_change_in_all_their_groups(tables: Client) -> None:
    assert said(tables, (MODIFY, member(tables, 1, mark(tables, 1)))) == NOT_FOUND
    tables.write((INSERT, member(tables, 1, mark(tables, 1))))
    assert said(tables, (MODIFY, member(tables, 1))) == INVALID
    tables.write((INSERT, group(tables, 1, (1, 1))), (INSERT, group(tables, 2, (1, 2))))
    first, second = to_group(tables, 1), to_group(tables, 2, klass=2)
    tables.write((INSERT, first), (INSERT, second))
    tables.write((MODIFY, member(tables, 1, mark(tables, 9))))
    assert (probe(tables, 1), probe(tables, 2)) == (9, 9)
    other_action = tables.action("mark_both", high=1, low=2)
    tables.write((MODIFY, member(tables, 1, other_action)))
    assert probe(tables, 1) == 0x12


@p4runtime(
    "member-delete", "member-delete-missing", "member-delete-in-group", "member-delete-in-table"
)
def test_members_in_use_are_not_deleted(tables: Client) -> None:
    assert said(tables, (DELETE, member(tables, 1))) == NOT_FOUND
    tables.write((INSERT, member(tables, 1, mark(tables, 1))))
    tables.write((INSERT, group(tables, 1, (1, 1))))
    assert said(tables, (DELETE, member(tables, 1))) == IN_USE
    tables.write((DELETE, group(tables, 1)), (INSERT, to_member(tables, 1)))
    assert said(tables, (DELETE, member(tables, 1))) == IN_USE
    tables.write((DELETE, to_member(tables, 1)))
    nonsense = member(tables, 1, p4r.Action(action_id=99))
    tables.write((DELETE, nonsense))
    assert tables.read(p4r.ActionProfileMember()) == []


@p4runtime("member-read", "group-read", "member-group-scopes")
def test_members_and_groups_are_read_one_by_one_and_all(tables: Client) -> None:
    one, two = member(tables, 1, mark(tables, 1)), member(tables, 2, mark(tables, 2))
    other = member(tables, 1, mark(tables, 1), "weighted")
    tables.write((INSERT, one), (INSERT, two), (INSERT, other))
    # A group may have the number of a member.
    few, weighted = group(tables, 1, (1, 1)), group(tables, 1, (1, 1), table="weighted")
    tables.write((INSERT, few), (INSERT, weighted))
    assert tables.read(member(tables, 2)) == [two]
    assert tables.read(member(tables, 0)) == [one, two]
    assert len(tables.read(p4r.ActionProfileMember())) == 3
    assert tables.read(member(tables, 7)) == []
    assert tables.read(group(tables, 1)) == [few]
    assert tables.read(group(tables, 0, table="weighted")) == [weighted]
    assert len(tables.read(p4r.ActionProfileGroup())) == 2


# -- groups -------------------------------------------------------------------------------------


@pytest.fixture
def members(tables: Client) -> Client:
    """A switch with three members of `few`."""
    tables.write(*((INSERT, member(tables, i, mark(tables, i))) for i in (1, 2, 3)))
    return tables


@p4runtime("group-insert", "group-exists", "group-zero", "group-unknown-member", "group-twice")
def test_groups_are_inserted(members: Client) -> None:
    client = members
    client.write((INSERT, group(client, 5, (1, 1), (2, 1))))
    client.write((INSERT, to_group(client, 5)))
    assert marks(client) == [1, 2]
    assert said(client, (INSERT, group(client, 5))) == EXISTS
    assert said(client, (INSERT, group(client, 0, (1, 1)))) == INVALID
    assert said(client, (INSERT, group(client, 6, (9, 1)))) == NOT_FOUND
    assert said(client, (INSERT, group(client, 6, (1, 1), (1, 1)))) == INVALID


@p4runtime("group-modify", "group-modify-missing", "group-modify-member", "group-size-fixed")
def test_groups_change_their_members(members: Client) -> None:
    client = members
    client.write((INSERT, group(client, 5, (1, 1))), (INSERT, to_group(client, 5)))
    assert said(client, (MODIFY, group(client, 6, (1, 1)))) == NOT_FOUND
    assert said(client, (MODIFY, group(client, 5, (9, 1)))) == NOT_FOUND
    assert said(client, (MODIFY, group(client, 5, (1, 1), size=3))) == INVALID
    client.write((MODIFY, group(client, 5, (2, 1), (3, 1))))
    assert marks(client) == [2, 3]


@p4runtime("group-delete", "group-delete-missing", "group-delete-in-table")
def test_groups_in_use_are_not_deleted(members: Client) -> None:
    client = members
    assert said(client, (DELETE, group(client, 5))) == NOT_FOUND
    client.write((INSERT, group(client, 5, (1, 1))), (INSERT, to_group(client, 5)))
    assert said(client, (DELETE, group(client, 5))) == IN_USE
    client.write((DELETE, to_group(client, 5)))
    client.write((DELETE, group(client, 5, (77, 0), size=-3)))
    assert client.read(p4r.ActionProfileGroup()) == []


@p4runtime("group-weight-zero", "weight-shares", "max-member-weight")
def test_weights(members: Client) -> None:
    client = members
    for weight in (0, -1, 11):
        assert said(client, (INSERT, group(client, 5, (1, weight)))) == INVALID
    client.write((INSERT, group(client, 5, (1, 1), (2, 3))), (INSERT, to_group(client, 5)))
    given = [probe(client, 1, rest=rest) for rest in range(16)]
    assert (given.count(1), given.count(2)) == (4, 12)


@p4runtime("group-max-size", "group-max-size-zero", "group-size-members", "group-size-weights")
def test_groups_are_as_large_as_p4info_says(members: Client) -> None:
    client = members
    for size in (0, -1, 5):
        assert said(client, (INSERT, group(client, 5, size=size))) == INVALID
    # By members: weights do not count.
    client.write((INSERT, group(client, 5, (1, 10), (2, 10), size=2)))
    assert said(client, (MODIFY, group(client, 5, (1, 1), (2, 1), (3, 1), size=2))) == FULL
    # By weights.
    client.write((INSERT, member(client, 1, mark(client, 1), "weighted")))
    client.write((INSERT, group(client, 1, (1, 3), size=3, table="weighted")))
    heavy = group(client, 1, (1, 4), size=3, table="weighted")
    assert said(client, (MODIFY, heavy)) == FULL
    assert said(client, (INSERT, group(client, 2, size=7, table="weighted"))) == INVALID


@p4runtime("group-max-size-free", "group-max-size-unsupported")
def test_groups_without_a_limit_in_p4info(client: Client) -> None:
    def spread(size: int) -> Any:
        return group(client, 1, size=size, table="spread")

    assert said(client, (INSERT, spread(-1))) == INVALID
    assert said(client, (INSERT, spread(1 << 20))) == FULL
    client.write((INSERT, spread(0)))
    client.write((DELETE, spread(0)), (INSERT, spread(1000)))


@p4runtime("group-no-selector", "indirect-missing")
def test_groups_need_a_selector_and_entries_what_is_there(members: Client) -> None:
    client = members
    assert said(client, (INSERT, group(client, 1, size=0, table="members"))) == INVALID
    assert said(client, (INSERT, to_group(client, 8)), (INSERT, to_member(client, 8))) == (
        NOT_FOUND * 2
    )


@p4runtime("different-actions", "empty-group")
def test_groups_of_different_actions_and_of_none(members: Client) -> None:
    client = members
    client.write((MODIFY, member(client, 2, client.action("mark_both", high=1, low=2))))
    client.write((INSERT, group(client, 5, (1, 1), (2, 1))), (INSERT, to_group(client, 5)))
    assert marks(client) == [1, 0x12]
    client.write((MODIFY, group(client, 5)))
    assert marks(client) == [UNMARKED], "no action runs"


@p4runtime("watch-port-kept", "watch-port-invalid")
def test_watched_ports_of_members(members: Client) -> None:
    client = members
    watching = group(client, 5, (1, 1), (2, 1))
    watching.members[0].watch_port = b"\x03"
    client.write((INSERT, watching))
    assert client.read(group(client, 5)) == [watching]
    for port in (b"\x02\x00", b"\xff\xff\xff\xfd"):
        watching.members[0].watch_port = port
        assert said(client, (MODIFY, watching)) == INVALID


# -- one-shot groups ----------------------------------------------------------------------------


@p4runtime("one-shot", "one-shot-read", "one-shot-same-action", "one-shot-modify")
def test_action_sets_are_given_back_as_they_came(tables: Client) -> None:
    entry = one_shot(tables, (1, 1), (2, 3), (1, 1))
    tables.write((INSERT, entry))
    assert tables.read(tables.entry("few")) == [entry]
    assert marks(tables) == [1, 2]
    other = one_shot(tables, (5, 1))
    tables.write((MODIFY, other))
    assert tables.read(tables.entry("few")) == [other]
    assert marks(tables) == [5]
    assert tables.read(p4r.ActionProfileMember(), p4r.ActionProfileGroup()) == []
    tables.write((DELETE, other))
    assert marks(tables) == [UNMARKED]


@p4runtime("one-shot-weight", "one-shot-members", "one-shot-weights", "one-shot-member-weight")
def test_action_sets_are_as_large_as_p4info_says(tables: Client) -> None:
    wrong = [
        one_shot(tables, (1, 0)),
        one_shot(tables, (1, -1)),
        one_shot(tables, *[(1, 1)] * 5),
        one_shot(tables, (1, 11)),
        one_shot(tables, (1, 4), (2, 3), table="weighted"),
    ]
    assert said(tables, *((INSERT, entry) for entry in wrong)) == INVALID * len(wrong)
    tables.write((INSERT, one_shot(tables, *[(1, 10)] * 4)))
    tables.write((INSERT, one_shot(tables, (1, 4), (2, 2), table="weighted")))


@p4runtime("one-shot-action")
def test_action_sets_hold_actions_of_the_table(tables: Client) -> None:
    entry = one_shot(tables, (1, 1))
    choice = entry.action.action_profile_action_set.action_profile_actions[0]
    choice.action.CopyFrom(tables.action("metered"))
    assert said(tables, (INSERT, entry)) == INVALID
    choice.ClearField("action")
    assert said(tables, (INSERT, entry)) == INVALID
    tables.write((INSERT, one_shot(tables)))
    assert probe(tables, 1) == UNMARKED, "an empty set runs no action"


@p4runtime("one-shot-mode")
def test_action_sets_are_chosen_and_measured_as_the_selector_is(tables: Client) -> None:
    entry = one_shot(tables, (1, 1), (2, 1))
    action_set = entry.action.action_profile_action_set
    action_set.action_selection_mode = p4r.ActionProfileActionSet.HASH
    action_set.size_semantics = p4r.ActionProfileActionSet.SUM_OF_MEMBERS
    tables.write((INSERT, entry))
    assert tables.read(tables.entry("few")) == [entry]
    action_set.action_selection_mode = p4r.ActionProfileActionSet.RANDOM
    assert said(tables, (MODIFY, entry)) == ["UNIMPLEMENTED"]
    action_set.action_selection_mode = p4r.ActionProfileActionSet.HASH
    action_set.size_semantics = p4r.ActionProfileActionSet.SUM_OF_WEIGHTS
    assert said(tables, (MODIFY, entry)) == ["UNIMPLEMENTED"]


@p4runtime("weights-disallowed")
def test_weights_that_the_switch_sets(tables: Client) -> None:
    for profile in tables.p4info.action_profiles:
        profile.weights_disallowed = profile.preamble.alias == "by_members"
    tables.set_pipeline(tables.get_pipeline().config.p4_device_config)
    assert said(tables, (INSERT, one_shot(tables, (1, 1)))) == INVALID
    entry = one_shot(tables, (1, 0), (2, 0))
    tables.write((INSERT, entry))
    assert tables.read(tables.entry("few")) == [entry]
    assert marks(tables) == [1, 2]
    tables.write((DELETE, entry), (INSERT, member(tables, 1, mark(tables, 1))))
    assert said(tables, (INSERT, group(tables, 1, (1, 1)))) == INVALID
    tables.write((INSERT, group(tables, 1, (1, 0))), (INSERT, to_group(tables, 1)))
    assert marks(tables) == [1]


@p4runtime("one-shot-apart")
def test_action_sets_are_not_mixed_with_members(tables: Client) -> None:
    tables.write((INSERT, one_shot(tables, (1, 1))))
    assert said(tables, (INSERT, member(tables, 1, mark(tables, 1)))) == INVALID
    tables.write((DELETE, one_shot(tables)))
    tables.write((INSERT, member(tables, 1, mark(tables, 1))))
    assert said(tables, (INSERT, one_shot(tables, (1, 1)))) == INVALID


@p4runtime("one-shot-watch")
def test_watched_ports_of_action_sets(tables: Client) -> None:
    entry = one_shot(tables, (1, 1), (2, 1))
    choices = entry.action.action_profile_action_set.action_profile_actions
    choices[0].watch_port = b"\x03"
    tables.write((INSERT, entry))
    assert tables.read(tables.entry("few")) == [entry]
    choices[0].watch_port = b"\x02\x00"
    assert said(tables, (MODIFY, entry)) == INVALID
    assert refused(lambda: tables.write((INSERT, entry)))
