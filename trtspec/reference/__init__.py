"""The embedded engine: exact, batched speculative decoding on PyTorch.

What happens in one step reads in ``step.py``; why the output stays the target's, in
``acceptance/``; how rows, trees and rollback work, in ``slots.py``.
"""
