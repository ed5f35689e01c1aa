"""Scrape configuration and alerts: they parse, and name metrics that servers have."""

import re
import subprocess

import pytest
import yaml

from tests.deploy.promql import EXPOSED, names_in, parsed
from tests.deploy.shipped import DEPLOY, tool
from trtspec.serve.metrics import names

FOLDER = DEPLOY / "prometheus"
RULES = [
    rule
    for group in yaml.safe_load((FOLDER / "trtspec.rules.yml").read_text())["groups"]
    for rule in group["rules"]
]
EACH = pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule["alert"])
BUILT_IN = {"up"}


def test_the_file_of_names_is_understood():
    assert f"{names.TTFT_SECONDS}_bucket" in EXPOSED
    assert f"{names.ACCEPTED_TOKENS}_total" in EXPOSED
    assert names.ACCEPTED_TOKENS not in EXPOSED


@EACH
def test_an_expression_is_one_and_names_what_is_there(rule):
    parsed(rule["expr"])
    assert names_in(rule["expr"]) <= EXPOSED | BUILT_IN


def test_another_name_would_be_noticed():
    wrong = "rate(trtspec:spec_decode_accepted_total[5m]) > 0"
    assert not names_in(wrong) <= EXPOSED | BUILT_IN
    with pytest.raises(ValueError, match="brackets"):
        parsed("rate(trtspec:ready[5m) > 0")


@EACH
def test_an_alert_says_what_is_wrong_and_how_bad_it_is(rule):
    assert rule["labels"]["severity"] in ("critical", "warning")
    assert set(rule["annotations"]) == {"summary", "description"}
    assert re.fullmatch(r"\d+m", rule["for"])


def test_labels_that_alerts_ask_for_are_those_of_the_metrics():
    from trtspec.serve.metrics import Identity, ServerMetrics

    metrics = ServerMetrics("m", Identity("1", "reference", "ngram", "a", "f", "4"))
    metrics.refused("429")
    metrics.failed("500")
    page = metrics.render().decode()
    labels = dict(re.findall(r"^(trtspec:\w+)\{([^}]*)\}", page, re.M))
    for rule in RULES:
        for name, matchers in re.findall(r"(trtspec:\w+)\{([^}]*)\}", rule["expr"]):
            for label in re.findall(r"(\w+)[=!]", matchers):
                assert f'{label}="' in labels[name], (name, label)


def test_every_alert_is_tried():
    tried = (FOLDER / "trtspec.rules.test.yml").read_text()
    fires = set(re.findall(r'alertname="(\w+)"', tried))
    assert fires == {rule["alert"] for rule in RULES}


def test_promtool_takes_them_and_each_fires_where_it_should():
    promtool = tool("promtool")
    for arguments in (
        ("check", "config", "prometheus.yml"),
        ("test", "rules", "trtspec.rules.test.yml"),
    ):
        done = subprocess.run(
            [promtool, *arguments],
            cwd=FOLDER,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("name", ["prometheus.yml", "kubernetes.yml"])
def test_the_job_is_the_one_that_alerts_and_dashboard_know(name):
    config = yaml.safe_load((FOLDER / name).read_text())
    assert [job["job_name"] for job in config["scrape_configs"]] == ["trtspec"]
    assert config["rule_files"] == ["trtspec.rules.yml"]


def test_pods_are_found_by_what_the_manifests_say():
    config = yaml.safe_load((FOLDER / "kubernetes.yml").read_text())
    relabels = config["scrape_configs"][0]["relabel_configs"]
    keep = {
        label: r["regex"]
        for r in relabels
        if r.get("action") == "keep"
        for label in r["source_labels"]
    }
    kustomization = yaml.safe_load(
        (DEPLOY / "kubernetes/one-node/kustomization.yaml").read_text()
    )
    assert kustomization["labels"][0]["pairs"]["app.kubernetes.io/name"] == "trtspec"
    assert keep == {
        "__meta_kubernetes_pod_label_app_kubernetes_io_name": "trtspec",
        "__meta_kubernetes_pod_annotation_prometheus_io_scrape": "true",
    }
    for relabel in relabels:
        re.compile(relabel.get("regex", "(.*)"))
