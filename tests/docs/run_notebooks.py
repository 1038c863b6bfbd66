"""Runs the cells of the notebooks below examples/notebooks, as Jupyter would, each notebook in a fresh process and folder.

    run_notebooks.py [--write] [NOTEBOOK...]    --write: stores the outputs in the files

A cell that raises fails the test, so the notebooks assert their results. The value of a cell's last expression must have
a picture, a table or text for the notebook.
"""

import ast
import contextlib
import io
import json
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
FORMS = {"text/html": "_repr_html_", "image/svg+xml": "_repr_svg_"}


def shown(value):
    """Returns a notebook's forms of the value."""
    forms = {kind: getattr(value, method)() for kind, method in FORMS.items() if hasattr(value, method)}
    for kind, text in forms.items():
        assert text and text.count("<") > 3, f"{kind} of {value!r} shows nothing"
    return {kind: text.splitlines(keepends=True) for kind, text in forms.items()} | {"text/plain": repr(value).splitlines(keepends=True)}


def run_cell(source, names, count):
    """Returns the outputs of the cell."""
    body, printed, outputs = ast.parse(source).body, io.StringIO(), []
    last = body.pop() if body and isinstance(body[-1], ast.Expr) else None
    with contextlib.redirect_stdout(printed):
        exec(compile(ast.Module(body, []), f"cell {count}", "exec"), names)
        value = eval(compile(ast.Expression(last.value), f"cell {count}", "eval"), names) if last else None
    if printed.getvalue():
        outputs.append({"name": "stdout", "output_type": "stream", "text": printed.getvalue().splitlines(keepends=True)})
    if value is not None:
        outputs.append({"data": shown(value), "execution_count": count, "metadata": {}, "output_type": "execute_result"})
    return outputs


def run(path, write):
    book, names, count, pictures = json.loads(path.read_text(encoding="utf-8")), {"__name__": "__main__"}, 0, 0
    assert book["nbformat"] == 4 and len({cell["id"] for cell in book["cells"]}) == len(book["cells"])
    for cell in book["cells"]:
        if cell["cell_type"] != "code":
            continue
        count += 1
        cell["outputs"] = run_cell("".join(cell["source"]), names, count)
        cell["execution_count"] = count
        pictures += sum("<svg" in "".join(part) for output in cell["outputs"] for part in output.get("data", {}).values())
    assert pictures >= 1, "no cell shows a picture"
    if write:
        path.write_text(json.dumps(book, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    print(f"{path.name}: {count} cells, {pictures} pictures")


def main(*arguments):
    write = "--write" in arguments
    paths = [pathlib.Path(a).resolve() for a in arguments if a != "--write"] or sorted((ROOT / "examples/notebooks").glob("*.ipynb"))
    if len(paths) == 1:
        return run(paths[0], write)
    assert len(paths) >= 3
    failed = 0
    for path in paths:
        with tempfile.TemporaryDirectory() as folder:
            failed += subprocess.run([sys.executable, __file__, *["--write"] * write, str(path)], cwd=folder).returncode != 0
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
