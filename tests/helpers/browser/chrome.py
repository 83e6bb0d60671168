"""Open pages in a headless Chromium. Needs `chromium` and `chromedriver` on the path."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from selenium.webdriver import Chrome, ChromeOptions
from selenium.webdriver.chrome.service import Service
from selenium.webdriver.common.by import By
from selenium.webdriver.remote.webelement import WebElement

BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")


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

    def open(self, path: Path, *, dark: bool, width: int) -> None:
        """Open a file with the colour scheme that the system prefers, in a window of this width in pixels."""
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [scheme]})
        size = {"width": width, "height": 800, "deviceScaleFactor": 1, "mobile": False}
        self.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
        self.driver.get(path.as_uri())

    def all(self, css: str) -> list[WebElement]:
        return self.driver.find_elements(By.CSS_SELECTOR, css)

    def run(self, script: str, *args: Any) -> Any:
        return self.driver.execute_script(script, *args)


@contextmanager
def chromium() -> Iterator[Window]:
    """Yield a window that can open files of this machine only."""
    options = ChromeOptions()
    options.binary_location = next(filter(None, map(shutil.which, BROWSERS)))
    for argument in ("--headless=new", "--disable-gpu", "--disable-dev-shm-usage", "--hide-scrollbars"):
        options.add_argument(argument)
    options.add_argument("--host-resolver-rules=MAP * ~NOTFOUND")
    if os.geteuid() == 0:
        options.add_argument("--no-sandbox")  # Chromium refuses to run as root otherwise
    driver = Chrome(options=options, service=Service(shutil.which("chromedriver")))
    try:
        yield Window(driver)
    finally:
        driver.quit()
