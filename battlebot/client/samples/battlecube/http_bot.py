"""A sample HTTP bot: `python -m battlebot.client.samples.battlecube.http_bot survivor --port 4001`.

A stateless bot reads the JSON of a POST and answers with JSON. The connection stays open (HTTP/1.1).
"""

from __future__ import annotations

import argparse
import json
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from battlebot.client.samples.battlecube import dumb, survivor
from battlebot.client.samples.battlecube.question import Decide

BOTS: dict[str, Decide] = {"dumb": dumb.decide, "survivor": survivor.decide}


def make_server(decide: Decide, host: str, port: int) -> ThreadingHTTPServer:
    """An HTTP server that answers with the tasks of `decide`; the caller calls `serve_forever`."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        disable_nagle_algorithm = True
        wbufsize = -1  # buffered, so that head and body are sent together

        def do_POST(self) -> None:
            question = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            answer = json.dumps(decide(question)).encode()
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(answer)))
            self.end_headers()
            self.wfile.write(answer)

        def log_message(self, *_: object) -> None:
            """Log nothing: requests are frequent."""

    return ThreadingHTTPServer((host, port), Handler)


def main() -> None:
    """Serve until Ctrl-C."""
    parser = argparse.ArgumentParser(prog="python -m battlebot.client.samples.battlecube.http_bot")
    parser.add_argument("bot", choices=sorted(BOTS))
    parser.add_argument("--host", default="127.0.0.1", help="address to listen on (default: %(default)s)")
    parser.add_argument("--port", type=int, default=4001, help="default: %(default)s; 0: any that is free")
    options = parser.parse_args()
    server = make_server(BOTS[options.bot], options.host, options.port)
    print(f"http://{options.host}:{server.server_port}/", flush=True)
    try:
        server.serve_forever()
    except KeyboardInterrupt:
        return


if __name__ == "__main__":
    main()
