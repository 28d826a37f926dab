"""The players connected to this node: their tables, clocks and turns, and what happens when they come and go."""
