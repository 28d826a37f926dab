"""Benchmarks: real servers on one core, our load generator on another; rates and times also as ratios to a plain echo.

`python -m bench` runs them; docs/performance.md explains the results. Nothing in battlebot imports this package.
"""
