"""Takes a picture of a page with a headless Chromium: `python docs/pictures/take.py URL OUT.png`."""

from __future__ import annotations

import argparse
import os
import shutil
import sys
from pathlib import Path

from playwright.sync_api import sync_playwright

NAMES = ("chromium", "chromium-browser", "google-chrome", "chrome")
FLAGS = (
    "--no-sandbox",
    # WebGL by the processor: there need be no graphics card
    "--use-angle=swiftshader",
    "--enable-unsafe-swiftshader",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)


def find_chromium() -> str:
    """The browser's path: `CHROMIUM` of the environment, else the first that is on PATH. Exits where there is none."""
    found = os.environ.get("CHROMIUM") or next(filter(None, map(shutil.which, NAMES)), None)
    if not found:
        sys.exit("No Chromium was found; name one by CHROMIUM=/path/to/chromium.")
    return found


def take(
    url: str, out: Path, width: int, height: int, scheme: str = "light", whole: bool = False, frame: int = 0
) -> None:
    """Opens `url` in a window of `width` x `height` pixels and writes a PNG; `whole`: of all one can scroll to.

    On a page with a viewer that frame of the match is shown.
    """
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=find_chromium(), args=list(FLAGS))
        size = {"width": width, "height": height}
        page = browser.new_page(viewport=size, color_scheme=scheme)  # type: ignore[arg-type]
        failures: list[str] = []
        page.on("console", lambda message: failures.append(message.text) if message.type == "error" else None)
        # a live page never stops loading: its stream stays open
        answer = page.goto(url, wait_until="load")
        if page.locator("body[data-events]").count():
            page.wait_for_selector("#live-status:not([hidden])")
        if page.locator("#viewer").count():
            page.wait_for_selector("#viewer[data-loaded]")
            page.locator("#viewer input[type=range]").fill(str(frame))
            page.evaluate("scrollTo(0, 0)")
        page.screenshot(path=out, full_page=whole)
        browser.close()
    if failures or answer is None or not answer.ok:
        sys.exit(f"{url}: {answer.status if answer else 'no answer'}; {'; '.join(failures)}")


def main() -> None:
    """Reads the arguments."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("url")
    parser.add_argument("out", type=Path)
    parser.add_argument("--width", type=int, default=1100)
    parser.add_argument("--height", type=int, default=900)
    parser.add_argument("--scheme", choices=("light", "dark"), default="light")
    parser.add_argument("--whole", action="store_true", help="the whole page, however long it is")
    parser.add_argument("--frame", type=int, default=0, help="which frame a viewer shows")
    given = parser.parse_args()
    take(given.url, given.out, given.width, given.height, given.scheme, given.whole, given.frame)


if __name__ == "__main__":
    main()
