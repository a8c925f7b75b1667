"""What the controller sends to a switch that remembers everything."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Awaitable, Callable
from dataclasses import replace
from pathlib import Path

import pytest
from conftest import ROOT, Golden
from fake_switch import FakeSwitch
from finsy.proto import p4r, rpc_code
from google.protobuf import text_format

from controller import apply as applying
from controller import config
from controller.apply import Wanted
from controller.client import SwitchError, connected
from controller.config import Config
from controller.watch import State, Watcher
from waymark.entry import Entry
from waymark.errors import WaymarkError

EXAMPLE = ROOT / "controller" / "examples" / "two_ports.yaml"
GOLDEN = ROOT / "tests" / "controller" / "two_ports.writes.txtpb"


def example(folder: Path, port: int, *edits: tuple[str, str]) -> tuple[Config, Wanted]:
    """The example's configuration for a switch at ``port``, with some text changed."""
    text = EXAMPLE.read_text().replace(":9559", f":{port}")
    for old, new in edits:
        assert old in text
        text = text.replace(old, new)
    file = folder / "config.yaml"
    file.write_text(text)
    settings = config.load(file)
    return settings, applying.wanted(settings, folder)["s1"]


def with_switch(test: Callable[[FakeSwitch, int], Awaitable[None]]) -> FakeSwitch:
    """Run ``test`` with a switch, and return that."""
    switch = FakeSwitch()

    async def run() -> None:
        port = await switch.start()
        try:
            await test(switch, port)
        finally:
            await switch.stop()

    asyncio.run(run())
    return switch


async def apply(wanted: Wanted) -> applying.Plan:
    async with connected(wanted.target) as client:
        return await applying.apply(client, wanted)


async def until(condition: Callable[[], bool], seconds: float = 10) -> None:
    """Wait for ``condition``, or fail."""
    async with asyncio.timeout(seconds):
        while not condition():
            await asyncio.sleep(0.01)


def test_the_writes_of_the_example_are_the_golden_s(tmp_path: Path, golden: Golden) -> None:
    async def test(_: FakeSwitch, port: int) -> None:
        await apply(example(tmp_path, port)[1])

    switch = with_switch(test)
    assert len(switch.writes) == 1
    sent = text_format.MessageToString(switch.writes[0])
    assert text_format.Parse(golden(GOLDEN, sent), p4r.WriteRequest()) == switch.writes[0]


def test_the_pipeline_is_p4_in_one_text_with_p4info_and_cookie(tmp_path: Path) -> None:
    async def test(_: FakeSwitch, port: int) -> None:
        await apply(example(tmp_path, port)[1])

    sent = with_switch(test).config
    assert sent is not None
    source = sent.p4_device_config.decode()
    assert "#include" not in source
    assert source.count("control Admission") == 1
    assert "ipv4_route" in {table.preamble.alias for table in sent.p4info.tables}
    assert sent.cookie.cookie != 0


def test_bmv2_gets_the_json_it_is_configured_with(tmp_path: Path) -> None:
    edits = (
        ("v1model/waymark.p4", "v1model/waymark.p4\n    target: bmv2\n    device_config: w.json"),
    )
    (tmp_path / "w.json").write_text('{"program": "waymark.p4"}')

    async def test(_: FakeSwitch, port: int) -> None:
        await apply(example(tmp_path, port, *edits)[1])

    switch = with_switch(test)
    assert switch.config is not None
    assert switch.config.p4_device_config == b'{"program": "waymark.p4"}'
    assert len(switch.entries) == len(switch.writes[0].updates)
    (tmp_path / "w.json").write_text("P4 text")
    with pytest.raises(WaymarkError, match=r"w.json: not JSON"):
        example(tmp_path, 1, *edits)


def test_a_second_apply_has_nothing_to_do(tmp_path: Path) -> None:
    async def test(_: FakeSwitch, port: int) -> None:
        _settings, wanted = example(tmp_path, port)
        first, second = await apply(wanted), await apply(wanted)
        assert first.push is not None
        assert second.is_empty

    switch = with_switch(test)
    assert (switch.pushes, len(switch.writes)) == (1, 1)


STAR = """\
switches:
  s1:
    address: 127.0.0.1:{port}
    program: {program}
"""

