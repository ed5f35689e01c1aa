"""The manifests: published schemas, names that meet, probes that fit the server."""

import os
import re
import subprocess
import sys

import jsonschema
import pytest

from tests.deploy.shipped import (
    NODES,
    ROOT,
    containers,
    manifests,
    only,
    pod_specs,
    schema,
)
from trtspec.cli.main import cli
from trtspec.recipe import load_recipe
from trtspec.trtllm.pytorch.launch.ranks import ranks_of

OPTIONS = {o: p.default for p in cli.get_command(None, "serve").params for o in p.opts}
BOTH = pytest.mark.parametrize("folder", NODES.values(), ids=NODES)
KINDS = ("Deployment", "PersistentVolumeClaim", "PodTemplate", "Service")


def strictly(document):
    """Hold a document of Kubernetes' own against its schema."""
    validate = pytest.importorskip(
        "kubernetes_validate", reason="kubernetes-validate is not installed"
    )
    newest = max(
        validate.available_versions()
        if hasattr(validate, "available_versions")
        else ["1.37"]
    )
    validate.validate(document, newest, strict=True)


@BOTH
def test_every_object_is_one_of_its_kind(folder):
    for each in manifests(folder):
        if each["kind"] == "LeaderWorkerSet":
            jsonschema.Draft7Validator(schema("leaderworkerset.json")).validate(each)
        else:
            assert each["kind"] in KINDS
            strictly(each if each["kind"] != "Deployment" else selected(each))


def selected(deployment):
    """Add the selector that kustomize adds with the labels."""
    labels = {"app.kubernetes.io/name": "trtspec"}
    template = deployment["spec"]["template"]
    metadata = {**template["metadata"], "labels": labels}
    spec = {
        **deployment["spec"],
        "selector": {"matchLabels": labels},
        "template": {**template, "metadata": metadata},
    }
    return {**deployment, "spec": spec}


@BOTH
def test_every_pod_is_one(folder):
    for spec in pod_specs(manifests(folder)).values():
        strictly(
            {
                "apiVersion": "v1",
                "kind": "PodTemplate",
                "metadata": {"name": "x"},
                "template": {"spec": spec},
            }
        )


def test_the_schemas_would_refuse_others():
    validate = pytest.importorskip(
        "kubernetes_validate", reason="kubernetes-validate is not installed"
    )
    (spec,) = pod_specs(manifests(NODES["one-node"])).values()
    for wrong in ({"gracePeriod": 1}, {"terminationGracePeriodSeconds": "long"}):
        document = {
            "apiVersion": "v1",
            "kind": "PodTemplate",
            "metadata": {"name": "x"},
            "template": {"spec": {**spec, **wrong}},
        }
        with pytest.raises(validate.ValidationError):
            strictly(document)
    lws = only(manifests(NODES["several-nodes"]), "LeaderWorkerSet")
    broken = {**lws, "spec": {**lws["spec"], "startPolicy": "LeaderReady"}}
    assert not jsonschema.Draft7Validator(schema("leaderworkerset.json")).is_valid(
        broken
    )


@BOTH
def test_names_that_a_pod_refers_to_are_there(folder):
    import yaml

    objects = manifests(folder)
    kustomization = yaml.safe_load((folder / "kustomization.yaml").read_text())
    maps = {each["name"] for each in kustomization["configMapGenerator"]}
    claims = {
        each["metadata"]["name"]
        for each in objects
        if each["kind"] == "PersistentVolumeClaim"
    }
    for spec in pod_specs(objects).values():
        volumes = {v["name"]: v for v in spec["volumes"]}
        for volume in volumes.values():
            if "configMap" in volume:
                assert volume["configMap"]["name"] in maps
            if "persistentVolumeClaim" in volume:
                assert volume["persistentVolumeClaim"]["claimName"] in claims
        mounted = [m["name"] for c in containers(spec) for m in c["volumeMounts"]]
        assert set(mounted) == set(volumes)
    for file in (
        f for each in kustomization["configMapGenerator"] for f in each["files"]
    ):
        assert (folder / file).exists()


@BOTH
def test_pods_are_confined(folder):
    for spec in pod_specs(manifests(folder)).values():
        assert spec["securityContext"]["runAsNonRoot"] is True
        assert (
            spec["securityContext"]["runAsUser"]
            == spec["securityContext"]["fsGroup"]
            == 10001
        )
        assert spec["securityContext"]["seccompProfile"] == {"type": "RuntimeDefault"}
        assert spec["automountServiceAccountToken"] is False
        # or a Service named trtspec would set TRTSPEC_PORT, which the launcher reads
        assert spec["enableServiceLinks"] is False
        for container in containers(spec):
            assert container["securityContext"] == {
                "allowPrivilegeEscalation": False,
                "capabilities": {"drop": ["ALL"]},
            }


