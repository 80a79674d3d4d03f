"""Look at every page of the site as a browser shows it: `make docs-check`.

Headless Chromium, spoken to by its DevTools protocol, opens each page from a server on
this machine, as wide as a desk shows it and as a phone. A page fails that writes an
error to the console, asks another machine for anything, links to a page or place that
is not there, misses an image, or is wider than the screen. Links to other machines are
not followed.
"""

from __future__ import annotations

import argparse
import base64
import contextlib
import functools
import http.server
import json
import os
import shutil
import subprocess
import sys
import tempfile
import threading
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urldefrag, urljoin, urlsplit

import websocket

HTML = Path(__file__).resolve().parents[2] / "docs" / "_build" / "html"
SIZES = {"desktop": (1280, 900), "phone": (375, 812)}
# What to look at with one's own eyes.
SHOTS = [
    "index.html",
    "guide/python.html",
    "examples/index.html",
    "examples/e01_reduce.html",
]

# Without a sandbox, since it runs as root in containers, and sees our own pages only.
FLAGS = [
    "--headless=new",
    "--no-sandbox",
    "--disable-gpu",
    "--no-first-run",
    "--hide-scrollbars",
    "--disable-dev-shm-usage",
    "--disable-background-networking",
    "--remote-debugging-port=0",
]

# What a page is asked for when it is shown.
QUESTIONS = r"""(() => {
  const broken = [...document.images]
    .filter(i => i.complete && i.naturalWidth === 0).map(i => i.getAttribute("src"));
  const root = document.documentElement, wide = [];
  if (root.scrollWidth > root.clientWidth)
    for (const e of document.querySelectorAll("body *")) {
      const box = e.getBoundingClientRect();
      if (box.width && box.right > root.clientWidth + 1 && wide.length < 3)
        wide.push(`${e.tagName}.${e.className} ${(e.innerText || "").slice(0, 40)}`);
    }
  return {
    broken, wide, over: root.scrollWidth - root.clientWidth,
    links: [...document.querySelectorAll("a[href]")].map(a => a.href),
    names: [...document.querySelectorAll("[id], a[name]")].map(e => e.id || e.name),
  };
})()"""


