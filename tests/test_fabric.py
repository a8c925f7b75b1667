"""Networks made by rule, routes over all shortest paths, and flow completion times."""

from __future__ import annotations

import errno
import json
from collections import Counter
from dataclasses import replace
from ipaddress import IPv4Address, IPv4Network
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from conftest import Cli

from waymark import Flow, Scenario, Topology, WaymarkError, ecmp, run
from waymark.addressing import derive
from waymark.completion import Completions, FlowFile, completions, queue_histograms
from waymark.fabric import MOST_HOPS, Cable, dumbbell, fat_tree, leaf_spine, parking_lot
from waymark.generated import generate
from waymark.workload import DATACENTER, FlowSizes, incast, permutation, poisson, profile_for

QUICK = Cable(1e9, 1e-6, 100)


def test_a_fat_tree_has_the_sizes_of_its_paper() -> None:
    for k in (2, 4, 6):
        network = fat_tree(k)
        assert len(network.hosts) == k**3 // 4
        assert len(network.switches) == 5 * k * k // 4
        degrees = Counter(link.source for link in network.links)
        assert {degrees[switch.name] for switch in network.switches} == {k}


@pytest.mark.parametrize("k", [0, 3, 130])
def test_a_fat_tree_needs_an_even_number(k: int) -> None:
    with pytest.raises(WaymarkError, match="expected an even number from 2 to 128"):
        fat_tree(k)


@pytest.mark.parametrize(
    ("network", "hosts", "switches", "links"),
    [
        (leaf_spine(3, 2, 4), 12, 5, 2 * (12 + 6)),
        (dumbbell(3, QUICK, QUICK), 6, 2, 2 * 7),
        (parking_lot(3, QUICK, QUICK), 8, 4, 2 * (8 + 3)),
    ],
)
def test_sizes(network: Topology, hosts: int, switches: int, links: int) -> None:
    sizes = (len(network.hosts), len(network.switches), len(network.links))
    assert sizes == (hosts, switches, links)


def test_the_long_path_of_a_parking_lot_can_be_passed() -> None:
    network = parking_lot(MOST_HOPS, QUICK, QUICK)
    flow = Flow("s", "d", "cubic", DATACENTER, segments=3)
    result = run(Scenario("far", network, 0.1, (flow,), sample_s=0.1))
    assert result.flows[0].finished_s is not None
    with pytest.raises(WaymarkError, match="hops 63, expected 1 to 62"):
        parking_lot(MOST_HOPS + 1, QUICK, QUICK)


@pytest.mark.parametrize(
    "network",
    [fat_tree(4), leaf_spine(3, 2, 5), dumbbell(5, QUICK, QUICK), parking_lot(4, QUICK, QUICK)],
)
def test_every_address_has_its_shortest_paths(network: Topology) -> None:
    """Exactly one prefix holds an address, with all of the next hops."""
    addressing = derive(network)
    for switch in network.switches:
        routes = ecmp.routes(addressing, switch.name)
        for (host, port), address in addressing.interfaces.items():
            holding = [route for route in routes if address in route.prefix]
            assert len(holding) == 1
            expected = addressing.next_hop_to.all(switch.name, host, port)
            assert holding[0].next_hops == expected


def test_a_core_has_a_route_per_pod() -> None:
    addressing = derive(fat_tree(8))
    assert len(ecmp.routes(addressing, "c0_0")) == 8
    up = ecmp.routes(addressing, "e0_0")[-1]
    assert up.next_hops == ("a0_0", "a0_1", "a0_2", "a0_3")
    assert IPv4Address("10.7.3.5") in IPv4Network(up.prefix)


def test_flows_share_all_paths() -> None:
    """CRCs alone would let an aggregation switch use one of its two uplinks."""
    network = fat_tree(4, QUICK)
    flows = tuple(
        Flow(source.name, target.name, "reno", segments=20)
        for source in network.hosts
        for target in network.hosts
        if source is not target
    )
    result = run(Scenario("spread", network, 20, flows))
    assert all(flow.finished_s is not None for flow in result.flows)
    for name, switch in result.switches.items():
        sent = {port.link: port.tx_packets for port in switch.ports.values()}
        up = [packets for link, packets in sent.items() if _is_up(link)]
        assert all(packets > 0 for packets in sent.values()), name
        assert max(up, default=0) < 2 * min(up, default=1), (name, sent)


def _is_up(link: str) -> bool:
    """From an edge switch to an aggregation switch, or from there to a core."""
    return (link[0], link.partition("->")[2][0]) in {("e", "a"), ("a", "c")}