REPLICATION = """\
    defaults: [{table: StarIngress.host, action: flood, params: {group: 1}}]
    multicast_groups: [{id: 1, replicas: [{port: 2, instance: 1}, {port: 1, instance: 1}]}]
    clone_sessions: [{id: 7, replicas: [{port: 3}], octets: 60}]
"""


def star(folder: Path, port: int, more: str) -> Wanted:
    """A switch that runs a program without any of this project's tables."""
    file = folder / "star.yaml"
    program = ROOT / "tests/topology_files/exercise/star.p4"
    file.write_text(STAR.format(port=port, program=program) + more)
    return applying.wanted(config.load(file), folder)["s1"]


def test_default_actions_groups_and_sessions_are_brought_and_taken_back(tmp_path: Path) -> None:
    async def test(switch: FakeSwitch, port: int) -> None:
        first = await apply(star(tmp_path, port, REPLICATION))
        assert [str(change) for change in first.changes] == [
            "~ host default: flood(group=1), was drop()",
            "+ multicast group 1: ports 1 (instance 1), 2 (instance 1)",
            "+ clone session 7: ports 3, cut to 60 octets",
        ]
        assert (len(switch.defaults), len(switch.engine)) == (1, 2)
        assert (await apply(star(tmp_path, port, REPLICATION))).is_empty
        fewer = await apply(star(tmp_path, port, REPLICATION.replace("{port: 1, instance: 1}", "")))
        assert [str(change) for change in fewer.changes] == [
            "~ multicast group 1: ports 2 (instance 1), was ports 1 (instance 1), 2 (instance 1)"
        ]
        last = await apply(star(tmp_path, port, ""))
        assert [str(change) for change in last.changes] == [
            "- multicast group 1: ports 2 (instance 1)",
            "- clone session 7: ports 3, cut to 60 octets",
            "~ host default: drop(), was flood(group=1)",
        ]
        assert switch.engine == {}

    with_switch(test)


def test_two_entries_of_one_match_are_refused(tmp_path: Path) -> None:
    entry = "{table: host, match: {hdr.ethernet.dst_addr: 1}, action: forward, params: {port: %d}}"
    more = f"    entries: [{entry % 1}, {entry % 2}]\n"
    with pytest.raises(WaymarkError, match=r"s1: two entries have the same match .*port=1.*port=2"):
        star(tmp_path, 1, more)


def test_only_what_differs_is_written(tmp_path: Path) -> None:
    async def test(_: FakeSwitch, port: int) -> None:
        await apply(example(tmp_path, port)[1])
        _, changed = example(
            tmp_path,
            port,
            ("queue_limit: 50", "queue_limit: 40"),
            ("10.0.2.0/24", "10.0.3.0/24"),
        )
        plan = await apply(changed)
        assert plan.push is None
        assert [str(change) for change in plan.changes] == [
            "- ipv4_route dst_addr=10.0.2.0/24: direct(port=2)",
            "~ port_queue port=1: drop_tail(max_waiting=39), was drop_tail(max_waiting=49)",
            "+ ipv4_route dst_addr=10.0.3.0/24: direct(port=2)",
        ]

    types = [update.type for update in with_switch(test).writes[1].updates]
    assert types == [p4r.Update.DELETE, p4r.Update.MODIFY, p4r.Update.INSERT]


def test_plan_writes_nothing_and_shows_what_apply_then_does(tmp_path: Path) -> None:
    async def test(switch: FakeSwitch, port: int) -> None:
        _, wanted = example(tmp_path, port)
        async with connected(wanted.target) as client:
            planned = await applying.plan(client, wanted)
        assert not switch.streams
        assert (switch.pushes, switch.writes) == (0, [])
        assert (await apply(wanted)).changes == planned.changes

    with_switch(test)


def test_another_program_is_pushed_and_all_its_entries_written(tmp_path: Path) -> None:
    plain = (
        ("v1model/waymark.p4", "v1model/plain.p4"),
        ("        marks: [aqt, drai, ci]\n", ""),
        ("        red: { thmin: 5, thmax: 15, pmax: 0.1, w: 9 }\n", ""),
    )

    async def test(switch: FakeSwitch, port: int) -> None:
        await apply(example(tmp_path, port)[1])
        plan = await apply(example(tmp_path, port, *plain)[1])
        assert plan.push is not None
        assert "v1model/plain.p4 (runs another one, cookie 0x" in plan.push
        assert len(plan.changes) == len(switch.entries) == 6

    assert with_switch(test).pushes == 2


