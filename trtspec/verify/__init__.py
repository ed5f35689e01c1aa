"""Whether speculation left the output alone: what is proven, by which test."""
