"""Chan 2004, figure 3.10: throughput over a parking lot against the load of the way back."""

from experiments.chan import load_sweep
from experiments.chan import parking_lot as net
from experiments.chan.single_bottleneck import ALGORITHMS
from waymark import Expectation

EXPERIMENT = load_sweep.experiment(
    "3.10",
    "3.5.1",
    "Over three loaded hops RoVegas gets more than Vegas, 14 times as much at load 1",
    ALGORITHMS,
    lambda name, algorithm, load, seed: net.run(
        name, algorithm, load, (0.0, 0.0, 0.0), load_sweep.END_S, seed
    ),
    net.PARAMETERS,
    paper=14.09,
    tolerance=Expectation(
        "RoVegas gets 14.09 times what Vegas gets at load 1",
        "within 15 %: one run of 200 s in the paper, and the seeds differ",
        lambda row: abs((row["RoVegas/Vegas, load 1"].ratio or 0) - 1) <= 0.15,
    ),
    ns2=78,
    title="parking lot, average throughput against backward load",
    x="backward traffic load of each hop (of 1.6 Mb/s)",
    top_kbps=1700,
    choices=net.CHOICES,
    notes=(
        "Vegas at load 1 over 24 seeds: 76.9 ± 5.6 here, 78 ± 9 in ns-2.35, of which the least is "
        "54 and the greatest 98; the 88 of an earlier run is one of these. The printed 14.09 is "
        "not explained, and does not fit the rest: times the 80 kb/s that ns-2 gives Vegas it "
        "would be over 1100 kb/s, but at load 0.8 figure 3.9 leaves RoVegas 3.46 times 231, that "
        "is 799. No reading of (3.3) gives it: with means over a round RoVegas gets 341 kb/s, with "
        "the newest RTT 301, without the limit to growth of section 3.4.2 347 (four seeds). A "
        "misprint of 4.09 would fit."
    ),
)