def test_a_refused_update_names_its_entry(tmp_path: Path) -> None:
    async def test(switch: FakeSwitch, port: int) -> None:
        switch.refuse = rpc_code.RESOURCE_EXHAUSTED
        with pytest.raises(SwitchError) as refused:
            await apply(example(tmp_path, port)[1])
        message = str(refused.value)
        assert "s1 (127.0.0.1:" in message
        assert "+ port_queue port=1: drop_tail(max_waiting=49): as the test wants it" in message

    with_switch(test)


def test_apply_leaves_a_switch_with_another_primary_alone(tmp_path: Path) -> None:
    async def test(switch: FakeSwitch, port: int) -> None:
        settings, wanted = example(tmp_path, port)
        async with connected(wanted.target) as other:
            await other.arbitrate()
            with pytest.raises(SwitchError, match=r"election id 10. .* edit the file"):
                await apply(wanted)
        assert switch.pushes == 0
        assert settings.election_id == 10

    with_switch(test)


def test_a_connection_that_is_closed_at_once_may_be_one_without_tls(tmp_path: Path) -> None:
    async def test() -> None:
        async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            await reader.read(1)
            writer.write(bytes.fromhex("15030300020246"))  # TLS: a fatal alert, protocol_version
            writer.close()

        async with await asyncio.start_server(answer, "127.0.0.1", 0) as server:
            _, wanted = example(tmp_path, server.sockets[0].getsockname()[1])
            with pytest.raises(SwitchError, match="if it uses TLS, set the certificates in"):
                await apply(wanted)

    asyncio.run(test())


