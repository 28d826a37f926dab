from __future__ import absolute_import
import threading
import time

import queue

_async = {
    'thread': threading.Thread,
    'queue': queue.Queue,
    'queue_empty': queue.Empty,
    'event': threading.Event,
    'websocket': None,
    'sleep': time.sleep,
}
