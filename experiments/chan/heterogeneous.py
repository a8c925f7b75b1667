"""The network of Chan 2004, figure 6.3: cross traffic and a last hop that loses packets."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from matplotlib.axes import Axes

from waymark import CHAN, Choice, Flow, OnOff, Row, Runs, Scale, Scenario, Topology, plots
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

RENO = replace(PROFILE, syn=True, exact_halving=True)
"""The same for Reno, with ns-2.35's SYN and halving of its family."""

WITHOUT = " without RFC 2988"
DEFECT = " with ns-2's defect"
PACKETS = " with ns-2's default packets"


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


RED_VEGAS = _variant("RedVegas", "redvegas", PROFILE)
RED_VEGAS_DEFECT = _variant(
    f"RedVegas{DEFECT}", "redvegas", replace(PROFILE, phantom_rtt=True), ":"
)
RED_VEGAS_WITHOUT = _variant(
    f"RedVegas{WITHOUT}", "redvegas", replace(PROFILE, rfc2988=False), "--"
)
VARIANTS = (
    _variant("Reno", "reno", RENO),
    _variant("Vegas", "vegas", PROFILE),
    RED_VEGAS,
    _variant(f"Reno{PACKETS}", "reno", replace(RENO, packet_octets=1040), "-."),
    _variant(f"Vegas{DEFECT}", "vegas", replace(PROFILE, phantom_rtt=True), ":"),
    RED_VEGAS_DEFECT,
    _variant(f"Reno{WITHOUT}", "reno", replace(RENO, rfc2988=False), "--"),
    _variant(f"Vegas{WITHOUT}", "vegas", replace(PROFILE, rfc2988=False), "--"),
    RED_VEGAS_WITHOUT,
)

COMPARED: Mapping[str, Mapping[str, str]] = {
    "": {"Reno": "Reno", "Vegas": "Vegas", "RedVegas": "RedVegas"},
    PACKETS: {"Reno": f"Reno{PACKETS}", "Vegas": "Vegas", "RedVegas": "RedVegas"},
    DEFECT: {"Reno": "Reno", "Vegas": f"Vegas{DEFECT}", "RedVegas": f"RedVegas{DEFECT}"},
    WITHOUT: {name: f"{name}{WITHOUT}" for name in ("Reno", "Vegas", "RedVegas")},
}
"""The variants that are compared with one another, by setting; the paper's has no name."""

RATIOS = (("Vegas", "Reno"), ("RedVegas", "Reno"), ("RedVegas", "Vegas"))
"""Whose goodput is divided by whose."""

PARAMETERS: dict[str, object] = {
    "access": "10 Mb/s, 1 ms",
    "bottleneck": "1.6 Mb/s, 20 ms",
    "queue_packets": QUEUE_PACKETS,
    "profile": PROFILE.by_family(),
    "reno_profile": RENO.by_family(),
    "alpha_beta_gamma": [1, 3, 1],
    "cross_traffic": {"on_bps": BOTTLENECK_BPS, "mean_on_s": MEAN_ON_S, "pareto_shape": SHAPE},
    "ack_loss_of_data_loss": ACK_LOSS,
    "end_s": END_S["full"],
}

MEAN_ON_CHOICE = Choice(
    "mean ON time of the cross traffic",
    "0.5 s",
    "ns-2's default; the paper gives the shape and the rate only",
    "large. Table 6.1 suggests shorter bursts: at 1 % of loss and loads .3, .5, .9 it has 554, "
    "402, 53 random losses; two runs of 1200 s give, per 500 s, 431, 236, 32 with 0.5 s, 502, 347, "
    "40 with 50 ms, 543, 358, 39 with 20 ms. Without loss at load .5 Vegas gets 595 kb/s with "
    "0.5 s, 707 with 50 ms, 734 with 20 ms",
)
ACK_LOSS_CHOICE = Choice(
    "loss of ACKs",
    ".04 of the data's",
    "the paper says 'proportional'; 40 octets are .04 of 1000",
    "small: ACKs are cumulative",
)
LENGTH_CHOICE = Choice(
    "length",
    "1 h per point and seed at full scale, 10 h at paper scale",
    "the paper's 10 h take ten times as long",
    "the confidence intervals show what an hour leaves open",
)
TIMEOUT_CHOICE = Choice(
    "minimum timeout, and when it is applied",
    "1 s for all, before the backoff, as in RFC 2988",
    "of the settings of ns-2 it comes nearest to the paper's ratios: at 6 % of loss they imply "
    "Vegas/Reno 2.2 to 2.4; ns-2.35 gives 1.77 (ten runs of 1800 s), and .85 with its own 0.2 s "
    "for Reno",
    "decisive: 'without RFC 2988' applies it after the backoff",
    fitted=True,
)
CHOICES = (MEAN_ON_CHOICE, ACK_LOSS_CHOICE, LENGTH_CHOICE, TIMEOUT_CHOICE)

