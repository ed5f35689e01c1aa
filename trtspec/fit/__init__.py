"""How a drafter is fitted to a target model, on the target's own answers."""
