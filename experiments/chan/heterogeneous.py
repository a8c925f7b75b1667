"""The network of Chan 2004, figure 6.3: cross traffic and a last hop that loses packets."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace

from matplotlib.axes import Axes

from waymark import CHAN, STOCK, Choice, Flow, OnOff, Row, Runs, Scale, Scenario, Topology, plots
from waymark.networks import dumbbell
from waymark.traffic import Profile

BOTTLENECK_BPS = 1_600_000
QUEUE_PACKETS = 16
HOST_QUEUE_PACKETS = 1000
"""The paper's 16 packets are of 'queues used in routers'; a host drops nothing that it sends."""

ACK_LOSS = 0.04
HEADER_OCTETS = 40
MEAN_ON_S = 0.5
SHAPE = 1.5
END_S: Mapping[Scale, float] = {"quick": 60.0, "full": 3600.0, "paper": 36_000.0}
LOADS: Mapping[Scale, tuple[float, ...]] = {
    "quick": (0.0, 0.5, 0.9),
    "full": tuple(n / 10 for n in range(10)),
}
LOSSES: Mapping[Scale, tuple[float, ...]] = {
    "quick": (0.0, 0.05, 0.1),
    "full": tuple(n / 100 for n in range(16)),
}

PROFILE = replace(CHAN, bugfix=True)
"""What ns-2 has on by default, in the version of the paper and since."""

RENO = replace(PROFILE, packet_octets=1040, syn=True, exact_halving=True)
"""The same for Reno, with what ns-2.35 does for its family, as in the stock profile."""

WITHOUT = " without RFC 2988"
DEFECT = " with ns-2's defect"


@dataclass(frozen=True)
class Variant:
    """A flow that is measured alone."""

    name: str
    flow: Flow
    dash: str = "-"

    @property
    def colour(self) -> str:
        """Its algorithm's."""
        return plots.COLOURS[self.flow.algorithm_name]


def _variant(name: str, algorithm: str, profile: Profile, dash: str = "-") -> Variant:
    return Variant(name, Flow("s1", "d1", algorithm, profile), dash)  # pyright: ignore[reportArgumentType]


VARIANTS = (
    _variant("Reno", "reno", RENO),
    _variant("Vegas", "vegas", PROFILE),
    _variant("RedVegas", "redvegas", PROFILE),
    _variant(f"Vegas{DEFECT}", "vegas", replace(PROFILE, phantom_rtt=True), ":"),
    _variant(f"RedVegas{DEFECT}", "redvegas", replace(PROFILE, phantom_rtt=True), ":"),
    _variant(f"Reno{WITHOUT}", "reno", replace(RENO, rfc2988=False), "--"),
    _variant(f"Vegas{WITHOUT}", "vegas", replace(PROFILE, rfc2988=False), "--"),
    _variant(f"RedVegas{WITHOUT}", "redvegas", replace(PROFILE, rfc2988=False), "--"),
    _variant("Reno in the stock profile", "reno", replace(STOCK, packet_octets=1040), "-."),
)

RATIOS = (
    ("Vegas", "Reno", ""),
    ("RedVegas", "Reno", ""),
    ("RedVegas", "Vegas", ""),
    ("RedVegas", "Vegas", DEFECT),
    ("Vegas", "Reno", WITHOUT),
    ("RedVegas", "Reno", WITHOUT),
    ("RedVegas", "Vegas", WITHOUT),
)
"""Whose goodput is put over whose, and in what kind of variant both are."""

PARAMETERS: dict[str, object] = {
    "access": "10 Mb/s, 1 ms",
    "bottleneck": "1.6 Mb/s, 20 ms",
    "queue_packets": QUEUE_PACKETS,
    "profile": asdict(PROFILE),
    "reno_profile": asdict(RENO),
    "alpha_beta_gamma": [1, 3, 1],
    "cross_traffic": {"on_bps": BOTTLENECK_BPS, "mean_on_s": MEAN_ON_S, "pareto_shape": SHAPE},
    "ack_loss_of_data_loss": ACK_LOSS,
    "end_s": END_S["full"],
}

