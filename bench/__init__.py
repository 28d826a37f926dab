"""Benchmarks: real servers on one core, a load generator of our own on another, every figure a ratio to a plain echo.

`python -m bench` runs them; docs/performance.md says what they mean. Nothing of battlebot imports this.
"""
