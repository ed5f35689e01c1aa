"""What ``bench_harness.py`` measures: the measuring tool itself."""
