"""Chan 2004, figure 4.3: average throughput against the load of the way back."""

from experiments.chan import enhanced as net
from experiments.chan import load_sweep
from waymark import Expectation

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
    tolerance=Expectation(
        "12 times as much at load 1",
        "6 to 24 times: at load 1 the queue has no steady state, and runs differ widely",
        lambda row: 6 <= row["Enhanced Vegas/Vegas, load 1"].waymark <= 24,
    ),
    ns2=38,
    title="average throughput against backward load",
    x="backward traffic load (of 1 Mb/s)",
    top_kbps=1100,
    choices=net.CHOICES,
    notes=net.NOTE,
)
