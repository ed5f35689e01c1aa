"""Starting, ready, draining: when requests are taken."""

from __future__ import annotations

import pytest

from trtspec.serve.http.phase import Phase
from trtspec.serve.openai.errors import RefusalError


def test_only_a_ready_server_takes_requests():
    phase = Phase()
    for name in ("starting", "ready", "draining"):
        if name != "starting":
            phase.enter(name, f"because {name}")
        assert phase.ready == (name == "ready")
        if phase.ready:
            phase.require_ready()
            continue
        with pytest.raises(RefusalError) as caught:
            phase.require_ready()
        said = caught.value
        assert (said.status, said.code) == (503, name)
        assert int(said.headers["Retry-After"]) > 0
        assert said.headers["Connection"] == "close"
        assert phase.reason in said.message


def test_who_drains_is_not_ready_again():
    phase = Phase()
    phase.enter("draining", "the server ends")
    phase.enter("ready")
    assert (phase.name, phase.reason) == ("draining", "the server ends")


def test_a_ready_server_has_no_reason_not_to_be():
    phase = Phase()
    phase.enter("ready")
    assert phase.reason == ""
