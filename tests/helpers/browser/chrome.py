"""Open pages in a headless Chromium, and read or photograph them. Needs `chromium` and `chromedriver` on the path."""

from __future__ import annotations

import base64
import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from selenium.webdriver import Chrome, ChromeOptions
from selenium.webdriver.chrome.service import Service
from selenium.webdriver.common.by import By
from selenium.webdriver.remote.webelement import WebElement
from selenium.webdriver.support.ui import WebDriverWait

BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
TIMEOUT = 240.0  # seconds that `until` waits; long, because the machine may be busy


def missing() -> str:
    """Return a sentence on why no browser can be used here; "" if one can."""
    if not any(map(shutil.which, BROWSERS)):
        return "NOT TESTED: no Chromium here, so these pages were not opened; apt-get install chromium chromium-driver"
    if not shutil.which("chromedriver"):
        return "NOT TESTED: Chromium is here, its driver is not; apt-get install chromium-driver"
    return ""


class Window:
    """One window of a browser."""

    def __init__(self, driver: Chrome):
        self.driver = driver

    def open(self, url: str) -> None:
        self.driver.get(url)

    def look(
        self, *, dark: bool = False, width: int = 1280, height: int = 800, medium: str = "screen"
    ) -> None:
        """Set the colour scheme that the system prefers, the size of the window, and the medium (screen or print)."""
        self._command(
            "Emulation.setEmulatedMedia",
            media=medium,
            features=[{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}],
        )
        self._command(
            "Emulation.setDeviceMetricsOverride",
            width=width,
            height=height,
            deviceScaleFactor=1,
            mobile=False,
        )

    def until(self, true: Callable[[], Any], what: str) -> Any:
        """Wait until `true()` returns a true value, and return it. what: its name in the error message.

        Raises selenium's TimeoutException after `TIMEOUT` seconds.
        """
        return WebDriverWait(self.driver, TIMEOUT).until(lambda _driver: true(), f"timed out: {what}")

    def all(self, css: str) -> list[WebElement]:
        return self.driver.find_elements(By.CSS_SELECTOR, css)

    def one(self, css: str) -> WebElement:
        """Wait until an element that matches `css` is visible, and return the first."""
        return self.until(lambda: next((e for e in self.all(css) if e.is_displayed()), None), css)

    def text(self, css: str = "body") -> str:
        return self.one(css).text

    def run(self, script: str, *args: Any) -> Any:
        return self.driver.execute_script(script, *args)

    def show(self, element: WebElement, above: int = 60) -> None:
        """Scroll so that an element is near the top."""
        self.run(
            "window.scrollTo(0, arguments[0].getBoundingClientRect().top + scrollY - arguments[1])",
            element,
            above,
        )

    def picture(self, path: Path, *, quality: int = 80, whole: bool = False) -> Path:
        """Save a screenshot as .png or .webp and return its path. whole: show the whole page instead of the window."""
        kind = path.suffix.removeprefix(".")
        options: dict[str, Any] = {"format": kind, "captureBeyondViewport": whole}
        if kind == "webp":
            options["quality"] = quality
        if whole:
            size = self._command("Page.getLayoutMetrics")["cssContentSize"]
            options["clip"] = {"x": 0, "y": 0, "width": size["width"], "height": size["height"], "scale": 1}
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(base64.b64decode(self._command("Page.captureScreenshot", **options)["data"]))
        return path

    def _command(self, name: str, **parameters: Any) -> Any:
        return self.driver.execute_cdp_cmd(name, parameters)


@contextmanager
def chromium(*, scripts: bool = True) -> Iterator[Window]:
    """Yield a window that can open pages of this machine only. scripts: whether pages may run JavaScript."""
    options = ChromeOptions()
    options.binary_location = next(filter(None, map(shutil.which, BROWSERS)))
    for argument in ("--headless=new", "--disable-gpu", "--disable-dev-shm-usage", "--hide-scrollbars"):
        options.add_argument(argument)
    options.add_argument("--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1")
    if os.geteuid() == 0:
        options.add_argument("--no-sandbox")  # Chromium refuses to run as root otherwise
    if not scripts:
        options.add_experimental_option("prefs", {"profile.managed_default_content_settings.javascript": 2})
    driver = Chrome(options=options, service=Service(shutil.which("chromedriver")))
    try:
        yield Window(driver)
    finally:
        driver.quit()
