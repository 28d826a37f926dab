"""Crossword matches in Macondo's messages (docs/histories.md): histories as dicts, as protobuf, and as GCG text.

A history is a dict with the fields of `GameHistory` as in protobuf's JSON: enums by name, zero and empty fields left
out.
"""