CHOICES = (
    Choice(
        "mean ON time of the cross traffic",
        "0.5 s",
        "ns-2's own default; the paper gives shape and rate alone",
        "great, and table 6.1 speaks for shorter bursts: at 1 % of loss and loads .3, .5, .9 it "
        "has 554, 402, 53 losses taken for random; two runs of 1200 s give, in its 500 s, 431, "
        "236, 32 with 0.5 s, 502, 347, 40 with 50 ms, 543, 358, 39 with 20 ms (without RFC 2988 "
        "575, 399, 43). At load .5 without loss Reno, Vegas and RedVegas get 503, 595, 596 kb/s "
        "with 0.5 s, 458, 707, 707 with 50 ms, 464, 734, 734 with 20 ms",
    ),
    Choice(
        "loss of ACKs",
        ".04 of the data's",
        "the paper has it 'proportional'; 40 octets are .04 of 1000",
        "small: ACKs are cumulative",
    ),
    Choice(
        "length",
        "1 h a point and seed at full scale, 10 h at paper scale",
        "the paper's 10 h would take ten times as long",
        "the deviation over seeds tells what an hour leaves open",
    ),
    Choice(
        "least timeout, and when it is applied",
        "1 s for all, before the backoff, as RFC 2988 has it",
        "the defaults of the ns-2 that the paper names; with Reno so too ns-2.35 has Vegas over "
        "Reno 1.77 at 6 % of loss and .79 at 13 % (ten runs of 1800 s), nearer to the 2.2 to 2.4 "
        "that the paper's ratios imply at 6 % than with Reno at 0.2 s (.85)",
        "decides all: the rows 'without RFC 2988' apply it after the backoff",
    ),
)

VARIANTS_NOTE = (
    "Dashed: without RFC 2988 (flag rfc2988; ns-2's default until March 2002), the least timeout "
    "of 1 s is applied after the backoff, so that a backed-off timer still waits 1 s. Dotted: with "
    "ns-2's defect of Vegas (flag phantom_rtt): after a timeout it can take the time between two "
    "ACKs of buffered data for a round-trip time; base RTT falls to a few ms and the flow starves "
    "for minutes. Dash-dotted: Reno in ns-2.35's stock profile, least timeout 0.2 s. "
)

SILENCE_NOTE = (
    "Why RedVegas is not ahead where much is lost, from traces of two runs of 600 s without cross "
    "traffic at 3, 6 and 13 % of loss: while it sends it gets 1.16, 1.18 and .84 times what Vegas "
    "gets (1312 for 1128, 887 for 751, 299 for 357 kb/s), but it is silent 21, 75 and 88 % of the "
    "time, Vegas 14, 53 and 87 %, Reno 41, 60 and 82 %. Its timeouts are fewer (at 6 % 107 for "
    "Vegas' 191) but last longer (8.5 s for 3.3 s, up to 60 s; Reno's 1.1 s): Vegas, as ns-2 has "
    "it, backs its timer off at every fast retransmit, which also discards the measurement that "
    "would end the backoff; Reno does neither; and a window that is kept meets more losses. "
    "Without RFC 2988 they last 1.4 and 1.0 s, and RedVegas is silent 33 % of the time, Vegas 25 "
    "%. "
)
READINGS_NOTE = (
    "Readings compared, no cross traffic, two or three runs of 1200 to 1800 s: Vegas/Reno at 6, 15 "
    "%; RedVegas/Reno at 6, 15 %; RedVegas/Vegas at 3, 7, 13, 15 %. Paper: 2.2 to 2.4, 1.20; 2.84, "
    "1.40; over 1.2, 1.289, over 1.2, 1.167. As here: 1.81, .68; 1.31, .78; 1.12, .78, 1.09, 1.15. "
    "Without RFC 2988: 2.55, 1.40; 2.81, 1.37; 1.18, 1.06, 1.02, .98. Stock profile (0.2 s) for "
    "all: 1.42, .70; 1.33, .73; at 7 and 15 % .82, 1.05. Limited transmit for Reno: 1.66, .57; "
    "1.17, .63. Without bugfix besides: 1.31, .47; .98, .47; at 7 and 15 % .83, 1.01. Ticks of 0.1 "
    "s: no difference. Those, without RFC 2988 and least timeout: 1.59, .79; 1.42, .88; at 7 and "
    "15 % .84, 1.12. ns-2's defect: none, as nothing else queues. A RedVegas that inflates its "
    "window by the duplicates at a random loss as at another: RedVegas/Vegas 1.05, .61, .51, .70. "
    "One that does not back off there: 3.20, 1.45; 1.33, 2.12, 2.46, 2.15. Both, without RFC 2988: "
    "3.04, 1.64; 1.20, 1.19, 1.22, 1.17, nearest to the paper; but of the timer it says nothing, "
    "and so neither was chosen. The paper's own ratios over Reno come out without RFC 2988, its "
    "ratios over Vegas with none of the knobs that ns-2 has. "
)
AGREEMENT_NOTE = (
    "ns-2.35's numbers are means of 5 to 13 runs of an hour with its own random numbers. "
)
BURST_NOTE = (
    "Why queue losses are taken for random ones: the cross traffic drops several packets of a "
    "burst. The first is found next to the mark; NCSEQ stays there, and a later one of the burst, "
    "4 or more segments on, is beyond β = 3. All wrong verdicts of a run of 200 s at load .5 were "
    "such (10 of 52). The paper's counts have none. "
)


