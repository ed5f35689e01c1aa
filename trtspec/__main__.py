"""Where the program begins, as ``trtspec`` and as ``python -m trtspec``."""

import signal


def run() -> None:
    """Run the command line; an interrupt during the imports ends it quietly."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    from trtspec.cli.main import main

    main()


if __name__ == "__main__":
    run()