@BOTH
def test_each_container_gets_gpus_and_shared_memory(folder):
    for spec in pod_specs(manifests(folder)).values():
        (shm,) = (v for v in spec["volumes"] if v["name"] == "shm")
        assert shm["emptyDir"]["medium"] == "Memory"
        for container in containers(spec):
            assert int(container["resources"]["limits"]["nvidia.com/gpu"]) > 0
            assert {"name": "shm", "mountPath": "/dev/shm"} in container["volumeMounts"]


def test_keys_come_from_a_secret():
    (spec,) = pod_specs(manifests(NODES["one-node"])).values()
    variables = {v["name"]: v for v in spec["containers"][0]["env"]}
    assert variables["TRTSPEC_API_KEY"]["valueFrom"] == {
        "secretKeyRef": {"name": "trtspec", "key": "api-key"}
    }
    assert variables["HF_TOKEN"]["valueFrom"]["secretKeyRef"]["optional"] is True


def test_a_server_has_time_to_finish():
    (spec,) = pod_specs(manifests(NODES["one-node"])).values()
    (container,) = spec["containers"]
    grace = float(option(container["args"], "--grace"))
    before = int(container["lifecycle"]["preStop"]["exec"]["command"][-1])
    assert spec["terminationGracePeriodSeconds"] >= grace + before + 30


def option(words, name):
    return next(word.partition("=")[2] for word in words if word.startswith(f"{name}="))


def test_arguments_are_those_of_the_command():
    (spec,) = pod_specs(manifests(NODES["one-node"])).values()
    for container in containers(spec):
        name, *words = container["args"]
        words = [
            re.sub(r"^/etc/trtspec/", f"{NODES['one-node']}/", word) for word in words
        ]
        cli.get_command(None, name).make_context(name, words).close()


def test_probes_ask_what_the_server_answers():
    (spec,) = pod_specs(manifests(NODES["one-node"])).values()
    (container,) = spec["containers"]
    paths = {
        n: container[f"{n}Probe"]["httpGet"]["path"]
        for n in ("startup", "readiness", "liveness")
    }
    # busy, starting or draining is no reason to kill it; only /ready tells of them
    assert paths == {"startup": "/ready", "readiness": "/ready", "liveness": "/health"}
    port = next(p for p in container["ports"] if p["name"] == "http")["containerPort"]
    assert str(port) == option(container["args"], "--port")
    assert option(container["args"], "--host") == "0.0.0.0"
    startup = container["startupProbe"]
    assert (
        startup["periodSeconds"] * startup["failureThreshold"]
        > OPTIONS["--start-timeout"]
    )


def test_the_same_pod_is_scraped():
    deployment = only(manifests(NODES["one-node"]), "Deployment")
    annotations = deployment["spec"]["template"]["metadata"]["annotations"]
    assert annotations == {
        "prometheus.io/scrape": "true",
        "prometheus.io/port": "8000",
        "prometheus.io/path": "/metrics",
    }


def test_a_single_gpu_is_given_up_before_it_is_taken():
    deployment = only(manifests(NODES["one-node"]), "Deployment")
    assert deployment["spec"]["strategy"] == {"type": "Recreate"}


@BOTH
def test_the_recipe_asks_for_the_gpus_that_there_are(folder):
    ranks = ranks_of(load_recipe(folder / "recipe.yaml").recipe)
    objects = manifests(folder)
    for spec in pod_specs(objects).values():
        for container in spec["containers"]:
            assert (
                int(container["resources"]["limits"]["nvidia.com/gpu"])
                == ranks.per_node
            )
    if folder == NODES["several-nodes"]:
        group = only(objects, "LeaderWorkerSet")["spec"]["leaderWorkerTemplate"]
        assert group["size"] == ranks.nodes
        variables = pod_specs(objects)["leader"]["containers"][0]["env"]
        assert {
            "name": "TRTSPEC_GPUS_PER_NODE",
            "value": str(ranks.per_node),
        } in variables


@BOTH
def test_the_recipe_can_be_built_on_the_image(folder, tmp_path):
    command = ["check", str(folder / "recipe.yaml"), "--trtllm", "1.2.1"]
    done = subprocess.run(
        [sys.executable, "-m", "trtspec", *command],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr


def test_the_service_leads_to_the_leader():
    service = only(manifests(NODES["several-nodes"]), "Service")
    lws = only(manifests(NODES["several-nodes"]), "LeaderWorkerSet")
    assert service["spec"]["selector"] == {
        "leaderworkerset.sigs.k8s.io/name": lws["metadata"]["name"],
        "leaderworkerset.sigs.k8s.io/worker-index": "0",
    }


def test_all_nodes_see_the_same_files():
    objects = manifests(NODES["several-nodes"])
    assert only(objects, "PersistentVolumeClaim")["spec"]["accessModes"] == [
        "ReadWriteMany"
    ]
    leader, worker = (
        pod_specs(objects)[role]["containers"][0] for role in ("leader", "worker")
    )
    shared = [m for m in leader["volumeMounts"] if m["name"] == "work"]
    assert [m for m in worker["volumeMounts"] if m["name"] == "work"] == shared != []
