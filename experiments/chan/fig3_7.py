"""Chan 2004, figure 3.7: average throughput against the load of the reverse path."""

from experiments.chan import load_sweep
from experiments.chan import single_bottleneck as net
from waymark import Expectation, criteria

RATIO = "RoVegas/Vegas, load 1"

EXPERIMENT = load_sweep.experiment(
    "3.7",
    "3.5.1",
    "At every backward load above 0 RoVegas gets more than Vegas, 4.1 times as much at load 1",
    net.ALGORITHMS,
    lambda name, algorithm, load, seed: net.run(
        name, algorithm, net.topology(), net.backward_traffic(load), load_sweep.END_S, seed
    ),
    net.PARAMETERS | {"queue_packets": 50},
    paper=4.1,
    at_load_1=Expectation(
        "RoVegas gets 4.1 times what Vegas gets at load 1",
        net.ONE_RUN_REASON,
        criteria.as_printed(RATIO, within=net.ONE_RUN),
    ),
    ns2={0.0: 1598, 0.5: 1246, 1.0: 231},
    seeds=20,
    title="average throughput against backward load",
    x="backward traffic load (of 1.6 Mb/s)",
    top_kbps=1700,
    choices=(net.VBR_CHOICE,),
    notes=(
        "Bursts are whole packets, at least one: at load 1 the source sends 1.3 % more than the "
        "link carries, in ns-2 too."
    ),
)
