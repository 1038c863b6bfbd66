"""Opens pages of `tesela COMMAND --report` in headless Chromium: draws, zooms, searches, and compares numbers with the JSON.

    browse_report.py TESELA [PICTURES]    PICTURES: a folder for screenshots

Prints "skipped: no Chromium" without a browser. Fails if a page logs an error, asks the network, scrolls sideways, or
shows other numbers than the JSON of the same run; or if a page of 100 000 tasks exceeds 8 MB or 20 s to open (the goal on
a free machine is 3 s).
"""

import json
import pathlib
import random
import re
import subprocess
import sys
import tempfile

import chromium

TASKS, MOST_BYTES, MOST_SECONDS = 100_000, 8e6, 20


def large_trace(folder):
    """Writes StarPU's files for a graph of many tasks on 16 workers, each after two of the 40 before it."""
    numbers, free = random.Random(1), [0.0] * 16
    folder.mkdir()
    with open(folder / "tasks.rec", "w") as file:
        for t in range(TASKS):
            worker = min(range(16), key=free.__getitem__)
            start, length = free[worker] + numbers.expovariate(50), 0.01 + numbers.expovariate(10)
            free[worker] = start + length
            name = numbers.choices(["gemm", "trsm", "syrk", "potrf"], [80, 12, 7, 1])[0]
            file.write(f"Name: {name}\nJobId: {t + 1}\nWorkerId: {worker}\nSubmitTime: {t * 0.005:.6f}\nStartTime: {start:.6f}\n"
                       f"EndTime: {start + length:.6f}\nPriority: {t % 7}\nGFlop: 0.002\nParameters: M100x100x8 M100x100x8\n")
            if t > 40:
                file.write(f"DependsOn: {t - numbers.randrange(16, 40)} {t - numbers.randrange(16, 40)}\n")
            file.write("\n")
    with open(folder / "paje.trace", "w") as file:
        file.writelines(f"7\t1.0\tw{w}\tW\tt{w}\tCPU{w}\n" for w in range(16))
        for name, color in [("gemm", "76 114 176"), ("trsm", "85 168 104"), ("syrk", "221 132 82"), ("potrf", "196 78 82")]:
            file.write(f'6\t{name}\tWS\t{name}\t"{color}" \n')


def require(condition, what):
    if not condition:
        raise AssertionError(what)


def state(page):
    return page.value("teselaReport.schedule.state()")


def check_numbers(page, report):
    """Compares the tables that the page shows with the JSON."""
    rows = page.value("[...document.querySelectorAll('#kernel-table tbody tr')].map(r => [...r.cells].map(c => c.innerText))")
    shown = {row[0]: int(row[2]) for row in rows}
    require(shown == report["counts"]["tasks"], f"the page counts {shown}, the JSON {report['counts']['tasks']}")
    require(page.value("document.querySelector('#status').innerText") == report["status"], "the status differs")
    checks = page.value("[...document.querySelectorAll('#checks tbody tr')].map(r => [...r.cells].map(c => c.innerText))")
    for name, measured, limit, verdict in checks:
        limited = name in report["limits"]
        for text, value in [(measured, report["checks"][name]), *[(limit, report["limits"].get(name))] * limited]:
            require(abs(float(text) - value) <= 1e-4 * abs(value), f"{name} is {text} on the page, {value} in the JSON")
        require(verdict == ("good" if limited else ""), f"{name}: {verdict}")
    require(len(checks) == len(report["checks"]) > 0, "the page lacks checks")
    times = page.value("[...document.querySelectorAll('#bound-table tbody tr')].map(r => r.cells[1].innerText)")
    require(len(times) == 4 and all(re.fullmatch(r"[\d.e+-]+ (µs|ms|s)", t) for t in times), f"bounds {times}")


