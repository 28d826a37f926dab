"""The doors: `websocket` and `tcp` for bots that connect, `socketio` for viewers, who start and watch matches of bots.

A door is a module here, with files named after it (`tcp_frames`). It imports no other door; doors share only the
modules named in DOORS_PARTS of tests/house_rules.py. To add one:

- If bots send and receive JSON texts as in docs/bots.md, the door passes each connection, a `connection.Connection`,
  to `pump.Pump.converse`. Apart from that, the WebSocket door is only WebSocket.
- A protocol with messages of its own needs a conversation of its own, as in the TCP door. For each bot the door makes
  an `arena.player.Player` with a channel that translates the arena's updates into that protocol, and runs the
  conversation within `stays.Stays.of`, which tells the arena and the lobby how it ended. Turns go to `Arena.turned`.
- `app.py` makes the door, and sets `House.release` to its method that is called when a player's match is over.
- `drain` sends everybody away when the node stops.
"""
