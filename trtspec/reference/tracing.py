"""What a drafter would have had accepted, at every place of the target's own answers.

The target decodes plainly, one token a step, while the drafter drafts at every place as
if it were to be verified there. How much of a draft would have been accepted is seen
later, from the answer itself: in greedy decoding it is what the two have in common.
Where tokens are sampled it is a matter of chance, so the target reads the drafts, and
the chances are noted.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from torch import Tensor

from trtspec.errors import RunError, UsageError
from trtspec.methods import ChainMethod
from trtspec.reference.acceptance import Acceptance, Verified
from trtspec.reference.acceptance.exact import acceptance_probability
from trtspec.reference.chance import Chance
from trtspec.reference.drafters import DraftContext, Drafter, Observation
from trtspec.reference.runner import ReferenceRunner
from trtspec.reference.tree import NO_DRAFT, ROOT, DraftTree
from trtspec.run import Completion, Request, SamplingParams, StepRecord


class Place(NamedTuple):
    """What was drafted at one place of an answer.

    :ivar depth: longest path offered.
    :ivar accepted: draft tokens that the target would have emitted, too.
    :ivar drafted: draft tokens offered, those of all branches.
    :ivar verified: tokens that the target would have had to read, the pending one
        left out.
    :ivar ranks: by level, which of the likeliest path's children was the answer's
        token; -1: none.
    :ivar chances: of a sampled chain, by length: the chance that so many of its tokens
        are accepted.
    """

    depth: int
    accepted: int
    drafted: int
    verified: int
    ranks: tuple[int, ...] = ()
    chances: tuple[float, ...] = ()


@dataclass(frozen=True, slots=True)
class Traced:
    """What a trace brought.

    :param completions: the answers, in the order of the requests.
    :param places: of each answer; one less than it has tokens.
    :param records: the engine's steps.
    """

    completions: tuple[Completion, ...]
    places: tuple[tuple[Place, ...], ...]
    records: tuple[StepRecord, ...]


class OneByOne:
    """Accepts no draft token, whatever it is; see ``acceptance.Rule``.

    :ivar chances: of the last step's sampled requests, in their order.
    """

    def __init__(self) -> None:
        self.chances: list[tuple[float, ...]] = []

    def __call__(
        self, verified: Verified, sampling: SamplingParams, chance: Chance
    ) -> Acceptance:
        """Emit what the target says next, as if nothing had been drafted."""
        if sampling.greedy:
            return Acceptance((), verified.best[0])

        def target(node: int) -> Tensor:
            return verified.probabilities(node, sampling)

        self.chances.append(chain_chances(verified.tree, target))
        return Acceptance((), chance.draw(target(ROOT)))


def chain_chances(
    tree: DraftTree, target: Callable[[int], Tensor]
) -> tuple[float, ...]:
    """Give the chance that a chain is accepted to each of its lengths.

    The product of min(1, p(x) / q(x)) up to there (arXiv 2211.17192, section 2.3): its
    mean over what is drafted is the chance of acceptance.

    :param target: gives the target's probabilities [vocabulary] after a node.
    """
    chance, found, node = 1.0, list[float](), ROOT
    for child in range(len(tree)):
        if chance:
            q, token = tree.proposal(child), tree.tokens[child]
            chance *= acceptance_probability(target(node), q, token)
        found.append(chance)
        node = child
    return tuple(found)


class Listening:
    """Drafts as another drafter does, up to a limit of its own, and keeps the drafts.

    :ivar most: deepest level to draft; None for as deep as the engine asks.
    :ivar trees: drafts of the last step, by slot.
    """

    def __init__(self, drafter: Drafter, *, verify: bool) -> None:
        """Wrap a drafter.

        :param verify: let the target read the drafts, for drafters that learn from it.
        """
        self._drafter, self._verify = drafter, verify
        self.most: int | None = None
        self.trees: list[DraftTree] = []

    @property
    def reads(self) -> tuple[int, ...]:
        """Layers of the target that the drafter reads."""
        return self._drafter.reads

    @property
    def forward_seconds(self) -> float:
        """Seconds inside the drafter's own forward."""
        return self._drafter.forward_seconds

    def propose(self, contexts: Sequence[DraftContext]) -> list[DraftTree]:
        """Draft; hand the drafts on only if they are to be verified."""
        self.trees = self._drafter.propose([self._limited(c) for c in contexts])
        return self.trees if self._verify else [NO_DRAFT] * len(contexts)

    def _limited(self, context: DraftContext) -> DraftContext:
        if self.most is None or context.limit <= self.most:
            return context
        return DraftContext(
            context.tokens,
            self.most,
            context.sampling,
            context.chance,
            context.speculation,
        )

    def observe(self, slot: int, observation: Observation) -> None:
        """Let the drafter learn."""
        self._drafter.observe(slot, observation)

    def move(self, source: int, target: int) -> None:
        """Let the drafter move what it keeps."""
        self._drafter.move(source, target)

    def release(self, slot: int) -> None:
        """Let the drafter forget."""
        self._drafter.release(slot)


