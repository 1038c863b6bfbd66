"""Runs the first page of the site and the tutorials as a reader would, each in a fresh folder with a link to examples/.

    run_tutorials.py BIN [PAGE...]    BIN: the folder of the command tesela

```sh        each block runs in bash and must succeed. "# needs 2 GPUs" in its first line skips it without them.
```console   each line after $ runs; each following line must be a line of its output.
```python    runs; if the text goes on with "prints `…`", it must print that.

Every picture that a block names must be an SVG with drawn lines afterwards. (docs_snippets compares C++ blocks.)
"""

import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
BLOCK = re.compile(r"^```(sh|console|python)\n(.*?)^```\n(?:\nprints `([^`]+)`)?", re.MULTILINE | re.DOTALL)


def gpus():
    try:
        run = subprocess.run(["nvidia-smi", "-L"], capture_output=True, text=True)
        return len(run.stdout.splitlines()) if run.returncode == 0 else 0
    except FileNotFoundError:
        return 0


def execute(words, folder, environment):
    run = subprocess.run(words, stdin=subprocess.DEVNULL, cwd=folder, env=environment, text=True, capture_output=True,
                         timeout=300)
    if run.returncode != 0:
        raise AssertionError(f"exit code {run.returncode}\n{run.stdout}{run.stderr}")
    return run.stdout


def lines_of(text):
    return {" ".join(line.split()) for line in text.splitlines()}


def run_block(kind, text, prints, folder, environment):
    """Returns why the block was skipped, or nothing."""
    if needs := re.match(r"# needs (\d+) GPUs", text):
        if gpus() < int(needs[1]):
            return needs[0][2:]
    if kind == "sh":
        execute(["bash", "-euo", "pipefail", "-c", text], folder, environment)
    elif kind == "console":
        for command in re.split(r"^\$ ", text, flags=re.MULTILINE)[1:]:
            command, *expected = command.strip().split("\n")
            printed = lines_of(execute(["bash", "-euo", "pipefail", "-c", command], folder, environment))
            for line in expected:
                assert " ".join(line.split()) in printed, f"{command}\nprints no line {line!r}, but {printed}"
    else:
        printed = execute([sys.executable, "-c", text], folder, environment)
        assert not prints or printed == prints + "\n", f"prints {printed!r}, not {prints!r}"
    for picture in re.findall(r"\b([\w/-]+\.svg)\b", text):
        drawn = (folder / picture).read_text()
        assert "<svg" in drawn and re.search("<(path|line|rect|polyline|polygon)", drawn), f"{picture} shows nothing"
    return ""


def main(binaries, *pages):
    environment = {**os.environ, "PATH": f"{pathlib.Path(binaries).resolve()}:{os.environ['PATH']}"}
    failures = 0
    for page in map(pathlib.Path, pages or [ROOT / "docs/site/index.md", *sorted((ROOT / "docs/tutorials").glob("*.md"))]):
        folder = pathlib.Path(tempfile.mkdtemp())
        (folder / "examples").symlink_to(ROOT / "examples")
        text = page.read_text()
        for number, match in enumerate(BLOCK.finditer(text), 1):
            place = f"{page.name}:{text.count(chr(10), 0, match.start()) + 1}"
            if "mpirun" in match[2] and shutil.which("mpirun") is None:
                skipped = "no mpirun"
            else:
                try:
                    skipped = run_block(*match.groups(), folder, environment)
                except (AssertionError, FileNotFoundError, subprocess.TimeoutExpired) as error:
                    print(f"{place}: {error}")
                    failures += 1
                    continue
            print(f"{place}: {'skipped: ' + skipped if skipped else 'ok'}")
        shutil.rmtree(folder)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
