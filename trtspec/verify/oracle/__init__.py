"""Whether an engine's tokens are the target's own, as the reference engine sees it.

``greedy`` judges greedy answers token by token, ``logprobs`` the log-probabilities told
with them. ``positions`` chooses texts behind which the target is uncertain, ``sampled``
asks for many next tokens there, and ``exact`` tests them against the distribution that
the reference engine gives. All but ``sampled`` are pure.
"""

from trtspec.verify.oracle.greedy import Oracle, OracleArm, WrongToken, judge_tokens
from trtspec.verify.oracle.record import OracleSampled

__all__ = ["Oracle", "OracleArm", "OracleSampled", "WrongToken", "judge_tokens"]
