"""Makes text from outside safe to show in one line: escapes line ends, terminal controls and bidirectional controls.

The rules for names are in `names`.
"""

from __future__ import annotations

# C0, DEL, C1, the two Unicode line separators, and bidirectional or invisible characters
_SPELLED = {code: f"\\x{code:02x}" for code in (*range(0x20), *range(0x7F, 0xA0))}
_SPELLED |= {0x0A: "\\n", 0x0D: "\\r", 0x09: "\\t", 0x2028: "\\u2028", 0x2029: "\\u2029"}
_UNSEEN = (0xAD, 0x61C, 0xFEFF, *range(0x200B, 0x2010), *range(0x202A, 0x202F), *range(0x2060, 0x2070))
_SPELLED |= {code: f"\\u{code:04x}" for code in _UNSEEN}


def spelled_out(text: str) -> str:
    """The text with such characters escaped, as `\\n` or `\\u202e`."""
    return text.translate(_SPELLED)
