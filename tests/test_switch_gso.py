"""``waymark switch --gso``: segments of 64 kB that hosts leave to hardware to cut."""

from __future__ import annotations

import hashlib
import json
import os
import random
import shutil
import signal
import sys
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

import capture
import pytest
from kernel_hosts import RECEIVE, SEND, digest, needed
from machine import Machine, Running, machine

# Forwards between ports 1 and 2 as a router does, and adds 1 ms to AQT: IPv4 headers change.
PROGRAM = """\
#include <core.p4>
#include <v1model.p4>
header ethernet_h { bit<48> destination; bit<48> source; bit<16> kind; }
header ipv4_h {
    bit<4> version; bit<4> ihl; bit<8> tos; bit<16> length; bit<16> id; bit<16> fragment;
    bit<8> ttl; bit<8> protocol; bit<16> checksum; bit<32> source; bit<32> destination;
}
header aqt_h { bit<16> kind; bit<24> waited_us; bit<24> echo_us; }
struct headers_t { ethernet_h ethernet; ipv4_h ipv4; aqt_h aqt; }
struct metadata_t {}
parser ParseAll(packet_in packet, out headers_t hdr, inout metadata_t meta,
                inout standard_metadata_t std) {
    state start {
        packet.extract(hdr.ethernet);
        transition select(hdr.ethernet.kind) { 0x0800: ipv4; default: accept; }
    }
    state ipv4 {
        packet.extract(hdr.ipv4);
        transition select(hdr.ipv4.ihl) { 7: aqt; default: accept; }
    }
    state aqt { packet.extract(hdr.aqt); transition accept; }
}
control Verify(inout headers_t hdr, inout metadata_t meta) { apply {} }
control Receive(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t std) {
    apply {
        if (std.ingress_port == 1) { std.egress_spec = 2; } else { std.egress_spec = 1; }
        if (hdr.ipv4.isValid()) { hdr.ipv4.ttl = hdr.ipv4.ttl - 1; }
    }
}
control Transmit(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t std) {
    apply { if (hdr.aqt.isValid()) { hdr.aqt.waited_us = hdr.aqt.waited_us + 1000; } }
}
control Update(inout headers_t hdr, inout metadata_t meta) {
    apply {
        update_checksum(hdr.ipv4.isValid() && !hdr.aqt.isValid(), {
            hdr.ipv4.version, hdr.ipv4.ihl, hdr.ipv4.tos,
            hdr.ipv4.length, hdr.ipv4.id, hdr.ipv4.fragment, hdr.ipv4.ttl, hdr.ipv4.protocol,
            hdr.ipv4.source, hdr.ipv4.destination },
            hdr.ipv4.checksum, HashAlgorithm.csum16);
        update_checksum(hdr.aqt.isValid(), { hdr.ipv4.version, hdr.ipv4.ihl, hdr.ipv4.tos,
            hdr.ipv4.length, hdr.ipv4.id, hdr.ipv4.fragment, hdr.ipv4.ttl, hdr.ipv4.protocol,
            hdr.ipv4.source, hdr.ipv4.destination,
            hdr.aqt.kind, hdr.aqt.waited_us, hdr.aqt.echo_us },
            hdr.ipv4.checksum, HashAlgorithm.csum16);
    }
}
control EmitAll(packet_out packet, in headers_t hdr) {
    apply { packet.emit(hdr.ethernet); packet.emit(hdr.ipv4); packet.emit(hdr.aqt); }
}
V1Switch(ParseAll(), Verify(), Receive(), Transmit(), Update(), EmitAll()) main;
"""

B = "10.99.0.2"

PORT = 5000

MTU = 1500

NGINX = """\
daemon off;
master_process off;
pid {folder}/nginx.pid;
error_log {folder}/error.log;
events {{ worker_connections 1024; }}
http {{ access_log off; server {{ listen 8080; root {folder}; sendfile on; }} }}
"""

CONNECTIONS = 200


SEND_SMALL = """
import socket, sys, time
stream = socket.socket()
stream.setsockopt(socket.IPPROTO_TCP, socket.TCP_MAXSEG, 512)
stream.connect((sys.argv[1], int(sys.argv[2])))
stream.sendall(bytes(1000))
time.sleep(0.5)
"""
"""Segments of 512 octets, of which timestamps take 12."""


