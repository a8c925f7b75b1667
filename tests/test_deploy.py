"""docs/deploy.md and packaging/: units, image, dashboard and alerts agree with the programs."""

from __future__ import annotations

import json
import re
import shlex
import shutil
import subprocess
import sys
import time
from collections.abc import Generator, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from conftest import ROOT
from machine import Machine, machine
from prometheus_client.core import Metric
from prometheus_client.parser import text_string_to_metric_families
from ruamel.yaml import YAML

from controller.metrics import SwitchCollector

PACKAGING = ROOT / "packaging"
UNITS = sorted((PACKAGING / "systemd").glob("*.service"))
PAGE = (ROOT / "docs" / "deploy.md").read_text()
DASHBOARD = json.loads((PACKAGING / "grafana" / "waymark.json").read_text())
ALERTS = YAML(typ="safe").load(PACKAGING / "prometheus" / "alerts.yaml")["groups"][0]["rules"]
INSTALLED = "/opt/waymark/bin/waymark"


def block(title: str) -> str:
    """The file that the page shows under a path."""
    (text,) = re.findall(rf'^```\w+ title="{re.escape(title)}"\n(.*?)^```', PAGE, re.M | re.S)
    return text


def section(heading: str, number: int = 0) -> str:
    """A block of shell commands of a section."""
    text = PAGE.partition(f"# {heading}\n")[2].partition("\n## ")[0]
    return re.findall(r"^```sh\n(.*?)^```", text, re.M | re.S)[number]


def variables(text: str) -> dict[str, str]:
    """The variables of an ``EnvironmentFile``."""
    return dict(line.split("=", 1) for line in text.splitlines() if "=" in line)


def service(unit: Path) -> Mapping[str, list[str]]:
    """The settings of a unit's section ``[Service]``, each with all of its values."""
    settings: dict[str, list[str]] = {}
    for line in unit.read_text().partition("[Service]\n")[2].partition("\n[")[0].splitlines():
        if line and not line.startswith("#"):
            key, _, value = line.partition("=")
            settings.setdefault(key, []).append(value)
    return settings


def command(unit: str, given: Mapping[str, str]) -> list[str]:
    """A unit's ``ExecStart``, with variables as systemd expands them, run by this Python."""
    settings = service(PACKAGING / "systemd" / unit)
    values = dict(value.split("=", 1) for value in settings["Environment"]) | dict(given)
    (line,) = settings["ExecStart"]
    program, *words = line.split()
    assert program == INSTALLED
    expanded = [sys.executable, "-m", "waymark"]
    for word in words:
        if whole := re.fullmatch(r"\$\{(\w+)\}", word):
            expanded.append(values[whole[1]])
        elif split := re.fullmatch(r"\$(\w+)", word):
            expanded += shlex.split(values[split[1]])
        else:
            expanded.append(word)
    return expanded


# -- units ----------------------------------------------------------------------------------------


@pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="no systemd-analyze here")
@pytest.mark.parametrize("unit", UNITS, ids=lambda unit: unit.name)
def test_systemd_accepts_the_unit_and_its_sandbox(unit: Path, tmp_path: Path) -> None:
    copy = tmp_path / unit.name.replace("@.", "@s1.")
    copy.write_text(unit.read_text().replace(INSTALLED, "/bin/true"))
    analyze = ("systemd-analyze", "verify", "--man=no", copy)
    verified = subprocess.run(analyze, capture_output=True, text=True)
    assert verified.returncode == 0, verified.stderr
    assert str(tmp_path) not in verified.stderr
    rated = subprocess.run(
        ["systemd-analyze", "security", "--offline=yes", "--threshold=25", copy],
        capture_output=True, text=True,
    )  # fmt: skip
    assert rated.returncode == 0, rated.stdout


def test_the_switch_may_compile_its_program_to_machine_code() -> None:
    assert "MemoryDenyWriteExecute" not in service(
        PACKAGING / "systemd" / "waymark-switch@.service"
    )


def test_the_page_names_every_unit_and_file() -> None:
    files = [path for path in PACKAGING.rglob("*") if path.is_file() and path.suffix != ".py"]
    assert len(files) >= 6
    for path in files:
        if "__pycache__" not in path.parts:
            assert path.name.replace("@.", "@s1.") in PAGE or path.name in PAGE, path