VARIANTS_NOTE = (
    "All data packets have 1000 octets, as in section 6.4. Variants: 'without RFC 2988' applies "
    "the minimum timeout of 1 s after the backoff (ns-2's default until March 2002), so that a "
    "backed-off timer still waits 1 s. 'ns-2's default packets': Reno's have 1040 octets "
    "(useHeaders_). 'ns-2's defect': after a timeout Vegas can take the time between two ACKs for "
    "an RTT; base RTT falls to a few ms and the flow starves for minutes. "
)
SILENCE_NOTE = (
    "Why RedVegas does not beat Vegas at high loss (traces of two runs of 600 s at 3, 6, 13 % of "
    "loss, no cross traffic): while it sends it gets 1.16, 1.18, .84 times Vegas' goodput, but it "
    "is silent 21, 75, 88 % of the time, Vegas 14, 53, 87 %. Its timeouts are fewer (at 6 % 107 "
    "against 191) and longer (8.5 s against 3.3 s): ns-2's Vegas backs its timer off at every fast "
    "retransmit, and a window that is kept loses more packets. Without RFC 2988 they last 1.4 and "
    "1.0 s. Longer paths and the other timers of ns-2 are not the cause: "
    "docs/departures/congestion.md has the readings that were tried. "
)
BURST_NOTE = (
    "Why queue losses are taken for random ones: the cross traffic drops several packets in a "
    "burst. The first is found next to the mark; NCSEQ stays there, and a later loss, 4 or more "
    "segments on, is beyond β = 3. All wrong verdicts of a run of 200 s at load .5 were such (10 "
    "of 52). The paper's table has almost none. "
)
PHASE_NOTE = (
    "Phase effect: while ON the cross traffic sends a packet every 5 ms, which is exactly how long "
    "the bottleneck takes for 1000 octets. With equal packets all arrivals keep their phase within "
    "a burst, and the place that a full queue frees goes to the same side each time. In ns-2's "
    "traces of two runs of 600 s (Reno, load .5), one side had 90 % or more of the drops in 89 % "
    "of the bursts with 5 drops or more (659 of 740), and the cross traffic lost 8.9 % of its "
    "packets. Each of Reno's 1040-octet packets moves the phase by 0.2 ms: 19 % (114 of 591), and "
    "5.4 %. So in ns-2 Reno gets 533 kb/s there with equal packets, 473 kb/s with its default. "
)
AGREEMENT_NOTE = "ns-2.35's numbers are means of 5 to 13 runs of an hour with its own traffic. "
TIES_NOTE = (
    "With equal packets at loads .5 to .9, ns-2's Reno gets 11 to 23 % less than here (533 "
    "against 626 kb/s at .5); with 1040 octets both agree. Against the same cross traffic ns-2 "
    "delivers exactly as much as here (368 and 297 kb/s at load .7, two runs of 1200 s). Packets "
    "of equal length make arrivals coincide with departures, and ns-2's clock in floating point "
    "decides which is first: the bursts of one of its own runs, moved to whole nanoseconds, raise "
    "Reno from 274 to 298 kb/s. The rest of the difference is not explained. "
)


def topology(loss: float) -> Topology:
    """All switches mark congestion; the link to d1 loses data, the reverse path ACKs."""
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
    """Packets received once, in kb/s of their octets on the wire, one value per seed."""
    octets = variant.flow.profile.packet_octets
    return [
        float(r.flows[0].goodput.sum())
        * (octets / (octets - HEADER_OCTETS))
        * 8
        / (len(r.times_s) * r.sample_s * 1e3)
        for r in runs[label(variant, x)]
    ]


