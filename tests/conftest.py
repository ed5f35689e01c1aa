"""What holds for all tests."""

import gc


def pytest_collection_finish() -> None:
    """Keep ten thousand collected tests out of every later search for garbage."""
    gc.collect()
    gc.freeze()
