"""Trained heads that draft on a target's hidden states, in their public layouts.

``medusa``, ``eagle``, ``eagle3``, ``mtp``, ``redrafter`` and ``dflash`` hold one kind
of head each, and what loads it; what they share is in ``base`` and ``stored``.
"""
