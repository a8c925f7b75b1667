"""Runs network.yaml, and prints what each switch counted, by port: python look.py"""

from pathlib import Path

from waymark import run, scenario_file

CAUSES = ("", "malformed", "checksum", "TTL", "no route", "queue full", "RED")

experiment = scenario_file.load(Path("network.yaml"))
[scenario] = experiment.scenarios("full", 1).values()
result = run(scenario)
for name, switch in result.switches.items():
    for number, port in switch.ports.items():
        drops = [switch.counters["drops"][8 * number + cause].packets for cause in range(8)]
        shown = [f"{CAUSES[cause]} {count}" for cause, count in enumerate(drops) if count]
        passed = f"in {port.rx_packets:6}, out {port.tx_packets:6}"
        dropped = f"  dropped: {', '.join(shown)}" if shown else ""
        print(f"{name} port {number} ({port.link:6}): {passed}{dropped}")
