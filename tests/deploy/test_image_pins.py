"""trtspec's requirements beside those of TensorRT-LLM: no version has to change."""

import importlib
import re
import subprocess

import pytest
from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet
from packaging.utils import canonicalize_name
from packaging.version import Version

from tests.deploy.shipped import DEPLOY, ROOT

PINS = DEPLOY / "image/pins"
RELEASES = ("1.2.1", "main")
EACH = pytest.mark.parametrize("release", RELEASES)
NOT_THERE = {"torch"}
"""NVIDIA's own builds, which are in no resolution."""


def lines(path):
    return [line for line in path.read_text().splitlines() if line and line[0] != "#"]


def asked(release):
    """Give what TensorRT-LLM asks for, by name."""
    found = map(Requirement, lines(PINS / f"{release}.txt"))
    return {canonicalize_name(each.name): each.specifier for each in found}


def resolved(release):
    """Give the versions that an image of the day can have had, by name."""
    pairs = (line.split("==") for line in lines(PINS / f"{release}.resolved.txt"))
    return {canonicalize_name(name): Version(version) for name, version in pairs}


def ours():
    """Give what the image installs: the core and the extra serve."""
    project = tomllib().loads((ROOT / "pyproject.toml").read_text())["project"]
    wanted = [*project["dependencies"], *project["optional-dependencies"]["serve"]]
    return [Requirement(each) for each in wanted]


def tomllib():
    try:
        return importlib.import_module("tomllib")  # Python 3.11 and newer
    except ModuleNotFoundError:
        return pytest.importorskip("tomli")


@EACH
def test_the_resolution_is_one_of_what_is_asked_for(release):
    versions = resolved(release)
    for name, specifier in asked(release).items():
        if name not in NOT_THERE:
            assert specifier.contains(versions[name], prereleases=True), name


@EACH
def test_our_requirements_take_what_is_there(release):
    versions = resolved(release)
    there = [each for each in ours() if canonicalize_name(each.name) in versions]
    wrong = [
        f"{each}: {versions[canonicalize_name(each.name)]}"
        for each in there
        if not each.specifier.contains(versions[canonicalize_name(each.name)])
    ]
    assert wrong == []
    assert len(there) > 12  # of the others pip adds what suits


@EACH
def test_no_pin_lies_outside_of_our_ranges(release):
    for each in ours():
        for pin in asked(release).get(canonicalize_name(each.name), ()):
            if pin.operator in ("==", "<=", "<"):
                assert any_version(each.specifier, SpecifierSet(str(pin))), str(each)


def any_version(one, other):
    """Whether two ranges meet, at one of the versions that they name or just below."""
    named = [Version(s.version) for s in (*one, *other)]
    below = [Version(f"{v.major}.{max(v.minor - 1, 0)}.99") for v in named]
    return any(v in one and v in other for v in [*named, *below])


def test_a_range_that_upgrades_would_be_noticed():
    newer = Requirement("huggingface_hub>=1.0")
    assert not newer.specifier.contains(resolved("1.2.1")["huggingface-hub"])
    assert not any_version(SpecifierSet(">=0.60"), SpecifierSet("==0.50.0"))


def test_the_reference_engine_is_not_for_nvidias_environment():
    """Its transformers is 5; 1.2.1 pins 4, so the image does not install that extra."""
    project = tomllib().loads((ROOT / "pyproject.toml").read_text())["project"]
    wanted = map(Requirement, project["optional-dependencies"]["reference"])
    (transformers,) = (each for each in wanted if each.name == "transformers")
    assert not transformers.specifier.contains(resolved("1.2.1")["transformers"])
    assert transformers.specifier.contains(resolved("main")["transformers"])
    assert "[serve]" in script().install_step()


@EACH
def test_pins_say_where_they_are_from(release):
    for name in (f"{release}.txt", f"{release}.resolved.txt"):
        head = [
            line for line in (PINS / name).read_text().splitlines() if line[:1] == "#"
        ]
        assert len(head) >= 4
    assert "Source: " in (PINS / f"{release}.txt").read_text()


def script():
    pytest.importorskip("dockerfile_parse", reason="dockerfile-parse is not installed")
    path = ROOT / "scripts/check_image_pins.py"
    spec = importlib.util.spec_from_file_location("check_image_pins", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_step_that_is_tried_is_the_one_that_ships():
    step = script().install_step()
    assert not step.startswith("--mount")  # BuildKit's, no shell's
    text = re.sub(r"\\\n\s*", "", (ROOT / "Dockerfile").read_text())
    assert " ".join(step.split()) in " ".join(text.split())


@pytest.fixture
def image(tmp_path, monkeypatch):
    """Stand for NVIDIA's image: a python3 whose pip changes what it is told to."""

    def make(before, after):
        program = tmp_path / "bin/python3"
        program.parent.mkdir()
        (tmp_path / "state").write_text(before)
        (tmp_path / "after").write_text(after)
        program.write_text(
            f"""#!/bin/sh
cd {tmp_path}
case "$*" in
  "-m pip list --format=freeze") cat state ;;
  "-m pip install "*) echo "$*" >asked; cp after state ;;
esac
"""
        )
        program.chmod(0o755)
        wheels, own = tmp_path / "wheels", tmp_path / "opt"
        wheels.mkdir()
        own.mkdir()
        (wheels / "trtspec-0.1.0-py3-none-any.whl").touch()
        found = script()
        step = found.in_folders(found.install_step(), wheels, own)
        environment = {"PATH": f"{program.parent}:/usr/bin:/bin"}
        return subprocess.run(
            ["sh", "-ec", step],
            env=environment,
            capture_output=True,
            text=True,
            check=False,
        )

    return make


def test_what_only_adds_passes(image, tmp_path):
    done = image(
        "torch==2.10.0a0+nv\nnumpy==2.4.4\n",
        "click==8.3\nnumpy==2.4.4\ntorch==2.10.0a0+nv\n",
    )
    assert (done.returncode, done.stdout) == (0, "")
    asked_of_pip = (tmp_path / "asked").read_text()
    assert f"--constraint {tmp_path}/opt/image-packages.txt" in asked_of_pip
    assert "trtspec-0.1.0-py3-none-any.whl[serve]" in asked_of_pip


@pytest.mark.parametrize(
    "after", ["numpy==2.4.5\n", "click==8.3\n", "numpy==2.4.4.post1\n"]
)
def test_what_changes_a_version_ends_the_build_and_names_it(image, after):
    done = image("numpy==2.4.4\n", after)
    assert done.returncode != 0
    assert done.stdout == "numpy==2.4.4\n"


def test_changes_are_told_by_name():
    found = script()
    before = found.versions("numpy==2.4.4\nnvidia-ml-py==13\nflash_attn==2\n")
    after = found.versions("numpy==2.4.5\nnvidia_ml_py==13\nclick==8\n")
    assert found.changed(before, after) == [
        "numpy: 2.4.4 -> 2.4.5",
        "flash-attn: 2 -> gone",
    ]
