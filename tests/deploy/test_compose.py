"""The compose file: the published schema, and what NVIDIA's image needs."""

import jsonschema
import pytest
import yaml

from tests.deploy.shipped import DEPLOY, ROOT, schema, stages
from trtspec.recipe import load_recipe

FILE = DEPLOY / "compose/compose.yaml"


@pytest.fixture(scope="module")
def compose():
    return yaml.safe_load(FILE.read_text())


def default(text):
    """Resolve ${NAME:-default}."""
    return text.partition(":-")[2].rstrip("}") if text.startswith("${") else text


def test_it_is_a_compose_file(compose):
    validator = jsonschema.Draft7Validator(schema("compose-spec.json"))
    assert [error.message for error in validator.iter_errors(compose)] == []


def test_the_schema_would_refuse_another(compose):
    validator = jsonschema.Draft7Validator(schema("compose-spec.json"))
    for wrong in ({"ipcs": "host"}, {"ulimits": {"memlock": [1]}}):
        broken = {
            **compose,
            "services": {"gpu": {**compose["services"]["gpu"], **wrong}},
        }
        assert list(validator.iter_errors(broken)) != []


def test_the_gpu_service_has_the_flags_that_nvidia_documents(compose):
    gpu = compose["services"]["gpu"]
    assert (gpu["ipc"], gpu["ulimits"]) == ("host", {"memlock": -1, "stack": 67108864})
    (device,) = gpu["deploy"]["resources"]["reservations"]["devices"]
    assert device == {"driver": "nvidia", "count": "all", "capabilities": ["gpu"]}
    assert "deploy" not in compose["services"]["cpu"]


def test_one_of_two_servers_is_chosen_by_profile(compose):
    profiles = {
        name: each.get("profiles") for name, each in compose["services"].items()
    }
    assert profiles == {
        "gpu": ["gpu"],
        "cpu": ["cpu"],
        "prometheus": None,
        "grafana": None,
    }


@pytest.mark.parametrize("name", ["gpu", "cpu"])
def test_a_server_is_built_from_its_target_and_serves_a_recipe_that_exists(
    compose, name
):
    service = compose["services"][name]
    assert service["build"]["target"] == name
    assert (FILE.parent / service["build"]["context"]).resolve() == ROOT
    assert name in stages()
    command, recipe, *options = (default(word) for word in service["command"])
    assert (command, options) == ("serve", ["--host", "0.0.0.0"])
    backend = load_recipe(ROOT / recipe).recipe.backend
    assert backend == {"gpu": "pytorch", "cpu": "reference"}[name]


@pytest.mark.parametrize("name", ["gpu", "cpu"])
def test_a_server_gets_longer_to_end_than_its_requests(compose, name):
    from trtspec.cli.main import cli

    (grace,) = (
        p.default for p in cli.get_command(None, "serve").params if p.name == "grace"
    )
    assert compose["services"][name]["stop_grace_period"] == "90s"
    assert grace + 30 <= 90


def test_nothing_is_published_beyond_this_machine(compose):
    ports = [port for each in compose["services"].values() for port in each["ports"]]
    assert len(ports) == 4
    assert all(port.startswith("127.0.0.1:") for port in ports)


def test_volumes_are_those_of_the_image(compose):
    declared = {"/trtspec/models", "/trtspec/engines", "/trtspec/cache"}
    for name in ("gpu", "cpu"):
        named = dict(v.split(":")[:2] for v in compose["services"][name]["volumes"])
        assert declared <= set(named.values())
        assert {n for n in named if "/" not in n} <= set(compose["volumes"])


def test_mounted_files_exist(compose):
    for service in compose["services"].values():
        for volume in service["volumes"]:
            source = volume.split(":")[0]
            assert "/" not in source or (FILE.parent / source).exists(), source


def test_prometheus_scrapes_the_name_that_both_servers_answer_to(compose):
    config = yaml.safe_load((DEPLOY / "prometheus/prometheus.yml").read_text())
    (target,) = config["scrape_configs"][0]["static_configs"][0]["targets"]
    for name in ("gpu", "cpu"):
        assert compose["services"][name]["networks"]["default"]["aliases"] == [
            target.split(":")[0]
        ]


def test_no_password_has_a_default(compose):
    given = compose["services"]["grafana"]["environment"]["GF_SECURITY_ADMIN_PASSWORD"]
    assert given.startswith("${GRAFANA_PASSWORD:?")
