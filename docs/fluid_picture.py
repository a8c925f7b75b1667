"""Draw the queues of HPCC, PowerTCP and θ-PowerTCP, as packets and as fluids.

``python docs/fluid_picture.py`` writes ``docs/img/fluid.png``, of the cases of
``tests/test_fluid.py``.
"""

import sys
from pathlib import Path

import numpy as np

from waymark import plots

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))
from fluid_cases import BINS, CASES, modelled, simulated

PICTURE = Path(__file__).parent / "img" / "fluid.png"
TITLES = {
    "joins": "a flow joins every 25 round trips",
    "incast": "10 flows of 150 segments at 20",
    "half": "half of the link taken, 20 to 60",
}


def main() -> None:
    """Write the picture."""
    with plots.style():
        figure = plots.new_figure(10.0, 7.0)
        panels = figure.subplots(3, 3, sharex=True).ravel()
        for axes, case in zip(panels, CASES, strict=True):
            packets, model = simulated(case), modelled(case)
            rtts = np.arange(len(packets.queue)) / BINS
            axes.plot(rtts, packets.queue, color=plots.PALETTE[0], label="packets")
            axes.plot(rtts, model.queue, color=plots.PALETTE[1], linestyle="--", label="fluid")
            axes.set_title(f"{plots.NAMES[case.control]}: {TITLES[case.situation]}", fontsize=8)
        for axes in panels[6:]:
            axes.set_xlabel("base round trips")
        for axes in panels[::3]:
            axes.set_ylabel("segments waiting")
        handles, names = panels[0].get_legend_handles_labels()
        figure.legend(handles, names, loc="outside lower center", ncols=2, fontsize="small")
        plots.write(figure, PICTURE)


if __name__ == "__main__":
    main()
