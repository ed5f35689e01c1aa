"""How the server starts, fails and ends, and what the launchers record."""

import signal
import subprocess
import threading
import time

import psutil
import pytest
import yaml

from tests.standins.llm.samples import VERSIONS, checkpoint, draft_model, standin
from tests.standins.serving.processes import serve, start

NGRAM = {"decoding_type": "NGram", "max_draft_len": 3, "max_matching_ngram_size": 2}


def call(made, *words, **options):
    return subprocess.run(
        words,
        env=made.environment(),
        cwd=made.root,
        check=False,
        capture_output=True,
        text=True,
        timeout=30,
        **options,
    )


def worker_of(made):
    return made.events("worker")[0]["worker"]


@pytest.mark.parametrize(
    ("version", "flags", "message"),
    [
        ("1.0.0", ("--config", "x"), "No such option: --config"),
        ("1.1.0", ("--tensor_parallel_size", "2"), "No such option: --tensor_parallel"),
        ("1.2.1", ("--draft_len", "2"), "No such option: --draft_len"),
        ("1.4.0rc4", ("--port", "many"), "is not a valid integer"),
        ("1.4.0rc4", ("--backend", "tensorrt"), "is not one of"),
        ("1.2.1", ("--port",), "requires an argument"),
        ("1.2.1", ("second",), "unexpected extra argument"),
    ],
)
def test_a_wrong_command_line_ends_with_2(tmp_path, version, flags, message):
    done = call(standin(tmp_path, version), "trtllm-serve", "model", *flags)
    assert done.returncode == 2
    assert message in done.stderr


@pytest.mark.parametrize("version", VERSIONS)
def test_it_starts_with_the_familys_yaml_and_ends_its_worker(tmp_path, version):
    flags = ("--max_batch_size", "4", "--kv_cache_free_gpu_memory_fraction", "0.5")
    served = serve(tmp_path, version, {"speculative_config": NGRAM}, *flags)
    worker = worker_of(served.standin)
    assert psutil.pid_exists(worker)
    known = served.client.get("/prometheus/metrics").status_code
    assert served.client.get("/health").status_code == 200
    assert known == 404
    assert served.stop() == 0
    assert not psutil.pid_exists(worker)
    (recorded,) = served.standin.calls()
    assert recorded["argv"][1:3] == ["--backend", "pytorch"]


@pytest.mark.parametrize(
    ("document", "message"),
    [
        ({"max_batch": 3}, "Extra inputs are not permitted"),
        ({"speculative_config": {"decoding_type": "Eagle3"}}, "Invalid decoding type"),
        ({"tensor_parallel_size": 2}, "Only 1 GPUs are available"),
        (
            {
                "speculative_config": {
                    **draft_model("1.2.1"),
                    "speculative_model_dir": "x",
                }
            },
            "draft model",
        ),
    ],
)
def test_a_wrong_yaml_ends_it_with_1(tmp_path, document, message):
    made, process = start(tmp_path, "1.2.1", document)
    output, _ = process.communicate(timeout=30)
    assert process.returncode == 1
    assert message in output
    assert made.events("listening") == []
    assert not psutil.pid_exists(worker_of(made))


@pytest.mark.parametrize(
    ("fail", "message"),
    [
        ("serve:die_before_ready", "Executor worker returned error"),
        ("serve:out_of_memory", "CUDA out of memory"),
        ("serve:port_in_use", "Failed to bind socket"),
        ("serve:refuse_key=max_draft_len", "max_draft_len\n  Extra inputs"),
        ("serve:no_such_failure", "no failure of the server is called"),
    ],
)
def test_failures_at_the_start_end_it(tmp_path, fail, message):
    _, process = start(tmp_path, "1.2.1", {}, fail=fail)
    output, _ = process.communicate(timeout=30)
    assert process.returncode == 1
    assert message in output


