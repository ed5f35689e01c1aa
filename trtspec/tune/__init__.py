"""Which draft length pays: what a drafter would have had accepted, replayed."""