def inserting() -> str:
    """The program, which adds 16 octets behind TCP's header to packets with data for b."""
    headers = (
        "header tcp_h { bit<96> ports; bit<4> offset; bit<12> flags; bit<48> rest; }\n"
        "header stamps_h { bit<96> octets; }\nheader added_h { bit<128> octets; }\n"
    )
    states = (
        "state tcp { packet.extract(hdr.tcp); "
        "transition select(hdr.tcp.offset) { 8: stamps; default: accept; } }\n"
        "state stamps { packet.extract(hdr.stamps); transition accept; }\n"
    )
    add = (
        "if (hdr.stamps.isValid() && std.egress_port == 2 && hdr.ipv4.length > 52) "
        "{ hdr.added.setValid(); hdr.added.octets = 0; hdr.ipv4.length = hdr.ipv4.length + 16; } "
    )
    changes = {
        "struct headers_t": f"{headers}struct headers_t",
        "aqt_h aqt; }": "aqt_h aqt; tcp_h tcp; stamps_h stamps; added_h added; }",
        "{ 7: aqt; default: accept; }": "{ 7: aqt; 5: tcp; default: accept; }",
        "state aqt {": f"{states}state aqt {{",
        "apply { if (hdr.aqt": f"apply {{ {add}if (hdr.aqt",
        "packet.emit(hdr.aqt);": "packet.emit(hdr.aqt); packet.emit(hdr.tcp); "
        "packet.emit(hdr.stamps); packet.emit(hdr.added);",
    }
    text = PROGRAM
    for old, new in changes.items():
        assert text.count(old) == 1, old
        text = text.replace(old, new)
    return text


def at(node: str, *command: str) -> list[str]:
    """What runs a command at a node."""
    return ["ip", "netns", "exec", node, *command]


@contextmanager
def switch(
    tmp_path: Path, *options: str, whole_at_b: bool = True, program: str = PROGRAM
) -> Generator[Machine]:
    """Hosts a and b, and a switch between them that carries segments whole."""
    if os.geteuid() != 0:
        pytest.skip("namespaces need root")
    missing = [name for name in ("ethtool", "iperf3") if shutil.which(name) is None]
    if missing:
        pytest.skip(f"not on PATH: {', '.join(missing)}")
    file = tmp_path / "router.p4"
    file.write_text(program)
    with machine() as made:

        def do(*words: str) -> None:
            done = made.run(*words)
            assert done.returncode == 0, done.stderr

        for node in ("a", "b", "s"):
            do("ip", "netns", "add", node)
            do("ip", "-n", node, "link", "set", "lo", "up")
        for number, host in enumerate(("a", "b"), 1):
            ends = f"eth0 netns {host} type veth peer name p{number} netns s"
            do("ip", "link", "add", "name", *ends.split())
            do("ip", "-n", host, "addr", "add", f"10.99.0.{number}/24", "dev", "eth0")
            do("ip", "-n", host, "link", "set", "eth0", "up")
            do("ip", "-n", "s", "link", "set", f"p{number}", "up")
        if not whole_at_b:
            do(*at("s", "ethtool", "-K", "p2", "tso", "off", "gso", "off", "tx", "off"))
        words = ("switch", "--gso", "-i", "1@p1", "-i", "2@p2", "--p4", str(file), *options)
        with made.running(*at("s", *made.waymark_words(*words))) as running:
            running.until("P4Runtime")
            yield made
            running.kill(signal.SIGTERM)
            running.wait()


def arrived(made: Machine, file: Path, *steps: int) -> tuple[bool, list[capture.Packet]]:
    """Send from a to b: whether all octets are right, and the packets with data at b."""
    seen = Running(made, at("b", sys.executable, "-c", capture.PROGRAM, "eth0", str(file)))
    seen.until("capturing")
    with made.running(*at("b", sys.executable, "-c", RECEIVE, str(PORT))) as receiver:
        receiver.until("ready")
        words = (sys.executable, "-c", SEND, B, str(PORT), ",".join(map(str, steps)))
        sent = made.run(*at("a", *words))
        assert sent.returncode == 0, sent.stderr
        code, told = receiver.wait()
    seen.kill(signal.SIGTERM)
    seen.wait()
    assert code == 0
    packets = [p for p in capture.read(file) if p.protocol == capture.TCP and p.source != B]
    return digest(*steps) in told, [packet for packet in packets if packet.payload_octets]


STEPS = (3_000_000, 1, 1447, 100_001)


