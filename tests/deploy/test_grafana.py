"""The dashboard: it loads as one, asks for metrics that exist, and nothing overlaps."""

import itertools
import json
import re

import pytest
import yaml

from tests.deploy.promql import EXPOSED, names_in, parsed
from tests.deploy.shipped import DEPLOY
from trtspec.serve.metrics import names

FOLDER = DEPLOY / "grafana"
DASHBOARD = json.loads((FOLDER / "dashboards/trtspec.json").read_text())
PANELS = DASHBOARD["panels"]
SHOWN = [panel for panel in PANELS if panel["type"] != "row"]
VARIABLES = {each["name"]: each for each in DASHBOARD["templating"]["list"]}
EACH = pytest.mark.parametrize("panel", SHOWN, ids=lambda panel: panel["title"])


def queries(panel):
    return [target["expr"] for target in panel["targets"]]


@EACH
def test_a_panel_asks_for_what_servers_tell(panel):
    for query in queries(panel):
        parsed(query)
        assert names_in(query) <= EXPOSED
        used = set(re.findall(r"\$(?!__)(\w+)", query))
        assert used <= set(VARIABLES)


@EACH
def test_a_panel_shows_only_the_chosen_servers(panel):
    for query in queries(panel):
        for matchers in re.findall(r"trtspec:\w+(\{[^}]*\})?", query):
            for chosen in (
                'job=~"$job"',
                'instance=~"$instance"',
                'model_name=~"$model_name"',
            ):
                assert chosen in matchers


@EACH
def test_a_panel_explains_itself_and_uses_the_chosen_source(panel):
    assert panel["description"].endswith(".") or "0: not set" in panel["description"]
    source = {"type": "prometheus", "uid": "${datasource}"}
    assert panel["datasource"] == source
    assert all(target["datasource"] == source for target in panel["targets"])
    letters = [target["refId"] for target in panel["targets"]]
    assert len(set(letters)) == len(letters)


def test_every_metric_is_shown():
    asked = {
        name for panel in SHOWN for query in queries(panel) for name in names_in(query)
    }
    bare = {re.sub(r"_(total|bucket)$", "", name) for name in asked}
    assert bare == {*names.GAUGES, *names.COUNTERS, *names.HISTOGRAMS}


def test_panels_have_numbers_of_their_own():
    numbers = [panel["id"] for panel in PANELS]
    assert len(set(numbers)) == len(numbers)


def test_panels_lie_beside_one_another():
    for one, other in itertools.combinations((panel["gridPos"] for panel in PANELS), 2):
        apart = (
            one["x"] + one["w"] <= other["x"]
            or other["x"] + other["w"] <= one["x"]
            or one["y"] + one["h"] <= other["y"]
            or other["y"] + other["h"] <= one["y"]
        )
        assert apart, (one, other)
    assert all(
        p["gridPos"]["x"] >= 0 and p["gridPos"]["x"] + p["gridPos"]["w"] <= 24
        for p in PANELS
    )


def test_the_source_is_the_one_that_is_provisioned():
    provisioned = yaml.safe_load(
        (FOLDER / "provisioning/datasources/prometheus.yml").read_text()
    )
    (source,) = provisioned["datasources"]
    assert VARIABLES["datasource"]["current"]["value"] == source["uid"]
    assert VARIABLES["datasource"]["query"] == source["type"]
    for name in ("job", "instance", "model_name"):
        assert VARIABLES[name]["datasource"]["uid"] == "${datasource}"


def test_the_dashboard_is_found():
    provisioned = yaml.safe_load(
        (FOLDER / "provisioning/dashboards/trtspec.yml").read_text()
    )
    path = provisioned["providers"][0]["options"]["path"]
    compose = yaml.safe_load((DEPLOY / "compose/compose.yaml").read_text())
    mounts = [v.split(":")[:2] for v in compose["services"]["grafana"]["volumes"]]
    assert ["../grafana/dashboards", path] in mounts


def test_a_break_even_is_drawn_only_once_it_is_told():
    for name in ("break_even_length", "break_even_requests"):
        assert VARIABLES[name]["query"] == "0"
        users = [q for p in SHOWN for q in queries(p) if f"${name}" in q]
        assert users
        assert all(f"vector(${name}) > 0" in query for query in users)


def test_acceptance_is_reckoned_as_everywhere_in_trtspec():
    (length,) = (p for p in SHOWN if p["title"] == "Acceptance length and break-even")
    accepted, steps = (f"{name}_total" for name in (names.ACCEPTED_TOKENS, names.STEPS))
    query = re.sub(r"\{[^}]*\}", "", queries(length)[0])
    pace = [f"sum by (model_name) (rate({n}[$window]))" for n in (accepted, steps)]
    assert query == f"1 + {pace[0]} / {pace[1]}"
