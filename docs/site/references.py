"""Writes the source of the site: guides, first page, and the references of C++, C, Python and the command."""

import os
import pathlib
import re

import pages
from links import Guides, put

ABOUT = {
    "algorithms": "Tasks of a whole algorithm on a graph, and one call above them for arrays.",
    "codelets": "Kernels, in the namespace ``tesela::kernels``. Each struct also has ``name``, ``color``, ``flops`` and "
                "``cost_key`` (:doc:`/docs/write-your-own`); ``cpu`` and ``cuda`` are its variants.",
    "tiles": "Matrices of tiles, matrices on the host, and files.",
    "runtime": "Workers, graphs, codelets, errors.",
    "host": "Numerics on the host outside of tasks.",
}
SECTIONS = [
    ("Start", ["docs/which-function"]),
    ("Problems", ["docs/least-squares", "docs/generalized-least-squares", "docs/simultaneous-equations",
                  "docs/factorizations", "docs/gemm", "docs/qr", "docs/givens", "docs/tall-skinny", "docs/tridiagonal",
                  "docs/toeplitz", "docs/eigen", "docs/qr-iteration", "docs/mimo", "docs/schedules"]),
    ("Methods", ["docs/eigen-method", "docs/tridiagonal-method", "docs/toeplitz-method", "docs/mimo-method"]),
    ("Use", ["docs/python", "docs/c", "docs/files", "docs/write-your-own", "docs/traces", "docs/runs", "docs/cluster",
             "docs/debug-and-profile"]),
    ("About", ["docs/benchmarks/README", "docs/architecture", "docs/tested-on", "docs/sources", "docs/licenses",
               "KNOWN_PROBLEMS", "CHANGELOG", "CONTRIBUTING"]),
]


def version(root):
    return re.search(r"project\(tesela VERSION ([0-9.]+)", (root / "CMakeLists.txt").read_text())[1]


def tree(caption, entries):
    return "\n".join(["```{toctree}", ":hidden:", f":caption: {caption}", "", *entries, "```", ""])


def check_undocumented(root, references):
    """Compares the public names without a comment with the list of those that are known."""
    file = root / "docs/site/undocumented.txt"
    known = set(line for line in file.read_text().split("\n") if line and not line.startswith("#"))
    found = set(name for reference in references for name in reference.undocumented)
    for name in sorted(found - known):
        pages.log.warning("%s: a public name needs a comment", name)
    for name in sorted(known - found):
        pages.log.warning("docs/site/undocumented.txt lists %s, which has a comment or does not exist", name)
    pages.log.info("%d public names", sum(reference.count for reference in references))


def write(app, root):
    source, work = pathlib.Path(app.srcdir), pathlib.Path(app.srcdir).parent / "work"
    guides = sorted(str(file.relative_to(root)) for pattern in ("*.md", "docs/*.md", "docs/benchmarks/*.md", "docs/tutorials/*.md")
                    for file in root.glob(pattern))
    copies = Guides(root, guides)
    copies.write(source)
    app.tesela_shown = copies.shown
    listed = {entry for _, entries in SECTIONS for entry in entries}
    cpp, order = pages.cpp(root, work / "cpp", source / "reference/cpp", ABOUT)
    check_undocumented(root, [cpp])
    first = (root / "docs/site/index.md").read_text()
    trees = [tree(caption, entries) for caption, entries in SECTIONS]
    trees.append(tree("Reference", ["reference/cpp/index"]))
    put(source / "index.md", first + "\n" + "\n".join(trees))
    put(source / "reference/cpp/index.rst",
        pages.title("C++") + "\n``#include <tesela/tesela.hpp>`` includes everything but the kernels. Names are in the namespace "
        "``tesela``.\n\n.. toctree::\n\n" + "\n".join(f"   {page}" for page in order) + "\n")
    for page in guides:
        if page[:-3] not in listed and page != "README.md":
            pages.log.warning("%s is in no section of the site (docs/site/references.py)", page)
