"""Benchmarks: what the design promises, as ratios within one run."""
