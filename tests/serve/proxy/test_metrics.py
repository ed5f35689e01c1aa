"""Whether the pages of several pools make one."""

from __future__ import annotations

from prometheus_client.parser import text_string_to_metric_families

from tests.serve.proxy.rig import identity, pool
from trtspec.run import Completion
from trtspec.serve.proxy.drafts import Counted
from trtspec.serve.proxy.metrics import PoolMetrics, one_page
from trtspec.serve.proxy.pool import OFF, ON


def metrics(name=ON):
    one = pool(name)
    return PoolMetrics(one.model, identity(one))


def values(page, name):
    families = text_string_to_metric_families(page.decode())
    samples = [s for family in families for s in family.samples if s.name == name]
    return {s.labels["model_name"]: s.value for s in samples}


def test_one_page_has_all_samples_of_both_and_each_head_once():
    on, off = metrics(ON), metrics(OFF)
    on.finished(Completion("a", 3, [0] * 5, finish_reason="stop"))
    page = one_page([on.render(), off.render()])
    assert values(page, "trtspec:generation_tokens_total") == {
        "tiny-on": 5,
        "tiny-off": 0,
    }
    heads = [line for line in page.decode().splitlines() if line.startswith("#")]
    assert len(heads) == len(set(heads))
    both = on.render().decode() + off.render().decode()
    samples = [line for line in both.splitlines() if not line.startswith("#")]
    found = [line for line in page.decode().splitlines() if not line.startswith("#")]
    assert sorted(found) == sorted(samples)


def test_page_of_one_pool_stays_what_it_is():
    page = metrics().render()
    assert one_page([page]) == page


def test_drafts_come_from_the_server_alone():
    on = metrics()
    on.finished(Completion("a", 3, [0] * 5, steps=2, drafted=8, accepted=3))
    drafted = "trtspec:spec_decode_num_draft_tokens_total"
    assert values(on.render(), drafted) == {"tiny-on": 0}
    assert values(on.render(), "trtspec:verification_steps_total") == {"tiny-on": 2}
    on.counted(Counted(2, 8, 3, {"0": 2, "1": 1}))
    assert values(on.render(), drafted) == {"tiny-on": 8}
    page = on.render().decode()
    assert 'per_pos_total{model_name="tiny-on",position="1"} 1.0' in page


def test_times_that_nobody_saw_are_left_out():
    on = metrics()
    on.finished(Completion("a", 3, [0] * 5, submitted_at=1.0, last_token_at=3.0))
    count = "trtspec:{}_count"
    ttft, e2e = "time_to_first_token_seconds", "e2e_request_latency_seconds"
    assert values(on.render(), count.format(ttft)).get("tiny-on", 0) == 0
    assert values(on.render(), count.format(e2e)) == {"tiny-on": 1}
    assert values(on.render(), f"trtspec:{e2e}_sum") == {"tiny-on": 2}
