"""A real browser through the WebDriver protocol, which is plain HTTP and JSON: nothing but Chromium is needed."""

import base64
import json
import shutil
import subprocess
import tempfile
import time
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Any, Self
from urllib.error import URLError
from urllib.request import ProxyHandler, Request, build_opener

FLAGS = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-dev-shm-usage",
    "--hide-scrollbars",
    # a machine without a mouse is taken for a telephone: the pointer here is fine, and it hovers
    "--blink-settings=primaryHoverType=2,availableHoverTypes=2,primaryPointerType=4,availablePointerTypes=4",
]
CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
DRIVER = shutil.which("chromedriver")


class Browser:
    """One headless Chromium."""

    def __init__(self) -> None:
        self.profile = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
        # the driver picks a free port itself and says which
        self.driver = subprocess.Popen(
            [str(DRIVER), "--port=0"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
        )
        self.opener = build_opener(ProxyHandler({}))
        self.address = f"http://127.0.0.1:{self._port()}"
        options = {"binary": CHROMIUM, "args": [*FLAGS, f"--user-data-dir={self.profile.name}"]}
        wanted = {"goog:chromeOptions": options, "goog:loggingPrefs": {"browser": "ALL", "performance": "ALL"}}
        session = self._send("POST", "/session", {"capabilities": {"alwaysMatch": wanted}})
        self.address += f"/session/{session['sessionId']}"
        # of several browsers on one machine each is the one in front
        self.command("Emulation.setFocusEmulationEnabled", enabled=True)

    def _port(self) -> int:
        assert self.driver.stdout is not None
        for line in self.driver.stdout:
            if "started successfully on port" in line:
                return int(line.rsplit(maxsplit=1)[-1].rstrip("."))
        raise RuntimeError("chromedriver did not start")

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        with suppress(URLError):
            self._send("DELETE", "")
        self.driver.terminate()
        self.driver.wait(timeout=20)
        if self.driver.stdout is not None:
            self.driver.stdout.close()
        self.profile.cleanup()

    def _send(self, method: str, path: str, content: Any = None) -> Any:
        body = None if content is None else json.dumps(content).encode()
        request = Request(self.address + path, body, {"Content-Type": "application/json"}, method=method)
        with self.opener.open(request, timeout=60) as answer:
            return json.load(answer)["value"]

    def open(self, path: Path, width: int = 1280, height: int = 800, *, dark: bool = False) -> None:
        """Show a file in a window of that size, whatever the smallest window of the system is."""
        self.command(
            "Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False
        )
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self.command("Emulation.setEmulatedMedia", features=[scheme])
        # Chromium may answer before it has left the page that is there: what is clicked next would be clicked in that
        self.run("window.left = true")
        self._send("POST", "/url", {"url": path.resolve().as_uri()})
        self.until("return !window.left && document.readyState === 'complete'")

    def run(self, script: str, *arguments: Any) -> Any:
        """Run a script in the page and return what it returns."""
        return self._send("POST", "/execute/sync", {"script": script, "args": list(arguments)})

    def until(self, script: str, seconds: float = 20) -> None:
        """Wait until a script returns something true."""
        end = time.monotonic() + seconds
        while not self.run(script):
            assert time.monotonic() < end, f"still not true after {seconds} s: {script}"
            time.sleep(0.05)

    def messages(self) -> list[str]:
        """Return what the console said since it was last asked."""
        return [f"{entry['level']}: {entry['message']}" for entry in self._send("POST", "/se/log", {"type": "browser"})]

    def addresses(self) -> list[str]:
        """Return what was asked for since it was last asked: addresses of requests, frames and windows."""
        events = [
            json.loads(entry["message"])["message"] for entry in self._send("POST", "/se/log", {"type": "performance"})
        ]
        parts = [event["params"].get("request", event["params"].get("frame", event["params"])) for event in events]
        return [part["url"] for part in parts if part.get("url")]

    def press(self, key: str, code: int, text: str = "") -> None:
        """Press and release a key."""
        common = {"key": key, "code": key, "windowsVirtualKeyCode": code}
        self.command("Input.dispatchKeyEvent", type="keyDown", text=text, **common)
        self.command("Input.dispatchKeyEvent", type="keyUp", **common)

    def move(self, x: float, y: float) -> None:
        """Move the pointer."""
        self.command("Input.dispatchMouseEvent", type="mouseMoved", x=x, y=y)

    def command(self, name: str, **parameters: Any) -> Any:
        """Send a command of Chromium's own protocol."""
        return self._send("POST", "/goog/cdp/execute", {"cmd": name, "params": parameters})

    def picture(self, path: Path, *, whole: bool = False) -> Path:
        """Write a picture of the window, or of the whole page, as PNG."""
        found = self.command("Page.captureScreenshot", captureBeyondViewport=whole)
        path.write_bytes(base64.b64decode(found["data"]))
        return path
