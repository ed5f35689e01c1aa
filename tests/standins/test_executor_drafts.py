"""How the executor stand-in verifies drafts that come with a request."""

from types import SimpleNamespace

import pytest
import torch

from tests.reference.enumeration import outcomes
from tests.standins.engines import EXTERNAL, engine, greedy
from tests.standins.executor.sampling import Chooser, typical
from trtspec.reference.tree import DraftTree

PROMPT = (3, 9, 4)


@pytest.fixture
def target(session):
    with session.open(engine("--max_draft_len", "4", mode=EXTERNAL)) as executor:
        yield executor


def verified(session, target, tokens, max_tokens=None, **options):
    draft = session.draft(tokens, **options.pop("draft", {}))
    request = session.request(
        PROMPT,
        max_tokens or len(tokens) + 1,
        external_draft_tokens_config=draft,
        **options,
    )
    (result,) = session.run(target, request)
    return result, session.module.RECORDS[-1].requests[-1]


@pytest.mark.parametrize("right", range(5))
def test_the_right_beginning_is_accepted_and_one_token_more(session, target, right):
    expected = greedy(PROMPT, 5)
    draft = [*expected[:right], *((t + 1) % 48 for t in expected[right:4])][:4]
    result, record = verified(session, target, draft)
    assert result.output_token_ids == [expected[: right + 1]]
    assert (record.drafted, record.accepted) == (4, right)
    metrics = result.request_perf_metrics.speculative_decoding
    assert metrics.acceptance_rate == right / 4
    assert metrics.total_accepted_draft_tokens == right
    assert result.decoding_iter == 1


def test_a_verifying_request_ends_after_its_one_step(session, target):
    expected = greedy(PROMPT, 5)
    result, _ = verified(session, target, [expected[0], 47], max_tokens=20)
    assert result.output_token_ids == [expected[:2]]
    assert result.is_final
    assert result.finish_reasons[0].name == "NOT_FINISHED"


def test_a_draft_that_is_accepted_whole_ends_by_its_length(session, target):
    result, _ = verified(session, target, greedy(PROMPT, 2))
    assert result.is_final
    assert result.finish_reasons[0].name == "LENGTH"


def test_a_request_without_draft_goes_on(session, target):
    (result,) = session.run(target, session.request(PROMPT, 20))
    assert result.output_token_ids == [greedy(PROMPT, 20)]


def test_greedy_is_exact_with_logits_too(session, target):
    expected = greedy(PROMPT, 5)
    logits = torch.zeros(4, 48)
    sampling = session.sampling(top_k=1)
    result, record = verified(
        session,
        target,
        [*expected[:2], 0, 0],
        draft={"logits": logits},
        sampling_config=sampling,
    )
    assert result.output_token_ids == [expected[:3]]
    assert record.accepted == 2


def test_a_draft_that_does_not_fit_is_cut(session, target, capsys):
    prompt = tuple(3 + i % 5 for i in range(38))
    expected = greedy(prompt, 5)
    request = session.request(
        prompt, 5, external_draft_tokens_config=session.draft(expected[:4])
    )
    (result,) = session.run(target, request)
    assert session.module.RECORDS[0].requests[0].drafted == 2
    assert result.output_token_ids == [expected[:3]]
    assert "draft tokens are cut" in capsys.readouterr().out


def distribution_of_first(draft, sampling, logits, tree):
    """Exact distribution of the first token that comes out."""
    found = torch.zeros(logits.shape[1], dtype=torch.float64)

    def once(chance):
        chooser = Chooser(sampling, False, None)
        chooser._chance = chance
        accepted = chooser.accept_external(draft, tree, logits)
        return tree.tokens[0] if accepted.path else accepted.next_token

    for weight, token in outcomes(once):
        found[token] += weight
    return found


SAMPLING = SimpleNamespace(top_k=None, top_p=1.0, temperature=1.0, seed=0)
LOGITS = torch.tensor([[0.0, 1.0, 2.0, -1.0], [1.0, 0.0, 0.5, 0.0]]).double()


def test_by_tokens_a_draft_comes_out_with_p_times_two_minus_p():
    draft = SimpleNamespace(logits=None, acceptance_threshold=None)
    tree = DraftTree.chain([2])
    found = distribution_of_first(draft, SAMPLING, LOGITS, tree)
    p = LOGITS[0].softmax(0)[2]
    assert float(found.sum()) == pytest.approx(1.0)
    assert float(found[2]) == pytest.approx(float(p * (2 - p)), abs=1e-12)


def test_by_logits_the_targets_distribution_comes_out():
    proposal = torch.tensor([[1.0, 0.0, 0.0, 2.0]])
    draft = SimpleNamespace(logits=proposal, acceptance_threshold=None)
    q = proposal[0].double().softmax(0)
    found = sum(
        float(q[token])
        * distribution_of_first(draft, SAMPLING, LOGITS, DraftTree.chain([token]))
        for token in range(4)
    )
    assert torch.allclose(found, LOGITS[0].softmax(0), atol=1e-12)


def test_a_threshold_replaces_chance():
    proposal = torch.tensor([[0.0, 0.0, 0.0, 0.0]])
    p = float(LOGITS[0].softmax(0)[2])
    for threshold, accepted in ((min(1.0, 4 * p) - 1e-6, True), (1.0, 4 * p >= 1)):
        draft = SimpleNamespace(logits=proposal, acceptance_threshold=threshold)
        found = distribution_of_first(draft, SAMPLING, LOGITS, DraftTree.chain([2]))
        assert (float(found[2]) == pytest.approx(1.0)) is accepted
    unlikely = SimpleNamespace(logits=proposal, acceptance_threshold=0.9)
    found = distribution_of_first(unlikely, SAMPLING, LOGITS, DraftTree.chain([3]))
    assert float(found[3]) == 0.0


def test_typical_acceptance_masks_what_is_less_likely_than_the_entropy_allows():
    sure = torch.tensor([0.9, 0.06, 0.04], dtype=torch.float64)
    entropy = -float((sure * sure.log()).sum())
    least = min(0.25, 0.5 * float(torch.tensor(-entropy).exp()))
    assert typical(sure, 0.25).tolist() == [1.0, 0.0, 0.0]
    assert least > 0.06
    even = torch.full((8,), 1 / 8, dtype=torch.float64)
    assert torch.allclose(typical(even, 0.25), even)
