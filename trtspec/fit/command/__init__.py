"""What `scripts/fit_drafter.py` understands."""
