"""What the executor stand-in refuses, with the documented messages."""

import re

import pytest
import torch

from tests.standins.engines import (
    CHAIN,
    EXTERNAL,
    PATTERNS,
    Session,
    bench,
    engine,
    external,
    greedy,
    refused,
)


def answered(session, folder, request, pattern):
    with session.open(folder) as executor:
        (response,) = executor.await_responses(executor.enqueue_request(request))
    assert response.has_error()
    assert re.search(pattern, response.error_msg)
    with pytest.raises(RuntimeError):
        _ = response.result


def test_block_reuse_off(session):
    off = session.module.KvCacheConfig(enable_block_reuse=False)
    pattern = PATTERNS["block_reuse_off"]
    refused(session, external(), pattern, kv_cache_config=off)


def test_paged_context_off(session, capsys):
    folder = external("--use_paged_context_fmha", "disable")
    refused(session, folder, PATTERNS["block_reuse_off"])
    assert "block reuse is disabled" in capsys.readouterr().out


def test_onboarding_off(session):
    off = session.module.KvCacheConfig(enable_block_reuse=True, onboard_blocks=False)
    pattern = PATTERNS["blocks_not_onboarded"]
    refused(session, engine(), pattern, kv_cache_config=off)


def test_drafts_without_the_mode(session):
    request = session.request(external_draft_tokens_config=session.draft([1, 2]))
    answered(session, engine(), request, PATTERNS["draft_capacity_zero"])


def test_too_many_drafts(session):
    request = session.request(external_draft_tokens_config=session.draft([1] * 5))
    answered(session, external(), request, PATTERNS["draft_too_long"])


def test_logits_of_another_vocabulary(session):
    draft = session.draft([1, 2], logits=torch.zeros(2, 56))
    request = session.request(external_draft_tokens_config=draft)
    answered(session, external(), request, PATTERNS["vocabulary_rows_differ"])


def test_logits_of_the_wrong_shape_and_empty_drafts(session):
    for shape in ((1, 48), (2, 48, 1)):
        with pytest.raises(RuntimeError, match="draft logits"):
            session.draft([1, 2], logits=torch.zeros(shape))
    with pytest.raises(RuntimeError, match=PATTERNS["empty_draft"]):
        session.draft([])
    with pytest.raises(RuntimeError, match="acceptance_threshold"):
        session.draft([1], acceptance_threshold=1.5)


def test_too_long_a_prompt(session):
    request = session.request(tuple(range(41)))
    answered(session, engine(), request, PATTERNS["sequence_too_long"])


def test_too_much_output_is_cut(session, capsys):
    with session.open(engine()) as executor:
        (result,) = session.run(executor, session.request(tokens=200))
    assert result.output_token_ids == [greedy((3, 9, 4), 77)]
    assert "changed to 77" in capsys.readouterr().out


def test_logits_that_are_not_gathered(session):
    output = session.module.OutputConfig(return_context_logits=True)
    request = session.request(output_config=output)
    answered(session, engine(), request, "context logits are not gathered")


def medusa(session, choices, folder=None, **options):
    decoding = session.decoding("Medusa", medusa_choices=choices)
    folder = folder or engine(mode="medusa", convert=options.pop("convert", ()))
    return {"folder": folder, "decoding_config": decoding}


def test_medusa_tree_deeper_than_the_heads(session):
    folder = engine(mode="medusa", convert=("--num_medusa_heads", "2"))
    pattern = PATTERNS["tree_too_deep"]
    refused(session, pattern=pattern, **medusa(session, CHAIN, folder))


def test_medusa_tree_larger_than_the_engine(session):
    folder = engine(mode="medusa", convert=("--max_medusa_token_len", "3"))
    refused(session, pattern="5 choices exceed", **medusa(session, CHAIN, folder))


def test_medusa_tree_with_a_missing_parent(session):
    refused(session, pattern="parent", **medusa(session, [[0], [1, 0]]))