def test_completion_times_are_at_least_the_ideal_ones() -> None:
    network = fat_tree(4, QUICK)
    flows = poisson(network, FlowSizes.load("hadoop"), "cubic", load=0.3, until_s=0.01, seed=3)
    scenario = Scenario("fct", network, 0.1, flows, sample_s=0.001)
    result = run(scenario)
    measured = completions(scenario, result)
    done = ~np.isnan(measured.end_s)
    assert done.mean() > 0.9
    assert (measured.slowdown[done] >= 1).all()
    assert measured.by_class()["all"]["flows"] == len(flows)
    shares: Counter[str] = Counter()
    for link, low, below, share, peak in queue_histograms(result):
        assert low < below
        assert peak > 0
        shares[link] += share  # pyright: ignore[reportArgumentType]
    assert all(share == pytest.approx(1) for share in shares.values())


def test_flows_are_written_as_they_end(tmp_path: Path) -> None:
    """Two groups of rows or more; the same rows as after the run; the same file on two threads."""
    network = fat_tree(4, Cable(1e9, 1e-5, 100))
    pairs = [(a.name, b.name) for a in network.hosts for b in network.hosts if a is not b]
    flows = tuple(
        Flow(*pairs[number % len(pairs)], "dctcp", profile_for("dctcp"), number * 1e-6, segments=1)
        for number in range(5_000)
    )
    scenario = Scenario("many", network, 0.05, flows, sample_s=0.01)
    file = tmp_path / "flows.parquet"
    with FlowFile(file) as written:
        result = run(scenario, ended=written.of(scenario))
    assert result.flows == ()
    on_two = tmp_path / "two.parquet"
    with FlowFile(on_two) as written:
        assert run(scenario, ended=written.of(scenario), threads=2).threads == 2
    assert file.read_bytes() == on_two.read_bytes()
    assert pq.ParquetFile(file).num_row_groups > 1
    after = run(scenario)
    assert result.packet_hops == after.packet_hops
    completions(scenario, after).write(tmp_path / "after.parquet")
    table = pq.read_table(file).sort_by("flow")
    assert table.equals(pq.read_table(tmp_path / "after.parquet"))
    assert not np.isnan(Completions.read(file).end_s).any()


def test_an_empty_network_is_close_to_the_ideal() -> None:
    """One small flow: its handshake, its packets and the last acknowledgement."""
    network = fat_tree(4, QUICK)
    flow = incast(network, "cubic", senders=1, octets=8_000, seed=1)
    scenario = Scenario("one", network, 0.1, flow, sample_s=0.001)
    measured = completions(scenario, run(scenario))
    assert 1 <= measured.slowdown[0] < 1.3


def test_the_load_is_the_one_that_was_asked_for() -> None:
    network = leaf_spine(2, 2, 8)
    sizes = FlowSizes.load("websearch")
    flows = poisson(network, sizes, "cubic", load=0.5, until_s=5.0, seed=7)
    octets = sum(flow.segments or 0 for flow in flows) * 1500
    assert octets * 8 / 5.0 == pytest.approx(0.5 * 16 * 10e9, rel=0.05)
    assert flows == poisson(network, sizes, "cubic", load=0.5, until_s=5.0, seed=7)
    assert flows != poisson(network, sizes, "cubic", load=0.5, until_s=5.0, seed=8)
    assert all(flow.source != flow.target for flow in flows)


def test_the_mean_of_drawn_sizes_is_the_distributions() -> None:
    for name, mean in (("websearch", 1.7e6), ("hadoop", 0.12e6)):
        sizes = FlowSizes.load(name)
        assert sizes.mean_octets == pytest.approx(mean, rel=0.1)
        drawn = sizes.draw(np.random.default_rng(1), 200_000)
        assert drawn.mean() == pytest.approx(sizes.mean_octets, rel=0.03)


def test_a_permutation_has_each_host_once() -> None:
    network = leaf_spine(4, 2, 4)
    pairs = permutation(network, 5)
    names = sorted(host.name for host in network.hosts)
    assert sorted(source for source, _ in pairs) == names
    assert sorted(target for _, target in pairs) == names
    assert all(source != target for source, target in pairs)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("octets,percent\n0,0\n", "1 sizes with 1 shares, expected two or more points"),
        ("octets,percent\n0,0\n5,90\n", "from 0 to 90 %, expected 0 to 100"),
        ("octets,percent\n5,0\n4,100\n", "that increase"),
        ("octets,percent\n5,x\n", "two numbers in each line"),
        ("octets,percent\n5,0,1\n", "two numbers in each line, found '5,0,1'"),
        ("octets,percent\n5,0\ninf,100\n", "inf octets with 100 % after 5 octets"),
        ("octets,percent\n5,0\n7,nan\n9,100\n", "7 octets with nan % after 5 octets"),
        ("octets,percent\n", "0 sizes with 0 shares, expected two or more"),
        ("size,share\n", "expected a first line 'octets,percent', found 'size,share'"),
        ("", "found nothing"),
    ],
)
def test_flow_sizes_that_are_none_are_refused(tmp_path: Path, text: str, message: str) -> None:
    file = tmp_path / "sizes.csv"
    file.write_text(text)
    with pytest.raises(WaymarkError, match=message):
        FlowSizes.load(file)


