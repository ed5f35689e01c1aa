"""What ``trtspec verify`` looks at, loaded: two arms, questions, what scores them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from trtspec.bench.arms import ArmInfo
from trtspec.bench.conditions import Conditions
from trtspec.bench.http.probe import Server
from trtspec.bench.result import PromptSet
from trtspec.verify.arm import Arm, Question
from trtspec.verify.canary.talk import Talker
from trtspec.verify.greedy.gaps import Scorer
from trtspec.verify.greedy.tolerance import Dtype

if TYPE_CHECKING:
    from trtspec.build.artifact import Artifact
    from trtspec.cli.verify_oracle import Judged
    from trtspec.run import Runner

TOKENS, QUICK_TOKENS = 64, 32
"""Most tokens of a greedy answer."""
PROMPTS, QUICK_PROMPTS = 32, 8
CONCURRENCY, QUICK_CONCURRENCY = (1, 4), (1,)
SAMPLED_TOKENS = 8
"""Room that is left behind a text: more than the sampled oracle asks for."""
UNKNOWN_WIDTH = 5
"""Tokens per verification step where nobody tells: four drafts and the bonus."""


@dataclass(frozen=True, slots=True)
class Subject:
    """What is verified.

    :param off: None where only one server is named.
    :param questions: greedy ones.
    :param oracle: opens the judge; None where the target cannot run here.
    :param why_no_oracle: then, why.
    :param telling: both arms with log-probabilities, where they have to be asked for
        anew; answers that have them already need no other arms.
    :param longest: most tokens of a prompt; None where nobody tells.
    :param continues: whether token ids can be asked for as a prompt.
    :param width: tokens per request that a verification step reads.
    :param most_at_once: requests that run at once.
    :param artifact: that speculates; None for servers.
    :param runner: of the on arm; None for servers.
    :param server: of the on arm; None for artifacts.
    :param pid: of that server's process, if it is known.
    :param talker: speaks to the engine as the canary does.
    :param always_drafts: whether the method proposes something at each step.
    :param control: makes an arm that is wrong on purpose, by so many times the
        temperature; None: the off arm is asked at another temperature.
    """

    name: str
    off: Arm | None
    on: Arm
    arms: tuple[ArmInfo, ...]
    questions: tuple[Question, ...]
    prompts: PromptSet | None
    conditions: Conditions
    dtype: Dtype
    dtype_from: str
    most_at_once: int
    width: int = UNKNOWN_WIDTH
    scorer: Scorer | None = None
    oracle: Callable[[], Judged] | None = None
    why_no_oracle: str = ""
    telling: tuple[Arm, Arm] | None = None
    longest: int | None = None
    continues: bool = True
    artifact: Artifact | None = None
    runner: Runner | None = None
    server: Server | None = None
    pid: int | None = None
    talker: Talker | None = None
    always_drafts: bool = False
    control: Callable[[float], Arm] | None = None


def concurrencies(asked: Sequence[int], *, quick: bool, most: int) -> tuple[int, ...]:
    """Give the greedy requests at once: as asked, or what fits."""
    usual = QUICK_CONCURRENCY if quick else CONCURRENCY
    return tuple(dict.fromkeys(min(one, most) for one in (tuple(asked) or usual)))


def floor_for(chosen: Sequence[int], width: int, most: int) -> tuple[int, ...]:
    """Give the concurrencies at which off is compared with itself.

    One whose forward has as many rows as a verification step of a single request, and
    the largest that the on arm has; where nothing else fits, the first once more.
    """
    wanted = {min(width, most), max(chosen)} - {chosen[0]}
    return tuple(sorted(wanted)) or (chosen[0],)