class Chromium:
    """A headless browser with one tab.

    Parameters
    ----------
    program : str
        Its program.
    profile : str
        A folder of its own.
    """

    def __init__(self, program: str, profile: str) -> None:
        self.process = subprocess.Popen(
            [program, *FLAGS, f"--user-data-dir={profile}", "about:blank"],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        port_file = Path(profile, "DevToolsActivePort")
        end = time.monotonic() + 120
        while not (port_file.exists() and port_file.read_text().count("\n")):
            if self.process.poll() is not None or time.monotonic() > end:
                raise SystemExit(
                    f"docs-check: {program} does not start; run it to see why"
                )
            time.sleep(0.05)
        port = port_file.read_text().split()[0]
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/json/list") as answer:
            tab = next(t for t in json.load(answer) if t["type"] == "page")
        self.socket = websocket.create_connection(
            tab["webSocketDebuggerUrl"], timeout=120, suppress_origin=True
        )
        self.number = 0
        self.events: list[dict[str, Any]] = []
        for domain in ("Page", "Runtime", "Network", "Log"):
            self.call(f"{domain}.enable")

    def call(self, method: str, **params: Any) -> dict[str, Any]:
        """Call a method of the protocol; events that come meanwhile are kept."""
        self.number += 1
        self.socket.send(
            json.dumps({"id": self.number, "method": method, "params": params})
        )
        while True:
            message = json.loads(self.socket.recv())
            if message.get("id") == self.number:
                if "error" in message:
                    raise RuntimeError(f"{method}: {message['error']['message']}")
                return dict(message["result"])
            self.events.append(message)

    def open(self, address: str, width: int, height: int) -> list[dict[str, Any]]:
        """Show a page, and return what happened on the way."""
        self.call(
            "Emulation.setDeviceMetricsOverride",
            width=width, height=height, deviceScaleFactor=1, mobile=width < 600,
        )  # fmt: skip
        self.events.clear()
        self.call("Page.navigate", url=address)
        while not any(e["method"] == "Page.loadEventFired" for e in self.events):
            self.events.append(json.loads(self.socket.recv()))
        # Images that wait to be scrolled to are loaded, and scripts have run.
        self.ask("for (const i of document.images) i.loading = 'eager'")
        self.ask(
            "Promise.all([...document.images].map(i => i.decode().catch(() => 0)))"
        )
        return list(self.events)

    def ask(self, expression: str) -> Any:
        """Return what an expression of JavaScript gives on the page."""
        answer = self.call(
            "Runtime.evaluate",
            expression=expression,
            returnByValue=True,
            awaitPromise=True,
        )
        return answer["result"].get("value")

    def shoot(self, path: Path, whole: bool = False) -> None:
        """Write what is shown to a file."""
        shot = self.call("Page.captureScreenshot", captureBeyondViewport=whole)
        path.write_bytes(base64.b64decode(shot["data"]))

    def end(self) -> None:
        """End the browser."""
        self.socket.close()
        self.process.terminate()
        self.process.wait()


def find_chromium() -> str:
    """Return the program, or end with what to install."""
    names = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
    for name in filter(None, (os.environ.get("CHROMIUM"), *names)):
        if program := shutil.which(name):
            return program
    raise SystemExit(
        "docs-check: Chromium is missing (Debian: apt install chromium); "
        "CHROMIUM=/path/to/program names one"
    )


@contextlib.contextmanager
def served(folder: Path) -> Iterator[str]:
    """Serve a folder on this machine, and give its address."""

    class Quiet(http.server.SimpleHTTPRequestHandler):
        def log_message(self, *_args: Any) -> None:
            pass

    handler = functools.partial(Quiet, directory=str(folder))
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/"
    finally:
        server.shutdown()
        server.server_close()


def mistakes(events: list[dict[str, Any]], home: str) -> list[str]:
    """Return what went wrong by the events of a page."""
    found = []
    for event in events:
        params = event.get("params", {})
        match event["method"]:
            case "Runtime.consoleAPICalled" if params["type"] in ("error", "assert"):
                said = " ".join(
                    str(a.get("value", a.get("description"))) for a in params["args"]
                )
                found.append(f"console: {said}")
            case "Runtime.exceptionThrown":
                details = params["exceptionDetails"]
                what = details.get("exception", {}).get("description", details["text"])
                found.append(f"exception: {what}")
            case "Log.entryAdded" if params["entry"]["level"] == "error":
                entry = params["entry"]
                found.append(f"console: {entry['text']} {entry.get('url', '')}")
            case "Network.requestWillBeSent":
                address = params["request"]["url"]
                if not address.startswith((home, "data:", "blob:")):
                    found.append(f"asks for {address}")
    return found


def dead_links(
    links: dict[str, list[str]], names: dict[str, set[str]], home: str
) -> list[str]:
    """Return the links to pages, files and places that are not there.

    Parameters
    ----------
    links : dict of str to list of str
        The links of each page, by its name.
    names : dict of str to set of str
        The places of each page.
    home : str
        The address of the site.
    """
    found = []
    for page, targets in links.items():
        for target in sorted({t for t in targets if t.startswith(home)}):
            address, anchor = urldefrag(target)
            name = unquote(urlsplit(address).path).lstrip("/") or "index.html"
            if not (HTML / name).exists():
                found.append(f"{page}: links to {name}, which is not there")
            elif anchor and name in names and unquote(anchor) not in names[name]:
                found.append(
                    f"{page}: links to {name}#{unquote(anchor)}, not a place there"
                )
    return found


def search(browser: Chromium, home: str) -> list[str]:
    """Try the search, which has no server to ask."""
    browser.open(urljoin(home, "search.html?q=geometric+median"), *SIZES["desktop"])
    end = time.monotonic() + 60
    while time.monotonic() < end:
        if browser.ask(
            "document.querySelectorAll('#search-results ul.search li').length"
        ):
            return []
        time.sleep(0.2)
    return ["search.html: finds nothing for 'geometric median'"]


def look(browser: Chromium, home: str, pages: list[str], shots: Path) -> list[str]:
    """Return what is wrong with the pages; pictures of some go to a folder."""
    wrong: list[str] = []
    links: dict[str, list[str]] = {}
    names: dict[str, set[str]] = {}
    for page in pages:
        for size, (width, height) in SIZES.items():
            events = browser.open(urljoin(home, page), width, height)
            shown = browser.ask(QUESTIONS)
            place = f"{page} ({size})"
            wrong += [f"{place}: {what}" for what in mistakes(events, home)]
            wrong += [f"{place}: misses the image {src}" for src in shown["broken"]]
            if shown["over"] > 0:
                wrong.append(
                    f"{place}: is {shown['over']} pixels too wide: {shown['wide']}"
                )
            links[page], names[page] = shown["links"], set(shown["names"])
            if page in SHOTS:
                name = page.removesuffix(".html").replace("/", "-")
                browser.shoot(shots / f"{name}-{size}.png")
    return wrong + dead_links(links, names, home)


def main() -> None:
    """Check the site."""
    parser = argparse.ArgumentParser(description="Look at the site in Chromium.")
    parser.add_argument("--only", default="", help="pages whose names begin like this")
    arguments = parser.parse_args()
    program = find_chromium()
    pages = sorted(
        name
        for path in HTML.rglob("*.html")
        if (name := path.relative_to(HTML).as_posix()).startswith(arguments.only)
        and not name.startswith("_")
    )
    if not pages:
        raise SystemExit("docs-check: there is no such page; make docs builds the site")
    shots = HTML.parent / "screenshots"
    shots.mkdir(exist_ok=True)
    with (
        tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile,
        served(HTML) as home,
    ):
        browser = Chromium(program, profile)
        try:
            wrong = look(browser, home, pages, shots) + search(browser, home)
        finally:
            browser.end()
    for line in wrong:
        print(line)
    print(
        f"{len(pages)} pages on {len(SIZES)} screens, {len(wrong)} mistakes; "
        f"pictures in {shots}"
    )
    sys.exit(bool(wrong))


if __name__ == "__main__":
    main()
