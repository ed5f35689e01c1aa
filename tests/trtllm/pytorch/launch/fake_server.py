"""A program that behaves as trtllm-serve does, well or badly, as $FAKE says.

``FAKE`` is JSON: see ``DEFAULTS``.
"""

import json
import os
import signal
import subprocess
import sys
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

DEFAULTS = {
    "lines": ["[TRT-LLM] [I] Creating CUDA graph instances for 3 batch sizes."],
    "ready_after": 0.0,  # None: never
    "exit_at_start": None,
    "dies_when_asked": False,  # instead of an answer to a POST
    "ignores_term": False,
    "leaves": "",  # file for the pid of a process that has left the group
    "slow": 0.0,  # seconds for one completion
    "text": "the Rhine, the Danube and the Elbe",
    "tokens_per_step": 1.5,
    "status": 200,
    "no_template": False,
    "health": 200,
    "says": "",  # file that gets the paths asked for
}
SLEEPER = (
    "import os, signal, time; signal.signal(15, signal.SIG_IGN); os.setsid(); "
    "print(os.getpid(), flush=True); time.sleep(600)"
)


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    fake = DEFAULTS

    def do_GET(self):
        if self.path == "/health":
            self.reply(self.fake["health"], "")
        else:
            self.reply(200, json.dumps({"data": [{"id": "target"}]}))

    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.note({"path": self.path, **body})
        if self.fake["dies_when_asked"]:
            os._exit(3)
        chat = self.path == "/v1/chat/completions"
        if chat and self.fake["no_template"]:
            return self.reply(400, "no chat template")
        time.sleep(self.fake["slow"])
        if self.fake["status"] != 200:
            return self.reply(self.fake["status"], "broken")
        text = self.fake["text"]
        choice = {"message": {"content": text}} if chat else {"text": text}
        if self.fake["tokens_per_step"]:
            choice["avg_decoded_tokens_per_iter"] = self.fake["tokens_per_step"]
        answer = {"choices": [choice], "usage": {"completion_tokens": 9}}
        return self.reply(200, json.dumps(answer))

    def note(self, value):
        if self.fake["says"]:
            with open(self.fake["says"], "a") as stream:
                stream.write(json.dumps(value) + "\n")

    def reply(self, status, text):
        self.send_response(status)
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text.encode())

    def log_message(self, *_):
        pass


class Server(ThreadingHTTPServer):
    daemon_threads = False  # what is in flight is finished
    block_on_close = True


def main():
    fake = DEFAULTS | json.loads(os.environ.get("FAKE", "{}"))
    Handler.fake = fake
    port = int(sys.argv[sys.argv.index("--port") + 1])
    if fake["leaves"]:
        left = subprocess.Popen([sys.executable, "-c", SLEEPER], stdout=subprocess.PIPE)
        with open(fake["leaves"], "wb") as stream:
            stream.write(left.stdout.readline())
    for line in fake["lines"]:
        sys.stdout.write(line + "\n")
    sys.stdout.flush()
    if fake["exit_at_start"] is not None:
        sys.exit(fake["exit_at_start"])
    if fake["ignores_term"]:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
    if fake["ready_after"] is None:
        time.sleep(600)
    time.sleep(fake["ready_after"])
    serve(Server(("127.0.0.1", port), Handler), fake)


def serve(server, fake):
    def end(*_):
        threading.Thread(target=server.shutdown).start()

    if not fake["ignores_term"]:
        signal.signal(signal.SIGTERM, end)
    server.serve_forever(0.02)
    server.server_close()  # waits for the requests in flight


if __name__ == "__main__":
    main()
