"""Counters for Prometheus, at ``http://HOST:PORT/metrics``."""

from collections.abc import Iterable, Sequence

from prometheus_client import CollectorRegistry, start_http_server
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from controller.watch import State, Watcher
from waymark.errors import WaymarkError


class SwitchCollector(Collector):
    """Collects the latest snapshots at each request."""

    def __init__(self, watchers: Sequence[Watcher]) -> None:
        self._watchers = watchers

    def collect(self) -> Iterable[Metric]:
        """All metrics of all switches."""
        yield from self._switches()
        yield from self._ports()

    def _switches(self) -> Iterable[Metric]:
        up = GaugeMetricFamily("waymark_switch_up", "1 while connected.", labels=["switch"])
        primary = GaugeMetricFamily(
            "waymark_switch_primary", "1 while this controller is primary.", labels=["switch"]
        )
        refused = GaugeMetricFamily(
            "waymark_switch_refused",
            "1 while the switch rejects its configuration.",
            labels=["switch"],
        )
        writes = CounterMetricFamily(
            "waymark_entries_written", "Table entries written.", labels=["switch"]
        )
        pushes = CounterMetricFamily(
            "waymark_pipelines_pushed", "Pipelines pushed.", labels=["switch"]
        )
        lost = CounterMetricFamily(
            "waymark_lost",
            "Messages to controllers that the switch lost, and loops that it truncated.",
            labels=["switch", "cause"],
        )
        for watcher in self._watchers:
            shot = watcher.snapshot
            up.add_metric([shot.name], float(shot.state is not State.CONNECTING))
            primary.add_metric([shot.name], float(shot.state is State.PRIMARY))
            refused.add_metric([shot.name], float(shot.state is State.REFUSED))
            writes.add_metric([shot.name], shot.writes)
            pushes.add_metric([shot.name], shot.pushes)
            for cause, count in shot.lost.items():
                lost.add_metric([shot.name, cause], count)
        yield from (up, primary, refused, writes, pushes, lost)

    def _ports(self) -> Iterable[Metric]:
        def counter(name: str, text: str, *labels: str) -> CounterMetricFamily:
            return CounterMetricFamily(f"waymark_{name}", text, labels=["switch", "port", *labels])

        def gauge(name: str, text: str) -> GaugeMetricFamily:
            return GaugeMetricFamily(f"waymark_{name}", text, labels=["switch", "port"])

        received = counter("received_packets", "Packets received.")
        received_octets = counter("received_octets", "Octets received.")
        sent = counter("sent_packets", "Packets sent.")
        sent_octets = counter("sent_octets", "Octets sent.")
        malformed = counter("malformed_options", "Packets with malformed IPv4 options.")
        drops = counter("dropped_packets", "Packets dropped.", "cause")
        marks = counter("marked_packets", "Packets marked.", "kind")
        limit = gauge("queue_limit_packets", "Queue limit, including the packet in transmission.")
        waiting = gauge("queue_waiting_packets", "Packets waiting now.")
        rate = gauge("port_rate_bps", "Port rate, bits per second.")
        used = gauge("port_utilisation_ratio", "Utilization of the port.")
        for watcher in self._watchers:
            shot = watcher.snapshot
            for number, port in watcher.switch.ports.items():
                at = [shot.name, str(number)]
                if port.queue_limit is not None:
                    limit.add_metric(at, port.queue_limit)
                if port.rate is not None:
                    rate.add_metric(at, port.rate)
                    if number in shot.sent_bps:
                        used.add_metric(at, shot.sent_bps[number] / port.rate)
                count = shot.ports.get(number)
                if count is None:
                    continue
                received.add_metric(at, count.received_packets)
                received_octets.add_metric(at, count.received_octets)
                sent.add_metric(at, count.sent_packets)
                sent_octets.add_metric(at, count.sent_octets)
                malformed.add_metric(at, count.malformed_options)
                for cause, packets in count.drops.items():
                    drops.add_metric([*at, cause], packets)
                for kind, packets in count.marks.items():
                    marks.add_metric([*at, kind], packets)
                if count.waiting is not None:
                    waiting.add_metric(at, count.waiting)
        yield from (received, received_octets, sent, sent_octets, malformed, drops, marks)
        yield from (limit, waiting, rate, used)


def serve(watchers: Sequence[Watcher], host: str, port: int) -> int:
    """Serve metrics from a separate thread; port 0 selects a free port. Returns the port.

    Raises:
        WaymarkError: the address is in use, or does not belong to this machine.
    """
    registry = CollectorRegistry()
    registry.register(SwitchCollector(watchers))
    try:
        server, _ = start_http_server(port, addr=host, registry=registry)
    except OSError as error:
        raise WaymarkError(f"metrics at {host}:{port}: {error.strerror}") from error
    return server.server_port
