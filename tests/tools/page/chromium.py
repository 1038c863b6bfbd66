"""Drives headless Chromium by the DevTools protocol over a pipe, with Python's standard library alone."""

import base64
import json
import os
import shutil
import subprocess
import tempfile
import time

NAMES = ["chromium", "chromium-browser", "google-chrome"]


def find():
    return next((path for path in map(shutil.which, NAMES) if path), None)


class Page:
    """A page in a browser that ends with the block."""

    def __init__(self, program, width=1280, height=900):
        self.problems, self.size, self._last = [], (width, height), 0
        self._home = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
        to_browser, self._in = os.pipe()
        self._out, from_browser = os.pipe()
        # The browser reads from descriptor 3 and writes to 4.
        words = [program, "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run",
                 "--disable-background-networking", "--remote-debugging-pipe", f"--user-data-dir={self._home.name}"]
        shell = 'exec 3<&"$0" 4>&"$1"; shift; exec "$@"'
        self._browser = subprocess.Popen(["bash", "-c", shell, str(to_browser), str(from_browser), *words], stdin=subprocess.DEVNULL,
                                         stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, pass_fds=[to_browser, from_browser])
        os.close(to_browser), os.close(from_browser)
        self._rest = b""
        target = self._call("Target.createTarget", {"url": "about:blank"})["targetId"]
        self._session = self._call("Target.attachToTarget", {"targetId": target, "flatten": True})["sessionId"]
        for domain in ["Page", "Runtime", "Network", "Log"]:
            self.call(domain + ".enable")
        self.look()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self._browser.kill()
        self._browser.wait()
        os.close(self._in), os.close(self._out)
        self._home.cleanup()

    def _message(self):
        while b"\0" not in self._rest:
            more = os.read(self._out, 1 << 20)
            if not more:
                raise RuntimeError("the browser ended")
            self._rest += more
        one, self._rest = self._rest.split(b"\0", 1)
        return json.loads(one)

    def _call(self, method, parameters=None, session=None):
        self._last += 1
        request = {"id": self._last, "method": method, "params": parameters or {}}
        if session:
            request["sessionId"] = session
        text = json.dumps(request).encode() + b"\0"
        while text:
            text = text[os.write(self._in, text):]
        while True:
            message = self._message()
            if message.get("id") == self._last:
                if "error" in message:
                    raise RuntimeError(f"{method}: {message['error']}")
                return message["result"]
            self._note(message)

    def _note(self, message):
        """Keeps errors of the page, and every request for something other than the page."""
        method, what = message.get("method"), message.get("params", {})
        if method == "Runtime.exceptionThrown":
            details = what["exceptionDetails"]
            self.problems.append(details.get("exception", {}).get("description") or details["text"])
        if method == "Log.entryAdded" and what["entry"]["level"] == "error":
            self.problems.append(what["entry"]["text"])
        if method == "Network.requestWillBeSent" and not what["request"]["url"].startswith(("file:", "about:", "data:")):
            self.problems.append("asks " + what["request"]["url"])

    def call(self, method, **parameters):
        return self._call(method, parameters, self._session)

    def look(self, width=None, height=None, scheme="light", media=""):
        """Sets the size of the window, the colour scheme, and 'print' or ''."""
        self.size = (width or self.size[0], height or self.size[1])
        self.call("Emulation.setDeviceMetricsOverride", width=self.size[0], height=self.size[1], deviceScaleFactor=1, mobile=False)
        self.call("Emulation.setEmulatedMedia", media=media, features=[{"name": "prefers-color-scheme", "value": scheme}])

    def open(self, path):
        """Opens a file, and returns the seconds until it has drawn itself."""
        began = time.monotonic()
        self.call("Page.navigate", url="file://" + os.path.abspath(path))
        while not self.value("document.documentElement?.dataset.ready === 'yes'"):
            if time.monotonic() > began + 60 or self.problems:
                raise RuntimeError(f"{path} is not drawn: {self.problems}")
            time.sleep(0.01)
        self.value("new Promise(done => requestAnimationFrame(() => requestAnimationFrame(() => done(1))))")
        return time.monotonic() - began

    def value(self, expression):
        result = self.call("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in result:
            raise RuntimeError(f"{expression}: {result['exceptionDetails']}")
        return result["result"].get("value")

    def key(self, key, text=None):
        for kind in ["keyDown", "keyUp"]:
            self.call("Input.dispatchKeyEvent", type=kind, key=key, text=(text or (key if len(key) == 1 else "")) if kind == "keyDown" else "")

    def type(self, text):
        self.call("Input.insertText", text=text)

    def click(self, x, y):
        for kind in ["mouseMoved", "mousePressed", "mouseReleased"]:
            self.call("Input.dispatchMouseEvent", type=kind, x=x, y=y, button="none" if kind == "mouseMoved" else "left", clickCount=1)

    def wheel(self, x, y, delta):
        self.call("Input.dispatchMouseEvent", type="mouseWheel", x=x, y=y, deltaX=0, deltaY=delta)

    def picture(self, path, whole=True):
        data = self.call("Page.captureScreenshot", captureBeyondViewport=whole, **({"clip": self._whole()} if whole else {}))["data"]
        with open(path, "wb") as file:
            file.write(base64.b64decode(data))

    def _whole(self):
        size = self.call("Page.getLayoutMetrics")["cssContentSize"]
        return {"x": 0, "y": 0, "width": size["width"], "height": min(size["height"], 9000), "scale": 1}

    def pdf(self, path):
        data = self.call("Page.printToPDF", printBackground=True)["data"]
        with open(path, "wb") as file:
            file.write(base64.b64decode(data))
