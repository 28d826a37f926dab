"""Packages that are hidden from imports for a while."""

from __future__ import annotations

import importlib
import json
import sys

import pytest

from battlebot.runtime.bare import without


def test_a_package_is_hidden_for_as_long_as_that_lasts() -> None:
    """Also if the import fails; what is loaded already is not touched."""
    with pytest.raises(ImportError), without("wave", "json"):
        importlib.import_module("wave")
    assert importlib.import_module("wave").open
    with without("json"):
        assert importlib.import_module("json") is json
    assert sys.modules["json"] is json
