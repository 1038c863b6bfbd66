"""Pictures of graphs in notebooks."""

import collections
import html
import os
import re
import shutil
import subprocess
import tempfile

MOST_TASKS = 300  # a larger graph is summarized
MOST_BARS = 200

NODE = re.compile(r'  t(\d+) \[label="((?:[^"\\]|\\.)*)", fillcolor="(#\w+)"')
EDGE = re.compile(r"  t(\d+) -> t(\d+);")


def svg(graph):
    """Returns a picture of a recorded graph; None if it is not recorded, or Graphviz is missing and it is small."""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "graph.dot")
        try:
            graph.draw(path)
        except ValueError:
            return None
        if graph.tasks > MOST_TASKS:
            with open(path, encoding="utf-8") as file:
                return summary(*levels(file))
        if shutil.which("dot") is None:
            return None
        drawn = subprocess.run(["dot", "-Tsvg", path], capture_output=True, text=True, check=True).stdout
        return drawn[drawn.index("<svg") :]


def levels(lines):
    """Returns the number of tasks of each kernel at each level, the length of the longest path to it, and colours."""
    kernels, colors, level = {}, {}, collections.defaultdict(int)
    for line in lines:  # an edge follows the lines of its two tasks
        if node := NODE.match(line):
            name = node[2].partition("\\n")[0].replace("\\", "")
            kernels[node[1]], colors[name] = name, node[3]
        elif edge := EDGE.match(line):
            level[edge[2]] = max(level[edge[2]], level[edge[1]] + 1)
    counts = collections.defaultdict(collections.Counter)
    for task, name in kernels.items():
        counts[level[task]][name] += 1
    return counts, colors


def summary(counts, colors):
    """Returns a chart of the tasks of each kernel at each level."""
    total = sum((c for c in counts.values()), collections.Counter())
    together = -(-len(counts) // MOST_BARS)  # levels of one bar
    bars = collections.defaultdict(collections.Counter)
    for level, count in counts.items():
        bars[level // together].update(count)
    width, height, left = 700, 240, 60
    scale = height / max(sum(bar.values()) for bar in bars.values())
    step = (width - left) / len(bars)
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height + 60}" font-family="sans-serif" font-size="12">',
        f'<text x="{left}" y="14">{sum(total.values())} tasks at {len(counts)} levels'
        + (f", {together} levels a bar" if together > 1 else "")
        + "</text>",
    ]
    for place, bar in sorted(bars.items()):
        y = height + 20
        for name, count in sorted(bar.items()):
            y -= count * scale
            parts.append(
                f'<rect x="{left + place * step:.2f}" y="{y:.2f}" width="{0.9 * step:.2f}" height="{count * scale:.2f}" '
                f'fill="{colors[name]}"><title>{html.escape(name)}: {count}</title></rect>'
            )
    parts.append(f'<text x="0" y="32">{max(sum(bar.values()) for bar in bars.values())}</text>')
    x = left
    for name, count in sorted(total.items()):
        text = f"{name}: {count}"
        parts.append(f'<rect x="{x}" y="{height + 32}" width="12" height="12" fill="{colors[name]}"/>')
        parts.append(f'<text x="{x + 16}" y="{height + 43}">{html.escape(text)}</text>')
        x += 30 + 7 * len(text)
    return "".join(parts) + "</svg>"
