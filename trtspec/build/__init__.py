"""From a recipe to an artifact: plan, stages, locks, fingerprint, manifest."""
