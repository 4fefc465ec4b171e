"""Drive headless Chromium through chromedriver's HTTP interface (W3C WebDriver)."""

from __future__ import annotations

import base64
import contextlib
import json
import shutil
import socket
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx

FLAGS = (
    "--headless --no-sandbox --disable-gpu --disable-quic --no-first-run",
    "--disable-background-networking --disable-component-update --disable-sync",
    "--disable-dev-shm-usage --hide-scrollbars",
)


def missing_reason() -> str | None:
    """Why no browser can be driven here; None where one can."""
    for command in ("chromedriver", "chromium"):
        if shutil.which(command) is None:
            return f"{command} is not installed (apt-get install -y chromium chromium-driver)"
    return None


class Page:
    """One browser window."""

    def __init__(self, client: httpx.Client, session: str) -> None:
        self._client = client
        self._base = f"/session/{session}"

    def _call(self, path: str, body: dict[str, Any] | None = None) -> Any:
        answer = self._client.post(f"{self._base}/{path}", json=body or {})
        value = answer.json()["value"]
        if answer.status_code >= 400:
            raise AssertionError(f"{path}: {value['error']}: {value['message']}")
        return value

    def open(self, url: str) -> None:
        self._call("url", {"url": url})

    def run(self, script: str, *values: object) -> Any:
        """Value of a function body in the page; a promise is awaited."""
        return self._call("execute/sync", {"script": script, "args": list(values)})

    def wait(self, condition: str, seconds: float = 15) -> None:
        """Until an expression is true in the page."""
        end = time.monotonic() + seconds
        while not self.run(f"return Boolean({condition})"):
            if time.monotonic() > end:
                raise AssertionError(f"never came true: {condition}")
            time.sleep(0.05)

    def press(self, key: str) -> None:
        """One key, as a person presses it, wherever the focus is."""
        keys = [{"type": "keyDown", "value": key}, {"type": "keyUp", "value": key}]
        self._call("actions", {"actions": [{"type": "key", "id": "keys", "actions": keys}]})

    def devtools(self, command: str, **parameters: object) -> Any:
        return self._call("goog/cdp/execute", {"cmd": command, "params": parameters})

    def size(self, width: int, height: int = 900) -> None:
        self.devtools(
            "Emulation.setDeviceMetricsOverride",
            width=width,
            height=height,
            deviceScaleFactor=1,
            mobile=width < 600,
        )

    def prefer(self, theme: str) -> None:
        self.devtools(
            "Emulation.setEmulatedMedia",
            features=[{"name": "prefers-color-scheme", "value": theme}],
        )

    def screenshot(self, path: Path, *, whole: bool = True) -> None:
        shot = self.devtools("Page.captureScreenshot", format="png", captureBeyondViewport=whole)
        path.write_bytes(base64.b64decode(shot["data"]))

    def console(self) -> list[dict[str, Any]]:
        """Console messages since the last call."""
        return list(self._call("se/log", {"type": "browser"}))

    def requests(self) -> list[str]:
        """Addresses of all requests since the last call."""
        entries = self._call("se/log", {"type": "performance"})
        messages = [json.loads(entry["message"])["message"] for entry in entries]
        return [
            message["params"]["request"]["url"]
            for message in messages
            if message["method"] == "Network.requestWillBeSent"
        ]


@contextlib.contextmanager
def browser(profile: Path) -> Iterator[Page]:
    """A fresh browser with its own profile folder, ended afterwards."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    driver = subprocess.Popen(
        ["chromedriver", f"--port={port}", "--log-level=OFF"],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        with httpx.Client(
            base_url=f"http://127.0.0.1:{port}", timeout=60, trust_env=False
        ) as client:
            _wait_for(client)
            options = {
                "args": [*" ".join(FLAGS).split(), f"--user-data-dir={profile}"],
                "binary": shutil.which("chromium"),
            }
            wanted = {
                "browserName": "chrome",
                "goog:chromeOptions": options,
                "goog:loggingPrefs": {"browser": "ALL", "performance": "ALL"},
            }
            answer = client.post("/session", json={"capabilities": {"alwaysMatch": wanted}})
            value = answer.json()["value"]
            if "sessionId" not in value:
                raise AssertionError(value.get("message", "no session"))
            session = value["sessionId"]
            try:
                yield Page(client, session)
            finally:
                client.delete(f"/session/{session}")
    finally:
        driver.terminate()
        driver.wait(timeout=10)


def _wait_for(client: httpx.Client) -> None:
    for _ in range(200):
        try:
            if client.get("/status").json()["value"]["ready"]:
                return
        except httpx.TransportError:
            pass
        time.sleep(0.05)
    raise AssertionError("chromedriver did not come up")