@dataclass
class _Drafts:
    """Drafts of each request by the number of tokens that were emitted before them."""

    by_request: dict[str, list[tuple[DraftTree, tuple[float, ...]]]] = field(
        default_factory=dict
    )

    def add(self, name: str, tree: DraftTree, chances: tuple[float, ...]) -> None:
        self.by_request.setdefault(name, []).append((tree, chances))

    def places(self, completion: Completion) -> tuple[Place, ...]:
        drafts = self.by_request.get(completion.request_id, [])
        answer = completion.tokens
        return tuple(
            place_of(tree, answer[place:])._replace(chances=chances)
            for place, (tree, chances) in enumerate(drafts, 1)
        )


def place_of(tree: DraftTree, rest: Sequence[int]) -> Place:
    """Say how far a draft agrees with what the target emits next.

    :param rest: the answer from this place on.
    """
    node, accepted = ROOT, 0
    for token in rest:
        for child in tree.children(node):
            if tree.tokens[child] == token:
                node, accepted = child, accepted + 1
                break
        else:
            break
    return Place(tree.depth, accepted, tree.drafted, len(tree), _ranks(tree, rest))


def _ranks(tree: DraftTree, rest: Sequence[int]) -> tuple[int, ...]:
    node, found = ROOT, []
    for token in rest:
        children = tree.children(node)
        if not children:
            break
        tokens = [tree.tokens[child] for child in children]
        found.append(tokens.index(token) if token in tokens else -1)
        node = children[0]
    return tuple(found)


def trace(runner: ReferenceRunner, requests: Sequence[Request]) -> Traced:
    """Decode plainly and note at every place what a draft would have brought.

    :param requests: all greedy, or all sampled; with speculation, their own draft
        length holds.
    :raises UsageError: if some are greedy and some are not, or a tree is drafted for
        sampled ones: what is accepted of it depends on the order of trial.
    :raises RunError: if the runner is busy, or drafts nothing.
    """
    require_idle(runner)
    sampled = _sampled(requests, runner)
    drafter = runner.engine.drafter
    if drafter is None:
        raise RunError("there is nothing to trace: the artifact has no drafter")
    verify = sampled or learns_from_verification(runner)
    listening, rule = Listening(drafter, verify=verify), OneByOne()
    for request in requests:
        runner.submit(request)
    drafts, done = _Drafts(), dict[str, Completion]()
    records: list[StepRecord] = []
    with runner.engine.instead(rule=rule, drafter=listening):
        while runner.busy:
            done |= _advance(runner, rule, listening, drafts, records)
    completions = tuple(done[request.id] for request in requests)
    return Traced(
        completions, tuple(drafts.places(c) for c in completions), tuple(records)
    )


def learns_from_verification(runner: ReferenceRunner) -> bool:
    """Whether what is drafted next may depend on what the target said of the drafts.

    Of a drafter of the user's own nobody knows.
    """
    return runner.engine.method.method in ("lookahead", "user")


def require_idle(runner: ReferenceRunner) -> None:
    """Refuse an engine that has other work.

    :raises RunError: if it has.
    """
    if runner.busy:
        raise RunError("the engine is still busy with earlier requests")


def _sampled(requests: Sequence[Request], runner: ReferenceRunner) -> bool:
    """Say whether requests sample; all of them do, or none."""
    kinds = {request.sampling.greedy for request in requests}
    if len(kinds) > 1:
        raise UsageError(
            "some requests are greedy and some are sampled",
            allowed="one kind: what is noted of the two is not the same",
        )
    method = runner.engine.method
    branches = method.follows_batch or getattr(method, "tree", None) is not None
    if kinds == {False} and (branches or not isinstance(method, ChainMethod)):
        raise UsageError(
            f"method {method.named} with sampled requests",
            allowed="a chain of draft tokens, whose chances can be told",
            action="trace it greedily, or measure it: trtspec bench",
        )
    return kinds == {False}


def _advance(
    runner: ReferenceRunner,
    rule: OneByOne,
    listening: Listening,
    drafts: _Drafts,
    records: list[StepRecord],
) -> Mapping[str, Completion]:
    """Do one engine step; give what ended."""
    listening.trees, rule.chances = [], []
    running = [one.request.id for one in runner.engine.running]
    result = runner.advance()
    records.extend(result.records)
    if any(record.kind == "decode" for record in result.records):
        trees = listening.trees or [NO_DRAFT] * len(running)
        chances = rule.chances or [()] * len(running)
        for name, tree, own in zip(running, trees, chances, strict=True):
            drafts.add(name, tree, own)
    return {c.request_id: c.completion for c in result.chunks if c.completion}