def topology(loss: float) -> Topology:
    """All switches mark congestion; the link to d1 loses data, the way back ACKs."""
    network = dumbbell(
        2,
        (BOTTLENECK_BPS, 0.02),
        (10e6, 0.001),
        queue_packets=QUEUE_PACKETS,
        host_queue_packets=HOST_QUEUE_PACKETS,
    )
    network = network.with_link("r2", "d1", loss=loss).with_link("d1", "r2", loss=ACK_LOSS * loss)
    marking = tuple(replace(s, feedback=frozenset({"ci"})) for s in network.switches)
    return replace(network, switches=marking)


def cross_traffic(load: float) -> tuple[OnOff, ...]:
    """The Pareto source from s2 to d2; none at load 0."""
    if load == 0:
        return ()
    source = OnOff.for_load(
        "s2",
        "d2",
        load=load,
        link_bps=BOTTLENECK_BPS,
        rate_bps=BOTTLENECK_BPS,
        mean_on_s=MEAN_ON_S,
        distribution="pareto",
        shape=SHAPE,
    )
    return (source,)


def run(name: str, variant: Variant, load: float, loss: float, end_s: float, seed: int) -> Scenario:
    """One run of one variant against the cross traffic."""
    return Scenario(
        name,
        topology(loss),
        end_s,
        flows=(variant.flow,),
        sources=cross_traffic(load),
        seed=seed,
        sample_s=10.0,
    )


def label(variant: Variant, x: float) -> str:
    """The label of a run, and of its row."""
    return f"{variant.name}, {x:g}"


def goodput_kbps(runs: Runs, variant: Variant, x: float) -> list[float]:
    """Packets received once, in kb/s of their octets on the wire, one value a seed."""
    octets = variant.flow.profile.packet_octets
    return [
        float(r.flows[0].goodput.sum())
        * (octets / (octets - HEADER_OCTETS))
        * 8
        / (len(r.times_s) * r.sample_s * 1e3)
        for r in runs[label(variant, x)]
    ]


def rows(
    runs: Runs,
    xs: Sequence[float],
    ns2: Mapping[str, Mapping[float, float]] | None = None,
    red_over: Mapping[str, Mapping[float, float]] | None = None,
) -> list[Row]:
    """Goodput of each variant, and RedVegas' over Reno's and Vegas', at each x.

    Args:
        runs: by :func:`label`.
        xs: the sweep's points that were run.
        ns2: goodput in ns-2, by variant.
        red_over: the paper's ratios, by ``"Reno"`` and ``"Vegas"``.
    """
    table: list[Row] = []
    for variant in VARIANTS:
        known = (ns2 or {}).get(variant.name, {})
        for x in xs:
            values = goodput_kbps(runs, variant, x)
            table.append(Row.of(label(variant, x), "kb/s", values, ns2=known.get(x)))
    by_name = {variant.name: variant for variant in VARIANTS}
    for above, below, suffix in RATIOS:
        for x in xs:
            pairs = zip(
                goodput_kbps(runs, by_name[above + suffix], x),
                goodput_kbps(runs, by_name[below + suffix], x),
                strict=True,
            )
            name = f"{above}/{below}{suffix}"
            paper = (red_over or {}).get(below, {}).get(x) if above == "RedVegas" else None
            ratios = [a / b if b else float("nan") for a, b in pairs]
            table.append(Row.of(f"{name}, {x:g}", "1", ratios, paper))
    return table


def plot(axes: Axes, table: Sequence[Row], xs: Sequence[float]) -> None:
    """Each variant's goodput over x."""
    by_name = {row.quantity: row for row in table}
    for variant in VARIANTS:
        points = {x: by_name[label(variant, x)] for x in xs}
        plots.series(axes, points, variant.colour, variant.name, variant.dash)
