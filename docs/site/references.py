"""Writes the source of the site: guides, first page, and the references of C++, C, Python and the command."""

import inspect
import os
import pathlib
import re
import sys

import commands
import pages
import text
from links import Guides, put
from text import prose

ABOUT = {
    "algorithms": "Tasks of a whole algorithm on a graph, and one call above them for arrays.",
    "codelets": "Kernels, in the namespace ``tesela::kernels``. Each struct also has ``name``, ``color``, ``flops`` and "
                "``cost_key`` (:doc:`/docs/write-your-own`); ``cpu`` and ``cuda`` are its variants.",
    "tiles": "Matrices of tiles, matrices on the host, and files.",
    "runtime": "Workers, graphs, codelets, errors.",
    "host": "Numerics on the host outside of tasks.",
}
TUTORIALS = ["least-squares", "eigenvalues", "time-loop", "factorization", "scheduler", "gpus", "machines"]
SECTIONS = [
    ("Start", ["docs/which-function", "docs/tutorials/README"]),
    ("Problems", ["docs/least-squares", "docs/generalized-least-squares", "docs/simultaneous-equations",
                  "docs/factorizations", "docs/gemm", "docs/qr", "docs/givens", "docs/tall-skinny", "docs/tridiagonal",
                  "docs/toeplitz", "docs/eigen", "docs/svd", "docs/qr-iteration", "docs/mimo", "docs/schedules"]),
    ("Methods", ["docs/eigen-method", "docs/tridiagonal-method", "docs/toeplitz-method", "docs/mimo-method"]),
    ("Use", ["docs/python", "docs/c", "docs/files", "docs/write-your-own", "docs/traces", "docs/predict", "docs/runs",
             "docs/cluster", "docs/debug-and-profile"]),
    ("About", ["docs/benchmarks/README", "docs/architecture", "docs/tested-on", "docs/sources", "docs/licenses",
               "docs/releasing", "KNOWN_PROBLEMS", "CHANGELOG", "CONTRIBUTING"]),
]


def version(root):
    return re.search(r"project\(tesela VERSION ([0-9.]+)", (root / "CMakeLists.txt").read_text())[1]


def tree(caption, entries):
    return "\n".join(["```{toctree}", ":hidden:", f":caption: {caption}", "", *entries, "```", ""])


def check_documented(references):
    """Warns of each public name without a comment."""
    for name in sorted(name for reference in references for name in reference.undocumented):
        pages.log.warning("%s: a public name needs a comment", name)
    pages.log.info("%d public names", sum(reference.count for reference in references))


def summary(name):
    """Returns a title of a Python function for the search: its name and the begin of its docstring."""
    import tesela

    words = re.split(r"[:;,.](?: |$)| \(", getattr(tesela, name).__doc__.strip().split("\n")[0])[0].replace("`", "")
    return text.escaped(f"{name}: {words[0].lower()}{words[1:]}")


def python_page(target):
    """Writes the reference of the Python module. Returns its names."""
    import tesela

    classes = [name for name in tesela.__all__ if inspect.isclass(getattr(tesela, name))]
    functions = [name for name in tesela.__all__ if name not in classes]
    for name in tesela.__all__:
        if not (getattr(tesela, name).__doc__ or "").strip():
            pages.log.warning("tesela.%s has no docstring", name)
    lines = [pages.title("Python"), ".. module:: tesela\n",
             "Functions under SciPy's names; :doc:`/docs/python` explains arrays, GPUs and errors.\n",
             pages.title("Functions", "-")]
    lines += [f"{pages.title(summary(name), '~')}\n.. autofunction:: tesela.{name}\n" for name in functions]
    lines += [pages.title("Classes", "-")]
    lines += [f".. autoclass:: tesela.{name}\n   :members:\n   :undoc-members:\n" for name in classes]
    lines += [pages.title("Kernels", "-"),
              "``g.insert(tesela.kernels.NAME, tiles…, argument=value)`` inserts a task of a kernel that C++ declares. "
              "``help(tesela.kernels.NAME)`` shows its whole comment, and :doc:`/reference/cpp/index` has it too. Fields of "
              "a record are passed in a dict. A kernel checks neither the shapes of its tiles nor its arguments: wrong ones "
              "may end the process, as in C++.\n",
              kernel_table(tesela.kernels)]
    lines += ["Only C++ can insert these: " + "; ".join(f"``{name}`` ({reason})" for name, reason in
                                                         tesela.kernels.unreachable().items()) + ".\n"]
    put(target, "\n".join(lines))
    return set(tesela.__all__)


