"""The doors: `websocket` and `tcp` for bots that connect, `socketio` for those who begin games of bots and watch them.

A door is a module here, with files named after it (`tcp_frames`). It imports no other door; what doors share are the
modules named in DOORS_PARTS of tests/house_rules.py. Adding one:

- Where bots send and are sent JSON texts as in docs/bots.md, the door hands each connection, a `connection.Connection`,
  to `pump.Pump.converse`. That is all of the WebSocket door that is not WebSocket.
- A protocol with messages of its own has a conversation of its own, as the TCP door has. For each bot it makes an
  `arena.player.Player` with a channel that says the arena's updates in that protocol, and holds the conversation within
  `stays.Stays.of`, by which the arena and the lobby hear how it ended. Turns go to `Arena.turned`.
- `app.py` makes the door; `House.release` is where it is told that a player's match is over.
- `drain` sends everybody away when the node stops.
"""
