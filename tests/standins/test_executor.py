"""How the executor stand-in decodes, plainly and with drafts of its own."""

from datetime import timedelta

import pytest

from tests.standins.engines import CHAIN, EXTERNAL, Session, bench, engine, greedy

PROMPTS = [(3, 9, 4), (7, 7, 7, 7), (11, 2, 30, 5, 11, 2)]


def speculating(session, name):
    """An executor whose engine drafts for itself."""
    module = session.module
    if name == "medusa":
        decoding = session.decoding("Medusa", medusa_choices=CHAIN)
        return session.open(engine(mode="medusa"), decoding_config=decoding)
    if name == "eagle":
        eagle = module.EagleConfig(eagle_choices=[*CHAIN, [0, 0, 0, 0]])
        decoding = session.decoding("Eagle", eagle_config=eagle)
        return session.open(engine(mode="eagle"), decoding_config=decoding)
    if name == "eagle2":
        eagle = module.EagleConfig(use_dynamic_tree=True, dynamic_tree_max_topK=3)
        decoding = session.decoding("Eagle", eagle_config=eagle)
        return session.open(engine(mode="eagle"), decoding_config=decoding)
    if name == "redrafter":
        return session.open(engine(mode="explicit_draft_tokens"))
    sizes = module.LookaheadDecodingConfig(3, 3, 3)
    decoding = session.decoding("Lookahead", lookahead_decoding_config=sizes)
    built = engine("--max_draft_len", "11", mode="lookahead_decoding")
    return session.open(built, decoding_config=decoding)


NODES = {"medusa": 5, "eagle": 6, "eagle2": 30, "redrafter": 25, "lookahead": 6}


@pytest.mark.parametrize("prompt", PROMPTS)
def test_plain_output_is_the_models(session, prompt):
    with session.open(engine()) as executor:
        (result,) = session.run(executor, session.request(prompt))
    assert result.output_token_ids == [greedy(prompt, 12)]
    assert result.is_final
    assert result.decoding_iter == 12


@pytest.mark.parametrize("name", NODES)
def test_speculative_output_is_the_plain_one_and_counts_are_real(session, name):
    with speculating(session, name) as executor:
        requests = [session.request(prompt, 20) for prompt in PROMPTS]
        results = session.run(executor, *requests)
    (record,) = session.module.RECORDS
    for prompt, result, done in zip(PROMPTS, results, record.requests, strict=True):
        assert result.output_token_ids == [greedy(prompt, 20)]
        metrics = result.request_perf_metrics.speculative_decoding
        assert metrics.total_draft_tokens == done.drafted > 0
        # an iteration that the limit cuts inside its draft has no token behind it
        assert metrics.total_accepted_draft_tokens == 20 - done.steps
        assert done.accepted - metrics.total_accepted_draft_tokens in (0, 1)
        assert done.accepted == sum(done.accepted_per_step)
        # the first step drafts nothing, every step brings one token of its own,
        # and the last may be cut
        assert done.steps + done.accepted in (20, 21)
        assert result.decoding_iter == done.steps
        assert done.nodes == NODES[name] * len(done.accepted_per_step)
    assert record.accepted > 0


def test_the_default_tree_is_used_without_choices(session):
    with session.open(engine(mode="medusa")) as executor:
        session.run(executor, session.request())
    assert len(session.module.RECORDS[0].paths) == 63


@pytest.mark.parametrize("streaming", [False, True])
@pytest.mark.parametrize("exclude", [False, True])
def test_output_holds_the_prompt_only_if_asked_and_not_streamed(
    session, streaming, exclude
):
    output = session.module.OutputConfig(exclude_input_from_output=exclude)
    request = session.request(streaming=streaming, output_config=output)
    with session.open(engine()) as executor:
        one = executor.enqueue_request(request)
        responses = []
        while not responses or not responses[-1].result.is_final:
            responses += executor.await_responses(one)
    tokens = [t for r in responses for t in r.result.output_token_ids[0]]
    prompt = [] if exclude or streaming else [3, 9, 4]
    assert tokens == prompt + greedy((3, 9, 4), 12)
    assert len(responses) == (12 if streaming else 1)
    assert responses[-1].result.request_perf_metrics is None


def test_streaming_gives_each_steps_tokens(session):
    with speculating(session, "medusa") as executor:
        one = executor.enqueue_request(session.request(tokens=20, streaming=True))
        results = []
        while not results or not results[-1].is_final:
            results += [r.result for r in executor.await_responses(one)]
    sizes = [len(result.output_token_ids[0]) for result in results]
    done = session.module.RECORDS[0].requests[0]
    assert sizes[:-1] == [1, *(n + 1 for n in done.accepted_per_step[:-1])]
    assert sum(sizes) == 20


