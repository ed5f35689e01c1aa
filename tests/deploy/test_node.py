"""What a pod of a LeaderWorkerSet runs: node.sh, with stand-ins for ssh and mpirun."""

import os
import shutil
import stat
import subprocess

import pytest

from tests.deploy.shipped import DEPLOY

NODE = DEPLOY / "kubernetes/several-nodes/node.sh"
GROUP = {
    "LWS_LEADER_ADDRESS": "trtspec-nodes-0.trtspec-nodes.models",
    "LWS_GROUP_SIZE": "3",
    "TRTSPEC_GPUS_PER_NODE": "8",
}
WORKERS = [
    "trtspec-nodes-0-1.trtspec-nodes.models",
    "trtspec-nodes-0-2.trtspec-nodes.models",
]
TRTSPEC = """#!/bin/bash
echo "trtspec $*" >>"$SEEN"
case "$1" in
  build) echo "building"; echo "engines/r1-0123456789ab" ;;
  plan)
    for word; do [ "${last:-}" != --output ] || script="$word"; last="$word"; done
    printf '%s\\n' 'printf "%s\\n" "$TRTSPEC_ARTIFACT" "$TRTSPEC_HOSTS" "$#"' \\
      'ssh some-node orted' >"$script"
    ;;
esac
"""
SSH = """#!/bin/bash
echo "ssh $*" >>"$SEEN"
[ -e "$UP" ] || { echo "Connection refused"; touch "$UP"; exit 255; }
"""
SSHD = """#!/bin/bash
echo "sshd $*" >>"$SEEN"
"""


@pytest.fixture
def node(tmp_path):
    """Run node.sh; gives the finished process."""
    if shutil.which("ssh-keygen") is None:
        pytest.skip("ssh-keygen is not installed")
    (tmp_path / "engines/r1-0123456789ab").mkdir(parents=True)
    programs = {"trtspec": TRTSPEC, "ssh": SSH, "sshd": SSHD, "sleep": "#!/bin/sh\n"}
    (tmp_path / "bin").mkdir()
    for name, text in programs.items():
        (tmp_path / "bin" / name).write_text(text)
        (tmp_path / "bin" / name).chmod(0o755)
    keys = tmp_path / "keys"
    keys.mkdir()
    make = [
        "ssh-keygen",
        "-q",
        "-t",
        "ed25519",
        "-N",
        "",
        "-f",
        keys / "ssh-privatekey",
    ]
    subprocess.run(make, check=True)
    (keys / "ssh-privatekey").chmod(0o440)  # as Kubernetes mounts it

    def run(*arguments, **variables):
        environment = {
            "PATH": f"{tmp_path / 'bin'}:{os.environ['PATH']}",
            "HOME": str(tmp_path),
            "TRTSPEC_CACHE": str(tmp_path / "cache"),
            "TRTSPEC_SSH_KEYS": str(keys),
            "SEEN": str(tmp_path / "seen"),
            "UP": str(tmp_path / "up"),
            **GROUP,
            **variables,
        }
        return subprocess.run(
            [NODE, *arguments],
            env=environment,
            cwd=tmp_path,
            capture_output=True,
            text=True,
            check=False,
        )

    return run


def seen(folder):
    return (folder / "seen").read_text().splitlines()


def test_the_leader_builds_waits_for_all_workers_and_starts_the_server(node, tmp_path):
    done = node("leader", "recipe.yaml")
    assert done.returncode == 0, done.stderr
    artifact, hosts, further = done.stdout.splitlines()
    assert artifact == str(tmp_path / "engines/r1-0123456789ab")
    everyone = [GROUP["LWS_LEADER_ADDRESS"], *WORKERS]
    assert hosts == ",".join(f"{host}:8" for host in everyone)
    assert further == "0"
    config = tmp_path / "cache/ssh/config"
    build, plan, *asked = seen(tmp_path)
    assert build == "trtspec build recipe.yaml"
    assert plan.startswith("trtspec plan recipe.yaml --launcher mpirun --output ")
    # the first one was not there at once
    first, second = WORKERS
    tried = [first, first, second]
    waits = [f"ssh -F {config} {host} true" for host in tried]
    # what mpirun calls ssh has the key and the port, without being told
    assert asked == [*waits, f"ssh -F {config} some-node orted"]


