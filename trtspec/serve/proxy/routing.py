"""Where one request goes, by the rules."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from trtspec.errors import Problem
from trtspec.serve.openai.errors import BAD_REQUEST, UNAVAILABLE, RefusalError
from trtspec.serve.openai.fields import AskedSpeculation
from trtspec.serve.proxy.pool import OFF, ON, Pool, PoolName
from trtspec.serve.proxy.rules import SPECULATION_HEADER, WORKLOAD_HEADER, Rules
from trtspec.serve.proxy.screening import Screened
from trtspec.trtllm.facts.serving import RequestPath


@dataclass(frozen=True, slots=True)
class Asked:
    """What routing looks at of a request.

    :param speculation: the request's own wish; None if it has none.
    :param tokens: length of its prompt; 0 where no rule looks at it.
    """

    path: RequestPath
    body: Mapping[str, Any]
    headers: Mapping[str, str]
    speculation: AskedSpeculation | None
    tokens: int = 0


@dataclass(frozen=True, slots=True)
class Routed:
    """Where a request goes.

    :param why: the rule, in a word or two.
    """

    pool: Pool
    why: str
    screened: Screened


class Router:
    """Chooses among the pools that there are: on, off, or both.

    :param pools: by name.
    """

    def __init__(self, pools: Mapping[PoolName, Pool], rules: Rules) -> None:
        self.pools = pools
        self.rules = rules

    def route(self, asked: Asked) -> Routed:
        """Choose a pool.

        :raises RefusalError: if no pool is to answer the request, or none can now.
        """
        self._require_draft_length(asked)
        wish = self._wish(asked)
        if wish is not None:
            return self._insist(asked, *wish)
        chosen = self._by_rule(asked)
        screened = {
            name: pool.screen.look(asked.path, asked.body)
            for name, pool in self.pools.items()
        }
        fit = [name for name, found in screened.items() if not found.refusals]
        if not fit:
            # what on says is about speculation; off would refuse it all the same
            raise refusal(screened[chosen[0]].refusals)
        if chosen[0] not in fit:
            name = fit[0]
            return self._ready(Routed(self.pools[name], "unhonoured", screened[name]))
        if not self.pools[chosen[0]].ready and len(fit) > 1:
            other = next(name for name in fit if name != chosen[0])
            if self.pools[other].ready:
                return Routed(self.pools[other], "failover", screened[other])
        pool = self.pools[chosen[0]]
        return self._ready(Routed(pool, chosen[1], screened[chosen[0]]))

    def _wish(self, asked: Asked) -> tuple[PoolName, str] | None:
        """Give the pool that the request itself names, and by what."""
        header = asked.headers.get(SPECULATION_HEADER)
        if header not in (ON, OFF, None):
            raise RefusalError(
                BAD_REQUEST, f"{SPECULATION_HEADER} is {header!r}; allowed: on, off"
            )
        if asked.speculation is not None:
            if header is not None and (header == ON) != asked.speculation.enabled:
                raise RefusalError(
                    BAD_REQUEST,
                    f"speculation.enabled and the header {SPECULATION_HEADER} "
                    "contradict each other",
                    param="speculation",
                )
            return (ON if asked.speculation.enabled else OFF), "request"
        if header is not None:
            return header, "request"
        model = asked.body.get("model")
        off = self.pools.get(OFF)
        if off is not None and len(self.pools) > 1 and model == off.model:
            return OFF, "model"
        return None

    def _insist(self, asked: Asked, name: PoolName, why: str) -> Routed:
        pool = self.pools.get(name)
        if pool is None:
            raise self._missing(name)
        screened = pool.screen.look(asked.path, asked.body)
        if screened.refusals:
            raise refusal(screened.refusals)
        return self._ready(Routed(pool, why, screened))

    def _missing(self, name: PoolName) -> RefusalError:
        if name == OFF:
            text = (
                "backend pytorch drafts for every request of an engine, and there is "
                "no off pool beside it; serve one with --off or --with-off"
            )
        else:
            text = "the served artifact has method none: nothing drafts"
        return RefusalError(BAD_REQUEST, text, param="speculation", code="no_such_pool")

    def _by_rule(self, asked: Asked) -> tuple[PoolName, str]:
        if len(self.pools) == 1:
            return next(iter(self.pools)), "only"
        rules, on = self.rules, self.pools[ON]
        workload = asked.headers.get(WORKLOAD_HEADER)
        if workload is not None and workload in rules.workloads:
            return rules.workloads[workload], "workload"
        most = rules.off_above_prompt
        if most is not None and asked.tokens > most:
            return OFF, "prompt"
        most = rules.off_above_load
        if most is not None and on.admission.inside + 1 > most:
            return OFF, "load"
        return ON, "default"

    def _ready(self, routed: Routed) -> Routed:
        """Refuse if the pool takes no requests now."""
        pool = routed.pool
        if pool.ready:
            return routed
        raise not_ready(pool)

    def _require_draft_length(self, asked: Asked) -> None:
        """Refuse a draft length of a request's own: the engine fixes it for all."""
        if asked.speculation is None or asked.speculation.draft_length is None:
            return
        raise RefusalError(
            BAD_REQUEST,
            "backend pytorch fixes the draft length for the whole engine; change the "
            "recipe, and build it",
            param="speculation.draft_length",
        )


def refusal(problems: tuple[Problem, ...]) -> RefusalError:
    """Say to a client why its request is not sent."""
    return RefusalError(
        BAD_REQUEST,
        "; ".join(_sentence(problem) for problem in problems),
        param=problems[0].where or None,
        code="not_honoured",
    )


def not_ready(pool: Pool) -> RefusalError:
    """Say to a client that a server is not there now."""
    return RefusalError(
        UNAVAILABLE,
        f"the server of pool {pool.name} takes no requests: {pool.why}",
        code="not_ready",
        headers={"Retry-After": str(pool.retry_after)},
    )


def _sentence(problem: Problem) -> str:
    parts = [problem.what]
    if problem.allowed:
        parts.append(f"allowed: {problem.allowed}")
    if problem.action:
        parts.append(f"do: {problem.action}")
    return "; ".join(parts)