def test_flow_sizes_of_spreadsheets_are_read(tmp_path: Path) -> None:
    file = tmp_path / "sizes.csv"
    file.write_bytes(
        b"\xef\xbb\xbfoctets, percent\r\n# a comment\r\n1000, 0\r\n  \r\n2000, 100\r\n"
    )
    assert FlowSizes.load(file) == FlowSizes((1000, 2000), (0, 100))


def test_flow_sizes_that_are_no_text_are_refused(tmp_path: Path) -> None:
    file = tmp_path / "sizes.csv"
    file.write_bytes(b"\xd8\x00")
    with pytest.raises(WaymarkError, match="not UTF-8 text"):
        FlowSizes.load(file)


@pytest.mark.parametrize("load", [1e9, 1e300, np.inf])
def test_more_flows_than_a_run_has_are_refused(load: float) -> None:
    with pytest.raises(WaymarkError, match=r"flows of .* octets, expected at most 1048576"):
        poisson(fat_tree(4), FlowSizes.load("hadoop"), "cubic", load=load, until_s=1, seed=1)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("fat-tree:x", "expected fat-tree:K"),
        ("leaf-spine:4x2", "expected leaf-spine:LEAVESxSPINESxHOSTS"),
        pytest.param("fat-tree:" + "9" * 5000, "expected fat-tree:K", id="5000 digits"),
        ("ring:4", "fat-tree"),
    ],
)
def test_other_kinds_are_refused(text: str, message: str) -> None:
    with pytest.raises(WaymarkError, match=message):
        generate(text, QUICK)


def test_a_generated_file_is_the_topology(cli: Cli, tmp_path: Path) -> None:
    file = tmp_path / "net.yaml"
    done = cli("topology", "leaf-spine:3x2x2", "--rate", "1 Gb/s", "--delay", "1 us", "--out", file)
    assert done.code == 0, done.err
    assert Topology.load(file) == leaf_spine(3, 2, 2, QUICK)


@pytest.mark.parametrize("control", ["hpcc", "swiftcsig", "swifttcpint", "nscc"])
def test_the_command_takes_controls_with_signals_of_their_own(
    cli: Cli, tmp_path: Path, control: str
) -> None:
    network = ("--topology", "dumbbell:2", "--rate", "1 Gb/s", "--queue", 20)
    done = cli(
        "fabric",
        control,
        *network,
        *("--incast", 3, "--drain", "9 ms", "--out", tmp_path, "--json"),
    )
    assert done.code == 0, done.err
    assert "one route per destination" in done.err
    (every,) = (row for row in json.loads(done.out)["classes"] if row["size"] == "all")
    assert every["completed"] == every["flows"] == 3


def test_the_command_writes_its_files(cli: Cli, tmp_path: Path) -> None:
    done = cli(
        *("fabric", "dctcp", "waymark", "--seconds", "1 ms", "--drain", "20 ms"),
        *("--sizes", "hadoop", "--rate", "1 Gb/s", "--out", tmp_path, "--json"),
    )
    assert done.code == 0, done.err
    shown = json.loads(done.out)
    every = [row for row in shown["classes"] if row["size"] == "all"]
    assert [row["control"] for row in every] == ["dctcp", "waymark"]
    for row in every:
        flows = pq.read_table(tmp_path / f"{row['control']}-flows.parquet")
        assert flows.num_rows == row["flows"]
        queues = pq.read_table(tmp_path / f"{row['control']}-queues.parquet")
        assert set(queues["link"].to_pylist()) <= {link.name for link in fat_tree(4).links}


def test_the_command_names_the_files_that_it_wrote(cli: Cli, tmp_path: Path) -> None:
    run = ("--incast", 1, "--drain", "1 ms", "--out", tmp_path)
    (tmp_path / "reno-flows.parquet").write_bytes(b"of an earlier run")
    done = cli("fabric", "cubic", "cubic", *run)
    assert done.err == "cubic: 1 flows, 0.011 s of virtual time\n"
    assert done.code == 0, done.err
    named = [line for line in done.out.splitlines() if line.endswith(".parquet")]
    assert named == [str(tmp_path / f"cubic-{kind}.parquet") for kind in ("flows", "queues")]


