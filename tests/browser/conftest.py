"""A real browser, and pages that leave a trace of everything they say and ask for."""

import os
import shutil
from pathlib import Path

import pytest

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
# Software WebGL: a test machine has no graphics card.
ARGUMENTS = ["--use-gl=angle", "--use-angle=swiftshader", "--enable-unsafe-swiftshader", "--no-sandbox"]
DESK = {"width": 1280, "height": 900}


def pytest_collection_modifyitems(items):
    for item in items:
        if item.path.is_relative_to(Path(__file__).parent):
            item.add_marker(pytest.mark.browser)


@pytest.fixture(scope="session")
def browser():
    found = next((path for name in NAMES if (path := shutil.which(name))), None)
    if found is None:
        reason = f"left out, as there is no browser: none of {', '.join(NAMES)} is on the path"
        if os.environ.get("STEPSMOOTH_BROWSER") == "needed":
            pytest.fail(reason)
        pytest.skip(reason)
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=found, args=ARGUMENTS)
        yield chromium
        chromium.close()


class Opened:
    """A page with what it said in the console, what it asked of the network, and how to look at it."""

    def __init__(self, page):
        self.page, self.said, self.asked = page, [], []
        page.on("console", lambda message: self.said.append(f"{message.type}: {message.text}"))
        page.on("pageerror", lambda error: self.said.append(f"error: {error}"))
        page.on("dialog", lambda dialog: self.said.append(f"dialog: {dialog.message}"))
        page.on("request", self._note)

    def _note(self, request):
        if not request.url.startswith(("data:", "blob:")):
            self.asked.append(request.url)

    def settle(self):
        """Wait until what was asked for is drawn: pages draw when the browser asks for a frame."""
        self.page.evaluate("() => new Promise((go) => requestAnimationFrame(() => requestAnimationFrame(go)))")

    def pixels(self, selector):
        """What an element looks like, (rows, columns, 3)."""
        import io

        import numpy as np
        from PIL import Image

        shot = self.page.locator(selector).screenshot()
        return np.asarray(Image.open(io.BytesIO(shot)).convert("RGB")).astype(int)

    def changes(self, selector, act):
        """The share of an element's pixels that an action changes."""
        before = self.pixels(selector)
        act()
        self.settle()
        after = self.pixels(selector)
        return float((abs(before - after).max(axis=2) > 12).mean())


@pytest.fixture(scope="session")
def visit(browser):
    """Open a file as a visitor would; `options` are those of a browser context."""

    def go(path, viewport=DESK, script=None, **options):
        context = browser.new_context(viewport=viewport, offline=True, **options)
        context.set_default_timeout(20_000)
        page = context.new_page()
        if script:
            page.add_init_script(script)
        opened = Opened(page)
        page.goto(path.as_uri())
        if options.get("java_script_enabled", True) and page.locator("#view").count() and not script:
            page.wait_for_selector("#view[data-ready]")
            opened.settle()
        return opened

    return go
