"""The summary of criterion's measurements."""

from __future__ import annotations

import json
from pathlib import Path

from waymark.bench import summary


def test_rate_is_elements_over_mean_time(tmp_path: Path) -> None:
    folder = tmp_path / "switch" / "waymark" / "new"
    folder.mkdir(parents=True)
    benchmark = {"full_id": "switch/waymark", "throughput": {"Elements": 1000}}
    (folder / "benchmark.json").write_text(json.dumps(benchmark))
    estimates = {"mean": {"point_estimate": 500_000.0}}
    (folder / "estimates.json").write_text(json.dumps(estimates))
    (line,) = summary(tmp_path)
    assert line.split() == ["switch/waymark", "2.000", "M/s", "0.5000", "ms"]