def test_a_port_that_is_really_taken_is_refused(tmp_path):
    served = serve(tmp_path / "one", "1.2.1", {})
    port = str(served.client.base_url.port)
    _, process = start(tmp_path / "two", "1.2.1", {}, "--port", port)
    output, _ = process.communicate(timeout=30)
    assert "Failed to bind socket" in output
    assert served.stop() == 0


def test_one_that_never_gets_ready_goes_on_loading(tmp_path):
    made, process = start(tmp_path, "1.2.1", {}, fail="serve:never_ready")
    lines = [process.stdout.readline() for _ in range(3)]
    assert lines[-1] == "[TRT-LLM] [I] Loading weights ...\n"
    process.kill()
    process.wait()
    process.stdout.close()
    assert made.events("listening") == []
    # a killed parent cannot end it
    psutil.Process(worker_of(made)).kill()


def test_one_can_die_in_the_middle_of_a_stream(tmp_path):
    served = serve(tmp_path, "1.2.1", {}, fail="serve:die_after_tokens=5")
    with pytest.raises(Exception, match=r"incomplete|closed|disconnected|peer"):
        served.stream([3, 9, 4])
    assert served.process.wait(10) == 1
    assert "CUDA error" in served.process.stdout.read()
    assert served.stop() == 1
    psutil.Process(worker_of(served.standin)).kill()


def test_sigterm_lets_requests_in_flight_finish(tmp_path):
    served = serve(tmp_path, "1.2.1", {})
    served.standin.pace(0.01)
    found = []
    thread = threading.Thread(target=lambda: found.append(served.complete([3, 9, 4])))
    thread.start()
    while not served.standin.events("iteration"):
        time.sleep(0.01)
    served.process.send_signal(signal.SIGTERM)
    thread.join(30)
    assert found[0].json()["usage"]["completion_tokens"] == 20
    # a second signal could come when the first one's handler is gone already
    assert served.process.wait(60) == 0


def test_one_can_ignore_sigterm(tmp_path):
    served = serve(tmp_path, "1.2.1", {}, fail="serve:hang_on_term")
    served.process.terminate()
    time.sleep(0.2)
    assert served.process.poll() is None
    served.process.send_signal(signal.SIGINT)
    assert served.process.wait(20) == 0
    served.stop()


def test_launchers_record_and_run_what_is_behind_their_options(tmp_path):
    made = standin(tmp_path, "1.2.1")
    options = ("-n", "2", "--allow-run-as-root", "-x", "HOME")
    done = call(made, "mpirun", *options, "trtllm-llmapi-launch", "echo", "-n", "hi")
    assert (done.returncode, done.stdout) == (0, "hi")
    done = call(made, "srun", "--mpi=pmix", "-N", "2", "trtllm-nothing")
    assert done.returncode == 127
    programs = [made_call["program"] for made_call in made.calls()]
    assert programs == ["mpirun", "trtllm-llmapi-launch", "srun"]
    assert made.calls()[0]["argv"][:2] == ["-n", "2"]


def test_the_yaml_goes_before_flags_until_main_turns_it_round(tmp_path):
    from tests.standins.serving.command import CommandLine
    from tests.standins.serving.program import read_arguments

    path = tmp_path / "llm_args.yaml"
    path.write_text(yaml.safe_dump({"max_batch_size": 8}))
    flags = {"--extra_llm_api_options": str(path), "--max_batch_size": 4}
    line = CommandLine(str(checkpoint()), flags)
    assert read_arguments(line, "1.2")["max_batch_size"] == 8
    assert read_arguments(line, "main")["max_batch_size"] == 4


def test_one_can_be_unhealthy_and_one_can_leave_its_worker(tmp_path):
    sick = serve(tmp_path / "sick", "1.2.1", {}, fail="serve:unhealthy")
    assert sick.client.get("/health").status_code == 503
    assert sick.stop() == 0
    careless = serve(tmp_path / "careless", "1.2.1", {}, fail="serve:worker_outlives")
    assert careless.stop() == 0
    worker = psutil.Process(worker_of(careless.standin))
    assert worker.is_running()
    worker.kill()