def test_medusa_at_another_temperature(session):
    request = session.request(sampling_config=session.sampling(temperature=0.7))
    answered(session, engine(mode="medusa"), request, "temperature 1.0 only")


def eagle(session, choices, **options):
    config = session.module.EagleConfig(eagle_choices=choices)
    decoding = session.decoding("Eagle", eagle_config=config)
    return {"folder": engine(mode="eagle", **options), "decoding_config": decoding}


def test_eagle_tree_of_another_depth(session):
    refused(session, pattern=PATTERNS["eagle_tree_depth"], **eagle(session, CHAIN))


def test_eagle_tree_with_too_many_inner_nodes(session):
    flags = ("--max_non_leaves_per_layer", "1", "--num_eagle_layers", "2")
    tree = [[0], [0, 0], [1], [1, 0]]
    pattern = PATTERNS["eagle_tree_level"]
    refused(session, pattern=pattern, **eagle(session, tree, convert=flags))


def test_eagle_dynamic_tree_excludes_choices_and_needs_its_width(session):
    for options in ({"eagle_choices": CHAIN, "dynamic_tree_max_topK": 2}, {}):
        with pytest.raises(RuntimeError, match="dynamic"):
            session.module.EagleConfig(use_dynamic_tree=True, **options)


def lookahead(session, *sizes):
    config = session.module.LookaheadDecodingConfig(*sizes)
    decoding = session.decoding("Lookahead", lookahead_decoding_config=config)
    return {"decoding_config": decoding}


def test_lookahead_of_another_draft_length(session):
    folder = engine("--max_draft_len", "11", mode="lookahead_decoding")
    pattern = PATTERNS["lookahead_draft_length"]
    refused(session, folder, pattern, **lookahead(session, 4, 3, 4))
    refused(session, folder, "needs a lookahead config")


def test_lookahead_request_beyond_the_server(session):
    folder = engine("--max_draft_len", "11", mode="lookahead_decoding")
    larger = session.module.LookaheadDecodingConfig(3, 3, 4)
    pattern = PATTERNS["lookahead_request_refused"]
    for opened, options in ((folder, lookahead(session, 3, 3, 3)), (engine(), {})):
        request = session.request(lookahead_config=larger)
        with (
            session.open(opened, **options) as executor,
            pytest.raises(RuntimeError, match=pattern),
        ):
            executor.enqueue_request(request)


@pytest.mark.parametrize("sizes", [(0, 2, 1), (2, 1, 0), (1, 1, 1), (2, 2, -1)])
def test_illegal_lookahead_sizes(session, sizes):
    with pytest.raises(RuntimeError, match="not legal"):
        session.module.LookaheadDecodingConfig(*sizes)


@pytest.mark.parametrize(("version", "fails"), [("0.17.0", True), ("1.2.1", False)])
def test_lookahead_on_a_plain_engine(monkeypatch, version, fails, capsys):
    here = bench(version)
    here.standin.activate(monkeypatch)
    session = Session(here.standin)
    folder, options = engine(version=version), lookahead(session, 3, 3, 3)
    if fails:
        pattern = PATTERNS["speculation_module_missing"]
        refused(session, folder, pattern, **options)
    else:
        session.open(folder, **options).shutdown()
        assert "decoding mode is overwritten" in capsys.readouterr().out


def test_beams(session):
    folder = engine("--max_beam_width", "2", "--max_draft_len", "4", mode=EXTERNAL)
    refused(session, folder, PATTERNS["beam_search"], max_beam_width=2)
    request = session.request(sampling_config=session.sampling(beam_width=2))
    answered(session, folder, request, "beam width 2")


@pytest.mark.parametrize("name", ["max_batch_size", "max_beam_width"])
def test_sizes_above_the_built_ones(session, name):
    refused(session, engine(), f"{name} 9 must not exceed", **{name: 9})


def test_static_batching_with_fused_modes(session):
    static = session.module.BatchingType.STATIC
    pattern = PATTERNS["fused_step_off"]
    refused(session, engine(mode="eagle"), pattern, batching_type=static)