@contextmanager
def deployed(folder: Path) -> Generator[tuple[Machine, str]]:
    """A machine in which both services run as the page says; and where the configuration is.

    The processes have the units' capabilities. Their user is root, because another user may be
    unable to read this checkout.
    """
    config = folder / "controller.yaml"
    config.write_text(block("/etc/waymark/controller.yaml"))
    settings = variables(block("/etc/waymark/switch-s1.env"))
    switch = command("waymark-switch@.service", settings)
    controller = command("waymark-controller.service", {"CONTROLLER_CONFIG": str(config)})
    with machine() as its:
        for commands in (section("Deployment"), section("Interfaces")):
            done = its.run("bash", "-e", "-c", commands)
            assert done.returncode == 0, done.stderr
        allowed = "-all,+net_raw,+net_admin"
        with (
            its.running("setpriv", "--bounding-set", allowed, *switch) as first,
            its.running("setpriv", "--bounding-set", "-all", *controller) as second,
        ):
            first.until("P4Runtime on 127.0.0.1:9559, 1@eth1, 2@eth2")
            second.until("s1: primary")
            yield its, str(config)


FETCH = """
from urllib.request import urlopen
print(urlopen("http://127.0.0.1:9464/metrics").read().decode())
"""


def families_of(its: Machine) -> list[Metric]:
    """What the controller serves to Prometheus, once it has read the counters."""
    deadline = time.monotonic() + 30
    while True:
        text = its.run(sys.executable, "-c", FETCH).stdout
        if "waymark_port_utilisation_ratio{" in text or time.monotonic() > deadline:
            return list(text_string_to_metric_families(text))
        time.sleep(0.2)


def test_the_services_forward_packets_as_the_page_says(tmp_path: Path) -> None:
    with deployed(tmp_path) as (its, config):
        planned = its.waymark("controller", "plan", config)
        assert planned.stdout == "s1: nothing to do\n", planned.stderr
        pinged = its.run("bash", "-c", section("The program and the configuration", 1))
        assert " 0% packet loss" in pinged.stdout, pinged.stdout
        scraped = {metric(one) for one in families_of(its) if one.samples}
        assert scraped == set(served()) - {"up", "waymark_lost_total"}  # nothing was lost


# -- dashboard and alerts -------------------------------------------------------------------------


def queries() -> Iterator[tuple[str, str]]:
    """Each query, with the labels that its legend or text uses after it."""
    for panel in DASHBOARD["panels"]:
        for target in panel.get("targets", ()):
            yield target["expr"], target["legendFormat"]
    for variable in DASHBOARD["templating"]["list"]:
        if variable["type"] == "query":
            name, label = re.fullmatch(
                r"label_values\((.*), (\w+)\)", variable["definition"]
            ).groups()  # pyright: ignore
            yield name, f"{{{{{label}}}}}"
    for rule in ALERTS:
        used = re.findall(r"\$labels\.(\w+)", json.dumps(rule["annotations"]))
        yield rule["expr"], " ".join(f"{{{{{label}}}}}" for label in used)


def metric(family: Metric) -> str:
    """The name under which Prometheus stores a family."""
    return f"{family.name}_total" if family.type == "counter" else family.name


def served() -> dict[str, set[str]]:
    """The labels of each metric of the controller, and of Prometheus's own."""
    families = SwitchCollector([]).collect()
    labels = {metric(family): set(family._labelnames) for family in families}  # pyright: ignore
    return {"up": {"job", "instance"}, **labels}


def check_query(query: str, legend: str) -> set[str]:
    """The metrics of a query: the controller has them, with the labels that are used."""
    labels = served()
    names = re.findall(r"\b(?:waymark_\w+|up)\b", query)
    assert names, query
    for name in names:
        assert name in labels, f"{query}: the controller has no {name}"
        selectors = "".join(re.findall(rf"{name}(\{{.*?\}})", query))
        groups = " ".join(re.findall(r"\b(?:by|on) \(([^)]*)\)", query))
        used = {*re.findall(r"(\w+)(?:=~|=)\"", selectors), *re.findall(r"\w+", groups)}
        assert used <= labels[name], f"{query}: {name} has the labels {labels[name]}"
    shown = set(re.findall(r"\{\{(\w+)\}\}", legend))
    assert shown <= labels[names[0]], f"{query}: {names[0]} has no label of {legend!r}"
    return set(names)