def longest(packets: list[capture.Packet]) -> int:
    """Octets of data in the longest packet."""
    return max(packet.payload_octets for packet in packets)


def test_segments_are_carried_whole(tmp_path: Path) -> None:
    with switch(tmp_path) as made:
        right, packets = arrived(made, tmp_path / "packets", *STEPS)
    assert right
    assert longest(packets) > 10 * MTU
    assert {packet.ttl for packet in packets} == {63}


def test_the_kernel_cuts_them_where_a_port_has_no_offloads(tmp_path: Path) -> None:
    with switch(tmp_path, whole_at_b=False) as made:
        right, packets = arrived(made, tmp_path / "packets", *STEPS)
    assert right
    assert longest(packets) < MTU
    assert len(packets) > STEPS[0] / MTU


@pytest.mark.usefixtures("kernel_lock")
def test_marks_are_those_of_the_whole_segment(tmp_path: Path) -> None:
    needed()
    for whole in (True, False):
        with switch(tmp_path, whole_at_b=whole) as made:
            for host in "ab":
                attach = made.waymark_words("kernel", "attach", "eth0", "--marks", "aqt")
                done = made.run(*at(host, *attach))
                assert done.returncode == 0, done.stderr
            right, packets = arrived(made, tmp_path / "packets", *STEPS)
        assert right
        assert (longest(packets) > 10 * MTU) == whole
        waited_us = {int.from_bytes(packet.options[2:5], "big") for packet in packets}
        assert waited_us == {1000}


def test_a_rate_charges_the_headers_of_each_segment(tmp_path: Path) -> None:
    with (
        switch(tmp_path, "--port-rate", "2=100mbit") as made,
        made.running(*at("b", "iperf3", "-s", "-1", "--forceflush")) as server,
    ):
        server.until("Server listening")
        ran = made.run(*at("a", "iperf3", "-J", "-c", B, "-t", "3", "-O", "1"))
    mbps = json.loads(ran.stdout)["end"]["sum_received"]["bits_per_second"] / 1e6
    # 1448 octets of 1514 are data; without the headers of further segments it would be 99.9.
    assert 85 < mbps < 97


def test_octets_behind_tcp_s_header_are_not_cut_as_data(tmp_path: Path) -> None:
    """To two segments of 500 octets the program adds 16, as INT does: they leave as one packet."""
    with (
        switch(tmp_path, whole_at_b=False, program=inserting()) as made,
        made.running(*at("b", sys.executable, "-c", RECEIVE, str(PORT))) as receiver,
    ):
        receiver.until("ready")
        file = tmp_path / "packets"
        seen = Running(made, at("b", sys.executable, "-c", capture.PROGRAM, "eth0", str(file)))
        seen.until("capturing")
        sent = made.run(*at("a", sys.executable, "-c", SEND_SMALL, B, str(PORT)))
        assert sent.returncode == 0, sent.stderr
        seen.kill(signal.SIGTERM)
        seen.wait()
    packets = [p for p in capture.read(file) if p.protocol == capture.TCP and p.source != B]
    first = next(packet for packet in packets if packet.payload_octets)
    assert first.payload_octets == 1000 + 16


def test_many_connections_carry_every_octet(tmp_path: Path) -> None:
    for program in ("nginx", "curl"):
        if shutil.which(program) is None:
            pytest.skip(f"not on PATH: {program}")
    file = random.Random(1).randbytes(1_000_000)
    (tmp_path / "file").write_bytes(file)
    (tmp_path / "nginx.conf").write_text(NGINX.format(folder=tmp_path))
    copies = tmp_path / "copies"
    copies.mkdir()
    serve = at("b", "nginx", "-c", str(tmp_path / "nginx.conf"), "-p", str(tmp_path))
    with switch(tmp_path) as made, made.running(*serve):
        parallel = ("-Z", "--parallel-immediate", "--parallel-max", str(CONNECTIONS))
        url = f"http://{B}:8080/file?[1-{CONNECTIONS}]"
        fetch = ("curl", "-sS", "--retry-connrefused", "--retry", "3", *parallel)
        fetched = made.run(*at("a", *fetch, "-o", f"{copies}/#1", url))
    assert fetched.returncode == 0, fetched.stderr
    digests = {hashlib.sha256(copy.read_bytes()).digest() for copy in copies.iterdir()}
    assert digests == {hashlib.sha256(file).digest()}
    assert len(list(copies.iterdir())) == CONNECTIONS
