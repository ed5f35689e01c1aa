"""Lets ``python -m trtspec`` do what the console script does."""

from trtspec.cli.main import main

main()
