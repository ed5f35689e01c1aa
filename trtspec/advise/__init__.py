"""Which methods can be used for a target, and which recipe to start from."""

from trtspec.advise.advice import Advice, Question, advise
from trtspec.advise.candidates import Candidate
from trtspec.advise.remembered import remembering

__all__ = ["Advice", "Candidate", "Question", "advise", "remembering"]