def kernel_table(kernels):
    """Returns the table of the kernels in Python."""
    rows = [("kernel", "tiles", "arguments", "result")]
    for kernel in (getattr(kernels, name) for name in kernels.__all__):
        tiles = ", ".join(f"{name}: {mode}" for name, mode, _ in kernel.tiles)
        arguments = ", ".join(f"{name}={kernels.shown(default)}" for name, _, default, _ in kernel.arguments)
        sentence = re.split(r"(?<=\.)\s", " ".join(kernel.comment.split()))[0]
        rows.append((f"``{kernel.name}``", f"``{tiles}``", f"``{arguments}``" if arguments else "", prose(sentence, {})))
    lines = [".. list-table::", "   :header-rows: 1", ""]
    for row in rows:
        lines += [f"   {'* -' if k == 0 else '  -'} {' '.join(cell.split())}" for k, cell in enumerate(row)]
    return "\n".join(lines) + "\n"


class Table:
    """The table of which-function.md: each name becomes a link to its reference, and must exist."""

    def __init__(self, commands, python, cpp, c):
        self.find = [None, None, self.command, self.python, self.cpp, self.c]
        self.seen = {"start", "stop", "workers"}  # of no problem
        self.commands, self.names, self.cpp_names, self.c_names = commands, python, cpp, c

    def command(self, text):
        words = text.split()
        page = self.commands / f"{words[0]}.rst"
        known = page.exists() and all(f":: {word}" in page.read_text() or f",{word}" in page.read_text()
                                      for word in words if word.startswith("--"))
        return f"{{doc}}`{text} </reference/commands/{words[0]}>`" if known else None

    def python(self, text):
        name = re.sub(r"\(.*", "", text)
        self.seen.add(name)
        return f"{{py:obj}}`{text} <tesela.{name}>`" if name in self.names else None

    def cpp(self, text):
        return f"{{cpp:any}}`{text} <{self.cpp_names[text]}>`" if text in self.cpp_names else None

    def c(self, text):
        for name in (f"tesela_d{text}", f"tesela_{text}"):
            if name in self.c_names:
                return f"{{c:func}}`{text} <{name}>`"
        return None

    def linked(self, line):
        cells = line.strip().strip("|").split("|")
        if len(cells) != len(self.find) or not line.startswith("| "):
            return line
        for i, find in enumerate(self.find):
            def link(match):
                found = find(match[1])
                if not found:
                    pages.log.warning("docs/which-function.md: %s does not exist", match[0])
                return found or match[0]
            if find:
                cells[i] = re.sub("`([^`]+)`", link, cells[i])
        return "|" + "|".join(cells) + "|"


def write(app, root):
    source, build = pathlib.Path(app.srcdir), pathlib.Path(os.environ["TESELA_BUILD"])
    work = build / "docs/work"
    guides = sorted(str(file.relative_to(root)) for pattern in ("*.md", "docs/**/*.md") for file in root.glob(pattern))
    copies = Guides(root, guides)
    app.tesela_shown = copies.shown
    listed = {entry for _, entries in SECTIONS for entry in entries} | {"README", "docs/site/index"}
    listed |= {f"docs/tutorials/{name}" for name in TUTORIALS}
    SECTIONS[-1][1].extend(page[:-3] for page in guides if page[:-3] not in listed)
    cpp, order = pages.cpp(root, work / "cpp", source / "reference/cpp", ABOUT)
    c = pages.c(root, work / "c", build / "interfaces/tesela.h", source / "reference/c.rst")
    check_documented([cpp, c])
    command_pages = source / "reference/commands"
    commands.write(str(build / "bin/tesela"), command_pages, work / "commands.json")
    python = python_page(source / "reference/python.rst")
    table = Table(command_pages, python, cpp.names,
                  {name for one in c.headers.by_file.values() for name in [declaration.name for declaration in one]})
    page = "docs/which-function.md"
    copies.texts[page] = "\n".join(table.linked(line) for line in copies.texts[page].split("\n"))
    copies.texts["docs/tutorials/README.md"] += "\n" + tree("Tutorials", TUTORIALS)
    for name in sorted(name for name in python - table.seen if not inspect.isclass(getattr(sys.modules["tesela"], name))):
        pages.log.warning("docs/which-function.md lacks tesela.%s", name)
    first = copies.texts["docs/site/index.md"]
    trees = [tree(caption, entries) for caption, entries in SECTIONS]
    trees.append(tree("Reference", ["reference/python", "reference/commands/index", "reference/cpp/index", "reference/c"]))
    copies.texts["docs/site/index.md"] = first + "\n" + "\n".join(trees)
    copies.write(source)
    put(source / "reference/cpp/index.rst",
        pages.title("C++") + "\n``#include <tesela/tesela.hpp>`` includes everything but the kernels. Names are in "
        "the namespace ``tesela``.\n\n.. toctree::\n\n" + "\n".join(f"   {page}" for page in order) + "\n")
