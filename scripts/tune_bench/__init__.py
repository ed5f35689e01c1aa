"""The parts of bench_tune.py."""
