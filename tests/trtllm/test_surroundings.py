"""Signs of driver and container are read from files and variables alone."""

from tests.trtllm.machines import write
from trtspec.trtllm.surroundings import Surroundings, look_around


def test_a_bare_machine_has_none(tmp_path):
    assert look_around({"PATH": str(tmp_path)}, tmp_path) == Surroundings()


def test_all_signs_are_seen(tmp_path):
    for name in (".dockerenv", "dev/nvidiactl", "usr/local/cuda/compat/libcuda.so.1"):
        write(tmp_path / name)
    program = write(tmp_path / "bin" / "nvidia-smi")
    program.chmod(0o755)
    environment = {
        "PATH": str(tmp_path / "bin"),
        "NVIDIA_VISIBLE_DEVICES": "all",
        "NVIDIA_DRIVER_CAPABILITIES": "compute",
    }
    assert look_around(environment, tmp_path) == Surroundings(
        container=True,
        device=True,
        nvidia_smi=str(program),
        compatibility="/usr/local/cuda/compat",
        visible="all",
        capabilities="compute",
    )


def test_a_stub_counts_only_where_it_is_loaded_first(tmp_path):
    stubs, real = tmp_path / "lib64" / "stubs", tmp_path / "real"
    write(stubs / "libcuda.so")
    write(real / "libcuda.so.1")
    for path, stub in ((f":{stubs}:{real}", str(stubs)), (f"{real}:{stubs}", None)):
        environment = {"PATH": "", "LD_LIBRARY_PATH": path}
        assert look_around(environment, tmp_path).stub == stub