def is_compared(above: str, below: str, setting: str) -> bool:
    """Whether the ratio differs from the paper's setting: only Reno's packets have two sizes."""
    return setting != PACKETS or "Reno" in (above, below)


def ratio_label(above: str, below: str, setting: str, x: float | str) -> str:
    """The label of a ratio's row."""
    return f"{above}/{below}{setting}, {x if isinstance(x, str) else f'{x:g}'}"


def rows(
    runs: Runs,
    xs: Sequence[float],
    ns2: Mapping[str, Mapping[float, float]],
    paper: Mapping[str, Mapping[float, float]],
) -> list[Row]:
    """Goodput of each variant and the ratios of goodputs in each setting, at each x.

    Args:
        runs: by :func:`label`.
        xs: the sweep's points that were run.
        ns2: goodput in ns-2, by variant.
        paper: the printed ratios, by ``"RedVegas/Reno"`` and the like.
    """
    goodput = {v.name: {x: goodput_kbps(runs, v, x) for x in xs} for v in VARIANTS}
    table = [
        Row.of(label(v, x), "kb/s", goodput[v.name][x], ns2=ns2.get(v.name, {}).get(x))
        for v in VARIANTS
        for x in xs
    ]
    for setting, names in COMPARED.items():
        for above, below in RATIOS:
            if not is_compared(above, below, setting):
                continue
            printed = paper.get(f"{above}/{below}", {})
            table += [
                Row.ratio_of(
                    ratio_label(above, below, setting, x),
                    goodput[names[above]][x],
                    goodput[names[below]][x],
                    printed.get(x),
                )
                for x in xs
            ]
    return table


def plot_goodput(axes: Axes, table: Sequence[Row], xs: Sequence[float]) -> None:
    """Each variant's goodput over x; ns-2's numbers as marks, one shape per variant."""
    by_name = {row.quantity: row for row in table}
    shapes = iter("x+1")
    for variant in VARIANTS:
        points = {x: by_name[label(variant, x)] for x in xs}
        values = [row.waymark for row in points.values()]
        axes.plot(xs, values, color=variant.colour, linestyle=variant.dash, label=variant.name)
        known = [(x, row.ns2) for x, row in points.items() if row.ns2 is not None]
        if known:
            marks: dict[str, Any] = plots.NS2 | {"color": variant.colour, "marker": next(shapes)}
            axes.plot(*zip(*known, strict=True), **marks, label=f"{variant.name}, ns-2.35")


RATIO_COLOURS = {
    "Vegas/Reno": plots.COLOURS["vegas"],
    "RedVegas/Reno": plots.COLOURS["redvegas"],
    "RedVegas/Vegas": plots.COLOURS["waymark"],
}


def plot_ratios(axes: Axes, table: Sequence[Row], xs: Sequence[float]) -> None:
    """Ratios of goodputs over x with 95 % confidence intervals, in the paper's setting and without
    RFC 2988; the printed ratios as diamonds."""
    by_name = {row.quantity: row for row in table}
    axes.axhline(1.0, color="#888888", linewidth=0.8)
    for above, below in RATIOS:
        ratio = f"{above}/{below}"
        colour = RATIO_COLOURS[ratio]
        for setting, dash in (("", "-"), (WITHOUT, "--")):
            points = [by_name[ratio_label(above, below, setting, x)] for x in xs]
            values = [row.waymark for row in points]
            ends = [row.waymark_ci or (row.waymark, row.waymark) for row in points]
            axes.errorbar(
                xs,
                values,
                yerr=[
                    [value - low for value, (low, _) in zip(values, ends, strict=True)],
                    [high - value for value, (_, high) in zip(values, ends, strict=True)],
                ],
                color=colour,
                linestyle=dash,
                marker="o",
                markersize=3,
                capsize=2,
                elinewidth=0.8,
                label=ratio + setting,
            )
        points = [by_name[ratio_label(above, below, "", x)] for x in xs]
        known = [(x, r.paper) for x, r in zip(xs, points, strict=True) if r.paper is not None]
        if known:
            marks: dict[str, Any] = plots.PAPER | {"color": colour}
            axes.plot(*zip(*known, strict=True), **marks, label=f"{ratio}, paper")