def test_a_connection_that_breaks_later_says_nothing_of_tls(tmp_path: Path) -> None:
    async def test(_: FakeSwitch, port: int) -> None:
        ends: list[asyncio.StreamWriter] = []

        async def pump(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            while octets := await reader.read(1 << 16):
                writer.write(octets)

        async def relay(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            up, down = await asyncio.open_connection("127.0.0.1", port)
            ends.extend((writer, down))
            await asyncio.gather(pump(reader, down), pump(up, writer))

        async with await asyncio.start_server(relay, "127.0.0.1", 0) as server:
            _, wanted = example(tmp_path, server.sockets[0].getsockname()[1])
            async with connected(wanted.target) as client:
                await client.arbitrate()
                for end in ends:
                    end.close()
                with pytest.raises(SwitchError, match="Socket closed") as raised:
                    await client.next_role()
        assert "TLS" not in str(raised.value)

    with_switch(test)


def test_apply_takes_over_where_a_primary_with_a_larger_id_has_gone(tmp_path: Path) -> None:
    async def test(switch: FakeSwitch, port: int) -> None:
        _, wanted = example(tmp_path, port)
        async with connected(replace(wanted.target, election_id=100)) as other:
            await other.arbitrate()
        await until(lambda: not switch.streams)
        await apply(wanted)
        assert switch.pushes == 1
        assert switch.writes[0].election_id.low == 100

    with_switch(test)


def test_a_setting_without_a_table_in_the_program_is_refused(tmp_path: Path) -> None:
    with pytest.raises(
        WaymarkError, match=r"plain.p4 has no table red_weight, which red of port 2"
    ):
        example(tmp_path, 1, ("v1model/waymark.p4", "v1model/plain.p4"))


def test_more_entries_than_a_table_holds_are_refused(tmp_path: Path) -> None:
    prefixes = (f"10.{n // 256}.{n % 256}.0/24" for n in range(4096, 4096 + 1100))
    routes = "".join(f"      - {{to: {to}, port: 1}}\n" for to in prefixes)
    with pytest.raises(WaymarkError) as refused:
        example(tmp_path, 1, ("    routes:\n", f"    routes:\n{routes}"))
    found = re.fullmatch(
        r"s1: the configuration has (\d+) entries for table ipv4_route; valid: at most 1024",
        str(refused.value),
    )
    assert found is not None, refused.value
    assert int(found[1]) > 1100, "those of the example are counted too"


def test_ipv6_goes_to_the_cpu_port_where_an_entry_says_so(tmp_path: Path) -> None:
    punt = "    entries:\n      - {table: punt, match: {ether_type: 0x86dd}, action: send_to_cpu}\n"
    _, wanted = example(tmp_path, 1, ("    routes:\n", f"{punt}    routes:\n"))
    punted = [entry for entry in wanted.entries if isinstance(entry, Entry)]
    assert ("punt", {"ether_type": 0x86DD}) in [(one.table, one.match) for one in punted]


def watcher(folder: Path, port: int, election_id: int = 10) -> Watcher:
    edit = ("switches:", f"election_id: {election_id}\nswitches:")
    settings, wanted = example(folder, port, edit)
    return Watcher(settings.switches["s1"], wanted, interval_s=0.05)


def test_watch_mends_what_others_change(tmp_path: Path) -> None:
    async def test(switch: FakeSwitch, port: int) -> None:
        watching = watcher(tmp_path, port)
        task = asyncio.create_task(watching.run())
        await until(lambda: watching.snapshot.state is State.PRIMARY)
        held = list(switch.entries)
        switch.table.pop(next(iter(switch.table)))
        await until(lambda: len(switch.writes) == 2)
        assert [update.type for update in switch.writes[1].updates] == [p4r.Update.INSERT]
        assert sorted(map(str, switch.entries)) == sorted(map(str, held))
        task.cancel()

    with_switch(test)


def test_watch_converges_after_a_restart_of_the_switch(tmp_path: Path) -> None:
    async def run() -> None:
        first = FakeSwitch()
        port = await first.start()
        watching = watcher(tmp_path, port)
        task = asyncio.create_task(watching.run())
        await until(lambda: watching.snapshot.state is State.PRIMARY)
        await first.stop()
        await until(lambda: watching.snapshot.state is State.CONNECTING)
        second = FakeSwitch()
        await second.start(port)
        await until(lambda: watching.snapshot.state is State.PRIMARY)
        assert sorted(map(str, second.entries)) == sorted(map(str, first.entries))
        assert second.pushes == 1
        task.cancel()
        await second.stop()

    asyncio.run(run())


def test_watch_yields_to_a_higher_election_id_and_takes_over_when_it_goes(tmp_path: Path) -> None:
    async def test(switch: FakeSwitch, port: int) -> None:
        low, high = watcher(tmp_path, port), watcher(tmp_path, port, election_id=20)
        low_task = asyncio.create_task(low.run())
        await until(lambda: low.snapshot.state is State.PRIMARY)
        high_task = asyncio.create_task(high.run())
        await until(lambda: high.snapshot.state is State.PRIMARY)
        await until(lambda: low.snapshot.state is State.BACKUP)
        switch.table.clear()
        await until(lambda: len(switch.writes) == 2)
        assert switch.writes[1].election_id.low == 20
        high_task.cancel()
        await until(lambda: low.snapshot.state is State.PRIMARY)
        switch.table.clear()
        await until(lambda: len(switch.writes) == 3)
        low_task.cancel()

    with_switch(test)


def test_two_with_the_same_election_id_do_not_fight(tmp_path: Path) -> None:
    async def test(_: FakeSwitch, port: int) -> None:
        one, two = watcher(tmp_path, port), watcher(tmp_path, port)
        tasks = [asyncio.create_task(one.run())]
        await until(lambda: one.snapshot.state is State.PRIMARY)
        tasks.append(asyncio.create_task(two.run()))
        await until(lambda: two.snapshot.state is State.BACKUP)
        await asyncio.sleep(0.2)
        assert (one.snapshot.state, one.snapshot.connections) == (State.PRIMARY, 1)
        tasks[0].cancel()
        await until(lambda: two.snapshot.state is State.PRIMARY)
        tasks[1].cancel()

    with_switch(test)


def test_a_refusal_is_reported_and_the_switch_is_tried_again(tmp_path: Path) -> None:
    async def test(switch: FakeSwitch, port: int) -> None:
        switch.refuse = rpc_code.RESOURCE_EXHAUSTED
        watching = watcher(tmp_path, port)
        task = asyncio.create_task(watching.run())
        await until(lambda: watching.snapshot.state is State.REFUSED)
        assert "as the test wants it" in watching.snapshot.message
        switch.refuse = None
        await until(lambda: watching.snapshot.state is State.PRIMARY)
        assert watching.snapshot.connections == 1
        task.cancel()

    with_switch(test)


def test_a_switch_that_refuses_the_pipeline_is_asked_ever_more_seldom(tmp_path: Path) -> None:
    async def test(switch: FakeSwitch, port: int) -> None:
        switch.refuse_pipeline = True
        watching = watcher(tmp_path, port)
        waits: list[str] = []
        watching.changed = lambda shot: waits.append(shot.message.rpartition("attempt in ")[2])
        task = asyncio.create_task(watching.run())
        await until(lambda: switch.pushes == 4)
        assert {"0.1 s", "0.2 s", "0.4 s"} <= set(waits)
        readings = watching.snapshot.read_at_s
        await until(lambda: watching.snapshot.read_at_s > readings)
        assert switch.pushes == 4, "counters are read meanwhile"
        switch.refuse_pipeline = False
        await until(lambda: watching.snapshot.state is State.PRIMARY)
        assert watching.snapshot.connections == 1
        task.cancel()

    with_switch(test)


def test_counts_become_rates_and_occupancy_comes_of_registers(tmp_path: Path) -> None:
    async def test(switch: FakeSwitch, port: int) -> None:
        watching = watcher(tmp_path, port)
        schema = watching.wanted.pipeline.schema
        counter = {c.alias: c.id for c in schema.counters}
        register = {r.alias: r.id for r in schema.registers}
        switch.counters[counter["sent"], 2] = (3, 4500)
        switch.counters[counter["drops"], 8 * 2 + 5] = (7, 0)
        switch.counters[counter["marks"], 4 * 2 + 2] = (5, 0)
        assert switch.registers is not None
        switch.registers[register["queue_tail"], 8 * 2] = 12
        switch.registers[register["queue_dequeued"], 8 * 2] = 8
        task = asyncio.create_task(watching.run())
        await until(lambda: 2 in watching.snapshot.ports)
        count = watching.snapshot.ports[2]
        assert (count.sent_packets, count.sent_octets, count.waiting) == (3, 4500, 4)
        assert (count.drops["queue_full"], count.marks["ci"]) == (7, 5)
        # Eight have left the queue or were lost, and three were sent.
        assert count.drops["tm_full"] == 5
        switch.counters[counter["sent"], 2] = (6, 9000)
        await until(lambda: watching.snapshot.sent_bps.get(2, 0) > 0)
        assert watching.snapshot.ports[2].drops["tm_full"] == 5, "a loss is not taken back"
        task.cancel()

    with_switch(test)


def test_what_the_switch_lost_is_read(tmp_path: Path) -> None:
    async def test(switch: FakeSwitch, port: int) -> None:
        switch.losses = {
            "ports": {"2": {"send_failed": 3}},
            "octets": {"2": {"send_failed": 2700}},
            "switch": {"packet_in_backlog": 4},
        }
        watching = watcher(tmp_path, port)
        counter = {c.alias: c.id for c in watching.wanted.pipeline.schema.counters}
        switch.counters[counter["sent"], 2] = (10, 9000)
        task = asyncio.create_task(watching.run())
        await until(lambda: 2 in watching.snapshot.ports)
        count = watching.snapshot.ports[2]
        assert count.drops["send_failed"] == 3
        assert (count.sent_packets, count.sent_octets) == (7, 6300)
        assert watching.snapshot.lost == {"packet_in_backlog": 4}
        task.cancel()

    with_switch(test)


def test_without_register_reads_all_else_is_shown(tmp_path: Path) -> None:
    async def test(switch: FakeSwitch, port: int) -> None:
        switch.registers = None
        watching = watcher(tmp_path, port)
        task = asyncio.create_task(watching.run())
        await until(lambda: 2 in watching.snapshot.ports)
        assert watching.snapshot.state is State.PRIMARY
        assert watching.snapshot.ports[2].waiting is None
        assert "tm_full" not in watching.snapshot.ports[2].drops
        task.cancel()

    with_switch(test)