def test_a_run_that_fails_leaves_the_files_of_the_one_before(cli: Cli, tmp_path: Path) -> None:
    file = tmp_path / "cubic-flows.parquet"
    file.write_bytes(b"of an earlier run")
    done = cli("fabric", "cubic", "--incast", 1, "--drain", "1e20 s", "--out", tmp_path)
    assert done.code == 2
    assert file.read_bytes() == b"of an earlier run"
    assert list(tmp_path.iterdir()) == [file]


def test_a_run_whose_queues_are_not_written_leaves_the_files_of_the_one_before(
    cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    files = [tmp_path / f"cubic-{kind}.parquet" for kind in ("flows", "queues")]
    for file in files:
        file.write_bytes(b"of an earlier run")

    def fill(_: pa.Table, file: BinaryIO) -> None:
        file.write(b"PAR1")
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(pq, "write_table", fill)
    done = cli("fabric", "cubic", "--incast", 1, "--drain", "1 ms", "--out", tmp_path)
    assert done.code == 2
    assert done.err.endswith(f"error: {files[1]}: No space left on device\n")
    assert [file.read_bytes() for file in files] == [b"of an earlier run"] * 2
    assert sorted(tmp_path.iterdir()) == files


def test_what_a_killed_run_left_is_removed(cli: Cli, tmp_path: Path) -> None:
    run = ("fabric", "cubic", "--incast", 1, "--drain", "1 ms", "--out", tmp_path)
    for control in ("cubic", "reno"):
        (tmp_path / f"{control}-flows.parquet.partial").write_bytes(b"PAR1 and half of a row")
    with FlowFile(tmp_path / "vegas-flows.parquet"):  # of a run that is still there
        done = cli(*run)
        assert done.code == 0, done.err
        kept = [file.name for file in tmp_path.glob("*.partial")]
        assert kept == ["vegas-flows.parquet.partial"]
    assert Completions.read(tmp_path / "cubic-flows.parquet").flow.tolist() == [0]


def test_two_runs_do_not_write_one_file(cli: Cli, tmp_path: Path) -> None:
    with FlowFile(tmp_path / "cubic-flows.parquet"):
        done = cli("fabric", "cubic", "--incast", 1, "--drain", "1 ms", "--out", tmp_path)
    assert done.code == 2
    assert "cubic-flows.parquet: another process is writing this file" in done.err


@pytest.mark.parametrize("command", [("fabric", "cubic"), ("run", "chan/fig3.6")])
def test_more_threads_than_any_machine_has_are_refused(cli: Cli, command: tuple[str, str]) -> None:
    done = cli(*command, "--threads", 10**20)
    assert done.code == 2
    assert "less than or equal to 1024" in done.err


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"pattern": [("h0_0_0", "x")]}, "pattern: h0_0_0->x: target: found 'x'"),
        ({"pattern": [("x", "h0_0_0")]}, "pattern: x->h0_0_0: source: found 'x'"),
        ({"pattern": []}, "pattern: no pairs"),
        ({"seed": -1}, "seed -1, expected 0 or more"),
        (
            {"profile": replace(DATACENTER, packet_octets=52)},
            "packet_octets 52, expected more than the headers' 52",
        ),
    ],
)
def test_traffic_that_cannot_be_is_refused(settings: dict[str, Any], message: str) -> None:
    given: dict[str, Any] = {"load": 0.3, "until_s": 1e-3, "seed": 1, **settings}
    with pytest.raises(WaymarkError, match=message):
        poisson(fat_tree(4), FlowSizes.load("hadoop"), "cubic", **given)


def test_files_that_are_none_of_flows_are_refused(tmp_path: Path) -> None:
    file = tmp_path / "flows.parquet"
    with pytest.raises(WaymarkError, match="no such file"):
        Completions.read(file)
    file.write_bytes(b"no Parquet")
    with pytest.raises(WaymarkError, match="not a file of flows"):
        Completions.read(file)
    pq.write_table(pa.table({"flow": [1]}), file)
    with pytest.raises(WaymarkError, match="not a file of flows"):
        Completions.read(file)


@pytest.mark.parametrize("threads", [0, -1])
def test_a_run_has_a_thread(threads: int) -> None:
    network = leaf_spine(1, 1, 2)
    scenario = Scenario("none", network, 0.1, incast(network, "cubic", senders=1, octets=1, seed=1))
    with pytest.raises(WaymarkError, match=f"threads {threads}, expected 1 or more"):
        run(scenario, threads=threads)
