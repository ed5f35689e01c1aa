"""What ``bench_reference.py`` measures: the engine itself, or its methods in turns."""