def test_queries_ask_for_metrics_and_labels_that_the_controller_serves() -> None:
    asked = {name for query, legend in queries() for name in check_query(query, legend)}
    assert asked == set(served())  # and each metric is shown, or watched by an alert


@pytest.mark.parametrize(
    ("query", "legend"), [("waymark_up", ""), ('up{port="1"}', ""), ("up", "{{port}}")]
)
def test_a_query_for_anything_else_is_found(query: str, legend: str) -> None:
    with pytest.raises(AssertionError):
        check_query(query, legend)


def test_the_dashboard_is_one_that_grafana_can_import() -> None:
    panels: list[Any] = DASHBOARD["panels"]
    assert DASHBOARD["uid"] == "waymark"
    assert DASHBOARD["schemaVersion"] >= 36
    assert len({panel["id"] for panel in panels}) == len(panels)
    taken: set[tuple[int, int]] = set()
    for panel in panels:
        at = panel["gridPos"]
        place = {(at["x"] + x, at["y"] + y) for x in range(at["w"]) for y in range(at["h"])}
        assert max(x for x, _ in place) < 24, panel["title"]
        assert not place & taken, f"{panel['title']} covers another panel"
        taken |= place
        if panel["type"] == "row":
            continue
        assert panel["type"] in ("stat", "timeseries")
        assert panel["description"], panel["title"]
        assert panel["targets"], panel["title"]
        references = [target["refId"] for target in panel["targets"]]
        assert len(set(references)) == len(references)
        for asking in (panel, *panel["targets"]):
            assert asking["datasource"] == {"type": "prometheus", "uid": "${datasource}"}
    defined = {variable["name"] for variable in DASHBOARD["templating"]["list"]}
    used = set(re.findall(r"\$\{?(\w+)", json.dumps(DASHBOARD["panels"])))
    assert used - {"__rate_interval"} == defined


def test_the_page_explains_every_alert() -> None:
    rows = re.findall(r"^\| `(Waymark\w+)` \|", PAGE, re.MULTILINE)
    assert rows == [rule["alert"] for rule in ALERTS]


@pytest.mark.skipif(shutil.which("promtool") is None, reason="no promtool here")
def test_prometheus_accepts_its_configuration() -> None:
    checking = ("promtool", "check", "config", PACKAGING / "prometheus" / "prometheus.yaml")
    checked = subprocess.run(checking, capture_output=True, text=True)
    assert checked.returncode == 0, checked.stdout + checked.stderr


@pytest.mark.skipif(shutil.which("promtool") is None, reason="no promtool here")
def test_alerts_fire_on_the_series_of_each_fault_and_on_no_others() -> None:
    testing = ("promtool", "test", "rules", PACKAGING / "prometheus" / "alerts_test.yaml")
    tested = subprocess.run(testing, capture_output=True, text=True)
    assert tested.returncode == 0, tested.stdout + tested.stderr


def test_each_alert_has_a_series_that_fires_it() -> None:
    text = (PACKAGING / "prometheus" / "alerts_test.yaml").read_text()
    cases = YAML(typ="safe").load(text)["tests"]
    fired = {
        rule["alertname"]
        for case in cases
        for rule in case["alert_rule_test"]
        if rule.get("exp_alerts")
    }
    assert fired == {rule["alert"] for rule in ALERTS}


# -- image ----------------------------------------------------------------------------------------


def test_the_image_gets_all_that_a_wheel_is_built_from() -> None:
    text = (PACKAGING / "container" / "Containerfile").read_text()
    copied = [
        word for line in re.findall(r"^COPY (?!--)(.*) \S+$", text, re.M) for word in line.split()
    ]
    for name in copied:
        assert (ROOT / name).exists(), name
    backend = (PACKAGING / "backend.py").read_text()
    for name in re.findall(r'"(\w+)"', re.search(r"^PACKAGES = \((.*)\)", backend, re.M)[1]):  # pyright: ignore
        assert name in copied, name


@pytest.mark.skipif(shutil.which("hadolint") is None, reason="no hadolint here")
def test_hadolint_accepts_the_containerfile() -> None:
    linting = ("hadolint", PACKAGING / "container" / "Containerfile")
    linted = subprocess.run(linting, capture_output=True, text=True)
    assert linted.returncode == 0, linted.stdout
