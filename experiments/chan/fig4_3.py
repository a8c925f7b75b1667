"""Chan 2004, figure 4.3: average throughput against the load of the reverse path."""

from experiments.chan import enhanced as net
from experiments.chan import load_sweep
from experiments.chan.single_bottleneck import ONE_RUN
from waymark import Expectation, criteria

RATIO = "Enhanced Vegas/Vegas, load 1"

EXPERIMENT = load_sweep.experiment(
    "4.3",
    "4.2",
    "Enhanced Vegas gets more than Vegas at every backward load, 12 times as much at load 1",
    net.ALGORITHMS,
    lambda name, algorithm, load, seed: net.run(
        name, algorithm, net.traffic(load), load_sweep.END_S, seed
    ),
    net.PARAMETERS,
    paper=12,
    at_load_1=Expectation(
        "Enhanced Vegas gets 12 times what Vegas gets at load 1",
        "within 10 %, as figure 4.2; one run says little here, where Vegas' throughput differs by "
        "58 % between runs (1 sd)",
        criteria.as_printed(RATIO, within=ONE_RUN),
    ),
    ns2={1.0: 38},
    seeds=10,
    title="average throughput against backward load",
    x="backward traffic load (of 1 Mb/s)",
    top_kbps=1100,
    choices=net.CHOICES,
    notes=net.NOTE,
)
