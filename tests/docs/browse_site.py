"""Opens every page of a built site in headless Chromium, wide and narrow, searches it, and takes pictures.

    python3 -m venv v && v/bin/pip install playwright==1.65.2 && apt-get install chromium
    v/bin/python tests/docs/browse_site.py build/site [PICTURES]

Fails if a page scrolls sideways, logs an error, asks the network, or if a search for "generalized least squares" does
not find the guide, the functions and the command.
"""

import pathlib
import sys

from playwright.sync_api import sync_playwright

WIDTHS = {"wide": 1280, "narrow": 390}
SHOWN = ["index", "docs/which-function", "docs/least-squares", "reference/cpp/algorithms-least_squares", "reference/python",
         "reference/commands/qr", "docs/tutorials/time-loop"]
SEARCH = ["docs/generalized-least-squares", "reference/cpp/algorithms-least_squares", "reference/commands/wls",
          "reference/python"]


def main(site, pictures=None):
    site, failures = pathlib.Path(site).resolve(), []
    pages = sorted(str(file.relative_to(site))[:-5] for file in site.rglob("*.html"))
    sources = [page for page in pages if page.startswith("source/")]
    pages = [page for page in pages if page not in sources] + sources[:: max(1, len(sources) // 10)]
    with sync_playwright() as player:
        browser = player.chromium.launch(executable_path="/usr/bin/chromium", args=["--no-sandbox"])
        for name, width in WIDTHS.items():
            tab = browser.new_page(viewport={"width": width, "height": 900}, color_scheme="light")
            tab.on("console", lambda message: message.type == "error" and failures.append(f"{tab.url}: {message.text}"))
            tab.on("pageerror", lambda error: failures.append(f"{tab.url}: {error}"))
            tab.on("request", lambda one: one.url.startswith("file:") or one.url.startswith("data:") or
                   failures.append(f"{tab.url}: asks {one.url}"))
            for page in pages:
                tab.goto(f"file://{site}/{page}.html")
                over = tab.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")
                if over > 0:
                    failures.append(f"{page}: {name} scrolls sideways by {over} pixels")
            tab.goto(f"file://{site}/search.html?q=generalized+least+squares")
            tab.wait_for_selector("#search-results ul.search li a", timeout=60000)
            tab.wait_for_function("document.querySelector('.search-summary')?.textContent.match(/[0-9]/)")
            tab.wait_for_timeout(2000)
            found = tab.eval_on_selector_all("#search-results ul.search li a", "all => all.map(a => a.href)")
            places = {page: [k for k, link in enumerate(found, 1) if page + ".html" in link][:1] for page in SEARCH}
            print(name, len(found), "results; places", places)
            failures += [f"{name}: the search does not find {page}" for page, place in places.items() if not place]
            if pictures:
                folder = pathlib.Path(pictures)
                folder.mkdir(parents=True, exist_ok=True)
                tab.screenshot(path=folder / f"search-{name}.png")
                for page in SHOWN:
                    tab.goto(f"file://{site}/{page}.html")
                    tab.screenshot(path=folder / f"{page.replace('/', '-')}-{name}.png")
                tab.emulate_media(color_scheme="dark")
                tab.goto(f"file://{site}/index.html")
                tab.screenshot(path=folder / f"index-dark-{name}.png")
        browser.close()
    print("\n".join(failures) or f"{len(pages)} pages, wide and narrow: no error")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