def check_zoom_and_search(page, kernel):
    span = state(page)["domain"][1]

    def middle():
        return page.value("(r => [r.left + r.width / 2, r.top + 12])(document.querySelector('#schedule-canvas').getBoundingClientRect())")

    page.value("window.scrollTo(0, document.querySelector('#schedule').offsetTop)")
    page.wheel(*middle(), -100)
    require(state(page)["domain"][1] == span, "the wheel zooms without focus")
    page.value("document.querySelector('#schedule-canvas').focus()")
    page.value("new Promise(done => setTimeout(done, 300))")  # the page scrolls
    before = state(page)["domain"]
    page.wheel(*middle(), -400)
    after = state(page)["domain"]
    require(after[1] - after[0] < 0.9 * (before[1] - before[0]), f"the wheel does not zoom: {before} to {after}")
    page.key("+")
    closer = state(page)["domain"]
    require(closer[1] - closer[0] < 0.6 * (after[1] - after[0]), "+ does not zoom")
    page.key("ArrowLeft")
    require(state(page)["domain"][0] < closer[0], "the arrow does not move")
    page.key("0")
    require(state(page)["domain"] == [0, span], "0 does not show the whole run")
    page.key("/")
    require(page.value("document.activeElement.type") == "search", "/ does not begin a search")
    page.type(kernel)
    found = state(page)["matches"]
    total = page.value(f"teselaReport.tasks.kernel.filter(k => teselaReport.data.kernels[k].name === '{kernel}').length")
    require(found == total > 0, f"the search finds {found} of {total} tasks of {kernel}")
    page.key("Enter", "\r")
    chosen = state(page)["selected"]
    require(chosen >= 0 and kernel in page.value("document.querySelector('#detail').innerText"), "Enter selects no task")
    require("1 of " in page.value("document.querySelector('#found').innerText"), "the search has no place")
    page.key("Enter", "\r")
    require(total == 1 or state(page)["selected"] != chosen, "Enter does not go on")
    identity = page.value("teselaReport.tasks.id[0]")
    page.value("(i => { i.value = '#%d'; i.dispatchEvent(new Event('input')); })(document.querySelector('input[type=search]'))" % identity)
    require(state(page)["matches"] == 1, "#number finds no task")
    page.key("Escape")
    require(state(page)["matches"] is None, "Escape does not end the search")
    page.key("0")


def main(tesela, pictures=None):
    program = chromium.find()
    if program is None:
        print("skipped: no Chromium")
        return 0
    pictures = pictures and pathlib.Path(pictures)
    if pictures:
        pictures.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as temporary, chromium.Page(program) as page:
        folder = pathlib.Path(temporary)
        command = [tesela, "cholesky", "--n", "500", "--tile", "50", "--report", folder / "run.html", "--json", folder / "run.json"]
        subprocess.run([*map(str, command)], check=True, stdout=subprocess.DEVNULL)
        page.open(folder / "run.html")
        report = json.loads((folder / "run.json").read_text())
        check_numbers(page, report)
        check_zoom_and_search(page, "potrf")
        for name, look in {"light": {}, "dark": {"scheme": "dark"}, "narrow": {"width": 390, "height": 800}, "print": {"media": "print", "width": 1000, "height": 900}}.items():
            page.look(**{"width": 1280, "height": 900} | look)
            page.value("new Promise(done => setTimeout(done, 150))")
            over = page.value("document.documentElement.scrollWidth - document.documentElement.clientWidth")
            require(over <= 0, f"{name}: the page scrolls sideways by {over} pixels")
            if pictures:
                page.picture(pictures / f"{name}.png")
        if pictures:
            page.pdf(pictures / "print.pdf")
        page.look(1280, 900)
        large_trace(folder / "large")
        subprocess.run([tesela, "trace", str(folder / "large"), "--report", str(folder / "large.html"), "--quiet"], check=True)
        size, seconds = (folder / "large.html").stat().st_size, page.open(folder / "large.html")
        check_zoom_and_search(page, "potrf")
        frame = page.value("(() => { const t = performance.now(); document.querySelector('#schedule-canvas').focus(); for (let k = 0; k < 5; ++k) dispatchEvent(new Event('resize')); return (performance.now() - t) / 5; })()")
        print(f"{TASKS} tasks: {size / 1e6:.1f} MB, opens in {seconds:.2f} s, draws in {frame:.0f} ms")
        if pictures:
            page.picture(pictures / "large.png", whole=False)
        require(size <= MOST_BYTES and seconds <= MOST_SECONDS, "too large or too slow")
        require(not page.problems, page.problems)
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
