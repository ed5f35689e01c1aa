"""Whether greedy output is the same with speculation on, but for near ties."""
