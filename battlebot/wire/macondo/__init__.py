"""Crossword matches in Macondo's messages (docs/histories.md): histories as dicts and protobuf, and as GCG text.

A history is a dict with the fields of `GameHistory`, enums by name, zero and empty fields left out: protobuf's JSON.
"""