def test_a_worker_that_never_comes_ends_the_leader_and_is_named(node, tmp_path):
    (tmp_path / "bin/ssh").write_text("#!/bin/sh\necho 'no route to host'; exit 255\n")
    done = node("leader", "recipe.yaml", TRTSPEC_WAIT="0")
    assert done.returncode == 1
    assert f"no ssh to {WORKERS[0]} after 0 s: no route to host" in done.stderr


def test_a_failed_build_ends_the_leader(node, tmp_path):
    (tmp_path / "bin/trtspec").write_text("#!/bin/sh\nexit 5\n")
    done = node("leader", "recipe.yaml")
    assert done.returncode == 5
    assert not (tmp_path / "seen").exists()  # no worker was asked


def test_a_worker_runs_sshd_as_its_own_user(node, tmp_path):
    done = node("worker", LD_LIBRARY_PATH="/usr/local/tensorrt/lib")
    assert done.returncode == 0, done.stderr
    config = tmp_path / "cache/ssh/sshd_config"
    assert seen(tmp_path) == [f"sshd -D -e -f {config}"]
    lines = config.read_text().splitlines()
    assert "Port 2222" in lines  # below 1024 is root's
    assert "UsePAM no" in lines
    assert "PasswordAuthentication no" in lines
    (kept,) = (line for line in lines if line.startswith("SetEnv "))
    # what mpirun starts here finds CUDA, TensorRT, and the checkpoints
    assert '"LD_LIBRARY_PATH=/usr/local/tensorrt/lib"' in kept
    assert f'"TRTSPEC_CACHE={tmp_path / "cache"}"' in kept


def test_sshd_takes_the_configuration(node, tmp_path):
    sshd = shutil.which("sshd") or "/usr/sbin/sshd"
    if not os.path.exists(sshd):
        pytest.skip("sshd is not installed")
    node("worker")
    config = tmp_path / "cache/ssh/sshd_config"
    done = subprocess.run(
        [sshd, "-t", "-f", config], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr


def test_each_side_proves_itself_with_the_key_of_the_secret(node, tmp_path):
    node("worker")
    node("leader", "recipe.yaml")
    folder = tmp_path / "cache/ssh"
    assert stat.S_IMODE((folder / "key").stat().st_mode) == 0o600
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    public = (folder / "key.pub").read_text()
    assert (folder / "authorized_keys").read_text() == public
    assert (folder / "known_hosts").read_text() == f"* {public}"
    assert f"HostKey {folder}/key" in (folder / "sshd_config").read_text()
    config = (folder / "config").read_text()
    assert "StrictHostKeyChecking yes" in config
    assert f"UserKnownHostsFile {folder}/known_hosts" in config


def test_ssh_takes_the_configuration(node, tmp_path):
    ssh = shutil.which("ssh")
    if ssh is None:
        pytest.skip("ssh is not installed")
    node("leader", "recipe.yaml")
    config = tmp_path / "cache/ssh/config"
    done = subprocess.run(
        [ssh, "-G", "-F", config, "some-node"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert "port 2222" in done.stdout.splitlines()
    assert "stricthostkeychecking true" in done.stdout.splitlines()


@pytest.mark.parametrize(
    ("arguments", "variables", "told"),
    [
        ((), {}, "is leader or worker"),
        (("both",), {}, "no role both"),
        (("leader",), {}, "is the recipe"),
        (("leader", "r"), {"TRTSPEC_GPUS_PER_NODE": ""}, "ranks of a node"),
        (("leader", "r"), {"LWS_LEADER_ADDRESS": ""}, "set by LeaderWorkerSet"),
    ],
)
def test_what_is_missing_is_named(node, arguments, variables, told):
    done = node(*arguments, **variables)
    assert done.returncode != 0
    assert told in done.stderr
