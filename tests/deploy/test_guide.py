"""docs/deploy.md and docs/operations.md say what files and code say."""

import re

import pytest
import yaml
from packaging.utils import canonicalize_name

from tests.deploy.promql import EXPOSED
from tests.deploy.shipped import DEPLOY, ROOT, stages
from tests.deploy.test_image_pins import ours, resolved
from trtspec.cli.main import cli
from trtspec.serve.limits import ServeLimits
from trtspec.serve.metrics import names

DEPLOYING = (ROOT / "docs/deploy.md").read_text()
OPERATIONS = (ROOT / "docs/operations.md").read_text()
SERVE = cli.get_command(None, "serve")


def section(page, title):
    """Give what stands below a heading, down to the next of its level."""
    return re.search(rf"^## {title}\n(.*?)(?=^## |\Z)", page, re.M | re.S)[1]


def rows(text):
    """Give the cells of tables, by the first one; heads and rules left out."""
    lines = [line for line in text.splitlines() if line[:1] == "|"]
    found = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]
    return {cells[0].strip("`"): cells[1:] for cells in found if cells[0].strip("-")}


def test_every_metric_is_explained():
    table = rows(section(OPERATIONS, "Metrics"))
    told = {name for name in table if name.startswith(names.PREFIX)}
    counted = {f"{name}_total" for name in names.COUNTERS}
    assert told == {*names.GAUGES, *counted, *names.HISTOGRAMS}
    for name in told:
        kind = (
            "counter"
            if name in counted
            else "histogram"
            if name in names.HISTOGRAMS
            else "gauge"
        )
        assert table[name][0].startswith(kind)


@pytest.mark.parametrize("page", [DEPLOYING, OPERATIONS], ids=["deploy", "operations"])
def test_every_name_in_the_guide_is_a_metric(page):
    told = set(re.findall(r"`(trtspec:[a-z0-9_]*)", page)) - {names.PREFIX}
    assert told <= EXPOSED | set(names.HISTOGRAMS)


def test_every_alert_is_explained():
    rules = yaml.safe_load((DEPLOY / "prometheus/trtspec.rules.yml").read_text())
    alerts = [rule["alert"] for group in rules["groups"] for rule in group["rules"]]
    told = [
        name
        for name in rows(section(OPERATIONS, "Alerts"))
        if name.startswith("Trtspec")
    ]
    assert told == alerts


def test_limits_are_those_of_the_server():
    limits, table = ServeLimits(), rows(section(OPERATIONS, "Limits"))
    told = {name: cells[0] for name, cells in table.items()}
    assert told["--max-waiting"] == str(limits.waiting)
    assert told["--max-connections"] == str(limits.connections)
    assert told["--max-body"] == f"{limits.body_bytes} bytes"
    assert told["--request-timeout"] == f"{limits.request_seconds:g} s"
    assert told["choices of a request (prompts x `n`)"] == str(limits.choices)
    assert told["head and body of a request"] == f"{limits.head_seconds:g} s"
    assert told["a client that reads nothing"] == f"{limits.write_seconds:g} s"
    assert OPERATIONS.count(f"no step for {limits.hang_seconds:g} s") == 1
    assert f"no step for {limits.hang_seconds:g} s" in DEPLOYING


@pytest.mark.parametrize("page", [DEPLOYING, OPERATIONS], ids=["deploy", "operations"])
def test_options_of_serve_exist(page):
    known = {option for parameter in SERVE.params for option in parameter.opts}
    of_others = re.compile(
        r"docker|kubectl|pip |trtspec (?:plan|check|verify|bench|tune|build)|uv "
    )
    lines = [line for line in page.splitlines() if not of_others.search(line)]
    named = set(re.findall(r"`(--[a-z][a-z-]+)", "\n".join(lines)))
    docker = {"--gpus", "--ipc", "--ulimit", "--user", "--entrypoint", "--no-deps"}
    assert named - docker <= known
    assert "--grace" in named | set(re.findall(r"--[a-z-]+", page))


def test_the_readmes_flags_are_those_of_compose():
    compose = yaml.safe_load((DEPLOY / "compose/compose.yaml").read_text())
    gpu = compose["services"]["gpu"]
    commands = re.findall(r"docker run (.*?)```", DEPLOYING, re.S)
    command = next(each for each in commands if "--gpus" in each)
    assert f"--ipc={gpu['ipc']}" in command
    for name, value in gpu["ulimits"].items():
        assert f"--ulimit {name}={value}" in command
    for path in ("/trtspec/models", "/trtspec/engines", "/trtspec/cache"):
        assert re.search(rf"-v \S+:{path}\b", command)


def test_build_arguments_and_targets_are_those_of_the_dockerfile():
    found = stages()
    for target in re.findall(r"--target (\S+)", DEPLOYING):
        assert target in found
    arguments = {
        v.split("=")[0] for steps in found.values() for i, v in steps if i == "ARG"
    }
    table = rows(section(DEPLOYING, "The image"))
    told = {
        n.strip("`")
        for name in table
        for n in name.split(", ")
        if n.strip("`").isupper()
    }
    assert told - {"PID 1"} == arguments


def test_the_table_of_versions_is_that_of_the_pins():
    part = section(DEPLOYING, "The image").split("### NVIDIA's packages")[1]
    wanted = {canonicalize_name(each.name): str(each.specifier) for each in ours()}
    there = {release: resolved(release) for release in ("1.2.1", "main")}
    seen = 0
    for name, (range_, *versions) in rows(part).items():
        key = canonicalize_name(name.split(",")[0])
        if key in there["1.2.1"]:
            seen += 1
            assert versions == [str(there[release][key]) for release in there]
            assert key not in wanted or range_ == f"`{wanted[key]}`"
    assert seen == 10


def test_variables_of_compose_are_listed():
    text = (DEPLOY / "compose/compose.yaml").read_text()
    used = set(re.findall(r"\$\{(\w+)", text))
    told = set(re.findall(r"`([A-Z_]+)`", section(DEPLOYING, "compose")))
    images = {name for name in used if name.endswith("_IMAGE")}
    assert used - images == told


def test_the_break_even_of_the_guide_is_reckoned_right():
    words = r"length of\n(\S+) at (\S+) times the output gives (\S+)\. "
    length, gain, result = map(float, re.search(words, OPERATIONS).groups())
    assert round(length / gain, 2) == result
