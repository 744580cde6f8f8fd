"""Chromium without a window: a page of a folder that runs a script and sends what it found."""

import subprocess
import threading
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from support.tools import require_tool

FLAGS = (
    "--headless=new", "--no-sandbox", "--disable-quic", "--no-first-run", "--disable-background-networking",
    "--disable-component-update", "--disable-sync", "--enable-unsafe-webgpu", "--use-webgpu-adapter=swiftshader",
)  # fmt: skip
PAGE = """<!doctype html>
<script type="module">
  const send = (path, body) => fetch(path, {method: "POST", body});
  try {
    const found = await (async () => { SCRIPT })();
    await send("/found", found);
  } catch (error) {
    await send("/failed", String(error?.stack ?? error));
  }
</script>
"""


class Server(ThreadingHTTPServer):
    """Serves a folder, and keeps the first message of its page."""

    def __init__(self, folder: Path) -> None:
        super().__init__(("127.0.0.1", 0), partial(Handler, directory=str(folder)))
        self.done = threading.Event()
        self.message = ("", b"")


class Handler(SimpleHTTPRequestHandler):
    """A request."""

    server: Server

    def do_POST(self) -> None:
        self.server.message = (self.path, self.rfile.read(int(self.headers["Content-Length"])))
        self.send_response(204)
        self.end_headers()
        self.server.done.set()

    def log_message(self, *_: Any) -> None:
        """Says nothing."""


def run_script(folder: Path, script: str, timeout: float = 240) -> bytes:
    """What a script, the body of an async function in JavaScript, returns: a string or bytes.

    It runs in a page that stands in the folder, and may import and fetch what is there.
    """
    chromium = require_tool("chromium", "apt-get install chromium")
    (folder / "index.html").write_text(PAGE.replace("SCRIPT", script))
    with Server(folder) as server, TemporaryDirectory(ignore_cleanup_errors=True) as profile:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        address = f"http://127.0.0.1:{server.server_port}/index.html"
        command = [chromium, *FLAGS, f"--user-data-dir={profile}", address]
        browser = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        try:
            assert server.done.wait(timeout), "the page must answer, got nothing"
        finally:
            browser.terminate()
            browser.wait()
            server.shutdown()
            thread.join()
    path, found = server.message
    assert path == "/found", found.decode()
    return found
