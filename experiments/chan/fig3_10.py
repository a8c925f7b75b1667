"""Chan 2004, figure 3.10: average throughput over a parking lot against the load of every hop."""

from experiments.chan import load_sweep
from experiments.chan import parking_lot as net
from experiments.chan.single_bottleneck import ALGORITHMS, ONE_RUN
from waymark import Expectation, criteria

RATIO = "RoVegas/Vegas, load 1"

EXPERIMENT = load_sweep.experiment(
    "3.10",
    "3.5.1",
    "Over three loaded hops RoVegas gets more than Vegas, 14.09 times as much at load 1",
    ALGORITHMS,
    lambda name, algorithm, load, seed: net.run(
        name, algorithm, load, (0.0, 0.0, 0.0), load_sweep.END_S, seed
    ),
    net.PARAMETERS,
    paper=14.09,
    at_load_1=Expectation(
        "RoVegas gets 14.09 times what Vegas gets at load 1",
        "within 10 %, as figures 3.7 and 3.9",
        criteria.as_printed(RATIO, within=ONE_RUN),
    ),
    ns2={1.0: 78},
    seeds=10,
    title="parking lot, average throughput against backward load",
    x="backward traffic load of each hop (of 1.6 Mb/s)",
    top_kbps=1700,
    choices=net.CHOICES,
    notes=(
        "At load 1 Vegas gets 76.9 ± 5.6 kb/s here and 78 ± 9 in ns-2.35 (24 seeds each; ns-2's 54 "
        "to 98). The printed 14.09 is not explained. It does not fit the thesis' own figure 3.9: "
        "14.09 times 78 kb/s is 1100, but at load 0.8 RoVegas gets 3.46 times 231, which is 799. "
        "Packets of 500, 1000 and 1500 octets with mean ON times of 5, 50 and 500 ms give ratios "
        "of 1.0 to 4.4 (two seeds). With means over a round in (3.3) RoVegas gets 341 kb/s, with "
        "the newest RTT 301, without the limit to growth of section 3.4.2 347 (four seeds). A "
        "misprint of 4.09 would fit."
    ),
)