def reasons(session, **options):
    with session.open(engine()) as executor:
        (result,) = session.run(executor, session.request(**options))
    return result.output_token_ids[0], result.finish_reasons[0].name


def test_the_end_token_ends_and_is_left_out(session):
    expected = greedy((3, 9, 4), 12)
    end = expected[4]
    first = expected.index(end)
    assert reasons(session, end_id=end) == (expected[:first], "END_ID")


def test_the_metrics_leave_out_an_end_token_that_was_drafted(session):
    expected = greedy((3, 9, 4), 4)
    target = engine("--max_draft_len", "4", mode=EXTERNAL)
    with session.open(target) as executor:
        request = session.request(
            tokens=4,
            external_draft_tokens_config=session.draft(expected[:3]),
            end_id=expected[2],
        )
        (result,) = session.run(executor, request)
    assert result.output_token_ids == [expected[:2]]
    assert session.module.RECORDS[0].requests[0].accepted == 3
    metrics = result.request_perf_metrics.speculative_decoding
    assert metrics.total_accepted_draft_tokens == 1


def test_stop_words_end_and_stay(session):
    expected = greedy((3, 9, 4), 12)
    found = reasons(session, stop_words=[expected[2:4]])
    assert found == (expected[:4], "STOP_WORDS")


def test_length_ends(session):
    assert reasons(session, tokens=5) == (greedy((3, 9, 4), 5), "LENGTH")


def test_cancelled_requests_end_with_what_they_have(session):
    with session.open(engine()) as executor:
        one = executor.enqueue_request(session.request())
        assert executor.await_responses(one, timedelta(0)) == []
        executor.cancel_request(one)
        (response,) = executor.await_responses(one)
        assert response.result.finish_reasons[0].name == "CANCELLED"
        assert response.result.output_token_ids == [greedy((3, 9, 4), 1)]
        waiting = executor.enqueue_request(session.request())
        executor.cancel_request(waiting)
        (response,) = executor.await_responses(waiting)
        assert response.result.output_token_ids == [[]]


def test_a_timeout_means_one_step_and_the_three_forms_agree(session):
    with session.open(engine()) as executor:
        ids = executor.enqueue_requests([session.request(tokens=2)] * 2)
        assert executor.await_responses(timeout=timedelta(seconds=1)) == []
        assert executor.get_num_responses_ready() == 0
        found = executor.await_responses(ids)
        assert [[r.request_id for r in responses] for responses in found] == [
            [ids[0]],
            [ids[1]],
        ]
        with pytest.raises(RuntimeError, match="unknown or already terminated"):
            executor.await_responses(ids[0])
        with pytest.raises(TypeError, match="not a timedelta"):
            executor.await_responses(timeout=3)
        with pytest.raises(RuntimeError, match="wait for ever"):
            executor.await_responses()


def test_more_requests_than_the_batch_wait(session):
    with session.open(engine(), max_batch_size=1) as executor:
        ids = executor.enqueue_requests([session.request(tokens=3)] * 2)
        (first,) = executor.await_responses()
        assert first.request_id == ids[0]
        (second,) = executor.await_responses()
        assert second.result.output_token_ids == first.result.output_token_ids


def test_sampled_output_is_seeded(session):
    def sampled(seed):
        sampling = session.sampling(top_p=1.0, temperature=1.0, seed=seed)
        return reasons(session, sampling_config=sampling)[0]

    assert sampled(1) == sampled(1) != sampled(2)


def test_generation_logits_are_the_models(session):
    output = session.module.OutputConfig(return_generation_logits=True)
    with session.open(engine()) as executor:
        (result,) = session.run(executor, session.request(output_config=output))
    assert result.generation_logits.shape == (1, 12, 48)
    best = result.generation_logits[0].argmax(-1).tolist()
    assert best == greedy((3, 9, 4), 12)


def test_a_request_may_lower_the_lookahead(session):
    smaller = session.module.LookaheadDecodingConfig(2, 2, 1)
    with speculating(session, "lookahead") as executor:
        request = session.request(tokens=20, lookahead_config=smaller)
        (result,) = session.run(executor, request)
    done = session.module.RECORDS[0].requests[0]
    assert result.output_token_ids == [greedy((3, 9, 4), 20)]
    assert done.nodes == done.drafted == len(done.accepted_per_step)


def test_older_versions_lack_speculative_metrics(monkeypatch):
    here = bench("0.17.0")
    here.standin.activate(monkeypatch)
    session = Session(here.standin)
    output = session.module.OutputConfig(exclude_input_from_output=True)
    with session.open(engine(version="0.17.0")) as executor:
        request = session.request(output_config=output)
        (result,) = session.run(executor, request)
    assert result.output_token_ids == [greedy((3, 9, 4), 12)]
    assert not hasattr(result.request_perf_metrics, "speculative_decoding")
