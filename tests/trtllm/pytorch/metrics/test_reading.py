"""Figures are fetched from whatever the server or the LLM really fills."""

import json
from types import SimpleNamespace

from packaging.version import Version

from tests.trtllm.pytorch.metrics.test_iterations import record
from tests.trtllm.pytorch.metrics.test_prometheus import page
from trtspec.trtllm.pytorch.metrics.reading import read_http, read_llm, scrape

VERSION = Version("1.2.1")
URL = "http://127.0.0.1:8000"


class Server:
    """Answers the paths that it is given, and counts them."""

    def __init__(self, **pages):
        self.pages = {
            URL + path.replace("_", "/"): text for path, text in pages.items()
        }
        self.asked = []

    def get(self, url):
        self.asked.append(url.removeprefix(URL))
        text = self.pages.get(url, "Not Found")
        status = 200 if url in self.pages else 404
        return SimpleNamespace(
            status_code=status, text=text, json=lambda: json.loads(text)
        )


def records(*given):
    return json.dumps(list(given))


def test_iteration_records_are_read_first():
    server = Server(_metrics=records(record(1, 4, 2)), _prometheus_metrics=page(9, 9))
    found = read_http(server, URL + "/", VERSION)
    assert (found.drafted, found.steps) == (4, 1)
    assert server.asked == ["/metrics"]


def test_where_records_hold_no_drafts_the_counters_are_read():
    server = Server(_metrics=records({"iter": 1}), _prometheus_metrics=page(40, 30))
    assert scrape(server, URL) == page(40, 30)
    found = read_http(server, URL, VERSION, before=page(20, 20))
    assert (found.drafted, found.accepted) == (20, 10)


def test_a_server_without_either_says_so_of_both():
    found = read_http(Server(), URL, VERSION)
    assert not found.is_known
    assert "no GET /metrics" in found.unavailable
    assert "no GET /prometheus/metrics" in found.unavailable
    assert scrape(Server(), URL) is None


def test_a_release_that_is_not_known_to_have_the_counters_is_not_asked():
    server = Server(_metrics=records(), _prometheus_metrics=page(40, 30))
    found = read_http(server, URL, Version("1.0.0"))
    assert server.asked == ["/metrics"]
    assert "as far as is known" in found.unavailable


def test_nonsense_from_a_server_is_no_figure_but_no_failure_either():
    wrong = Server(_metrics=records(record(7, 2, 2, 3)), _prometheus_metrics=page(8, 9))
    found = read_http(wrong, URL, VERSION)
    assert "(iter 7)" in found.unavailable
    assert "9 accepted of 8" in found.unavailable
    for text in ("no JSON", "{}"):
        assert "no list" in read_http(Server(_metrics=text), URL, VERSION).unavailable


def test_an_llm_is_asked_for_its_statistics():
    llm = SimpleNamespace(get_stats=lambda timeout: [record(1, 4, 3), record(2, 2, 1)])
    found = read_llm(llm, VERSION)
    assert (found.drafted, found.accepted) == (6, 4)


def test_an_llm_that_has_none_says_why():
    def fails(timeout):
        raise RuntimeError("statistics are off")

    llm = SimpleNamespace(get_stats=fails)
    assert "1.2.1 failed: statistics are off" in read_llm(llm, VERSION).unavailable
    wrong = SimpleNamespace(get_stats=lambda timeout: [record(1, 2, 2, 3)])
    assert "2 drafted tokens in 3 requests" in read_llm(wrong, VERSION).unavailable


def test_records_are_not_waited_for_longer_than_a_worker_takes_to_give_them():
    asked = []
    llm = SimpleNamespace(get_stats=lambda timeout: asked.append(timeout) or [])
    assert not read_llm(llm, VERSION).is_known
    assert asked == [0.5]
