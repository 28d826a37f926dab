"""The doors: `websocket` and `tcp` for bots that connect, `socketio` for viewers, who start and watch matches of bots.

A door is a module here, with files named after it (`tcp_frames`). It imports no other door; doors share only the
modules named in DOORS_PARTS of tests/house_rules.py. docs/doors.md says how to add one.
"""
