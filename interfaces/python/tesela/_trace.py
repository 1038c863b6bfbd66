"""The context manager `trace`: schedules and figures of a block's tasks, in a notebook, a terminal or a page."""

import html
import json
import os

from . import _tesela

__all__ = ["trace", "compare_traces"]

CAUSES = {  # of a worker's idle time
    "data": "waits for tiles",
    "ready": "other tasks ready",
    "dependences": "dependences",
    "insertion": "not inserted yet",
    "end": "no task left",
}


class Schedule:
    """Tasks with their times and workers, and figures of them as attributes."""

    def __init__(self, title, recording=None, figures=None):
        self._title, self._recording = title, recording
        self._figures = with_idle(figures) if figures else None

    def __getattr__(self, name):
        figures = self.__dict__.get("_figures")
        if figures is None or name not in figures:
            if not name.startswith("_") and figures is None:
                raise AttributeError(f"trace has no {name!r} before its block ends: use `with tesela.trace() as t:`")
            raise AttributeError(f"trace has no attribute {name!r}")
        return figures[name]

    def __dir__(self):
        return [*super().__dir__(), *(self._figures or ())]

    def save(self, path):
        """Write one HTML page, which needs no network: schedule, graph, kernels, models, memory, bounds.

        Parameters
        ----------
        path : str or path
            The file, such as 'run.html'.
        """
        self._require_end()
        page = self._recording.page(self._title, json.dumps({"machine": self.machine}))
        with open(os.fspath(path), "w", encoding="utf-8") as file:
            file.write(page)

    def _require_end(self):
        if self._figures is None:
            raise RuntimeError("the trace has no tasks before its block ends: use `with tesela.trace() as t:`")

    def __repr__(self):
        if self._figures is None:
            return "<tesela.trace before the end of its block>"
        return "\n".join(line for rows in self._tables() for line in aligned(rows))

    def _repr_html_(self):
        if self._figures is None:
            return html.escape(repr(self))
        picture = self._recording.picture() if len(self.tasks["start"]) else ""
        return picture + "".join(html_table(rows) for rows in self._tables())

    def _tables(self):
        """Returns tables: lists of rows of text; the first row is a title."""
        bounds, count = self.bounds, len(self.tasks["start"])
        used = [w for w in self.workers if w["tasks"]]
        lines = [[f"{count} tasks in {duration(self.seconds)} on {len(used)} of {len(self.workers)} workers"]]
        if self.incomplete:
            lines.append([f"{self.incomplete} more tasks did not run in the block"])
        if count == 0:
            return [lines]
        kernels = [["kernel", "on", "tasks", "median", "sum", "share", "GFLOP/s"]]
        for k in self.kernels:
            rate = number(k["gflops"]) if k["gflops"] > 0 else "–"
            sums = duration(k["median"]), duration(k["seconds"]), percent(k["share"])
            kernels.append([k["kernel"], k["place"], str(k["tasks"]), *sums, rate])
        total = self.seconds * len(used)
        times = {"in kernels": sum(w["busy"] for w in used)}
        times |= {CAUSES[cause]: sum(w[cause] for w in used) for cause in CAUSES}
        workers = [["workers with tasks", "time", "share"]]
        workers += [[name, duration(s), percent(s / total)] for name, s in times.items() if s > 0]
        limits = [["bound", "time"]]
        limits.append(["longest path", duration(bounds["path"])])
        limits.append(["all work, divided over the workers", duration(bounds["area"])])
        limits.append(["critical path, measured", duration(bounds["critical_path"])])
        limits.append(["run", f"{duration(self.seconds)}, {number(self.seconds / bounds['lower_bound'])} x the bound"])
        moved = [["from", "to", "transfers", "MB"]]
        moved += [[m["from"], m["to"], str(m["transfers"]), number(m["bytes"] / 1e6)] for m in self.bytes_moved]
        return [lines, kernels, workers, limits] + ([moved] if len(moved) > 1 else [])


class trace(Schedule):
    """Record the tasks of a block: when and where each ran, and why workers waited.

    A notebook shows the schedule (a row for each worker, the critical path marked) and tables; `save` writes a page to
    zoom and search. The workers need no restart, and StarPU no FxT. One block at a time records.

    Parameters
    ----------
    title : str
        Title of the page.

    Attributes
    ----------
    seconds : float
        From the first start to the last end.
    tasks : dict of arrays
        `kernel`, `label`, `tiles`, `worker`, `start`, `end`, `inserted`, `priority`, `gflop`, `id`, by start.
    kernels : list of dict
        For each kernel and place ('cpu' or 'gpu'): `tasks`, `median`, `seconds`, `share`, `gflops`.
    models : list of dict
        For each kernel and size of tiles: measured `least`, `median`, `most` and the performance model's `model`, in
        seconds; 0 if it has none.
    workers : list of dict
        `busy`, and idle seconds by cause.
    idle : dict
        Idle seconds of all workers: `data` (waits for tiles), `ready` (other tasks were ready), `dependences`,
        `insertion` (tasks were not inserted yet), `end` (no task left).
    bytes_moved : list of dict
        `from`, `to`, `transfers`, `bytes` for each pair of memories.
    bounds : dict
        Seconds: `path` and `area` as in `Bounds`, their maximum `lower_bound`, the measured `critical_path`.
        `unmodelled` tasks have no performance model, and the median of the run replaces it.
    critical_path : array
        Indices of its tasks.
    machine : dict
        `host`, `cpu`, `cores`, `gpus`, `scheduler`.
    incomplete : int
        Tasks that were inserted in the block and had not run at its end.

    Examples
    --------
    >>> import numpy as np, tesela
    >>> a = tesela.TileMatrix(np.asfortranarray(np.eye(4)), 2)
    >>> with tesela.trace() as t:
    ...     with tesela.Graph() as g:
    ...         g.potrf(a[0, 0])
    ...         g.potrf(a[1, 1])
    >>> [(k["kernel"], k["tasks"]) for k in t.kernels]
    [('potrf', 2)]
    """

    def __init__(self, title="tesela"):
        super().__init__(title)

    def __enter__(self):
        if self._recording is not None:
            raise RuntimeError("this trace has recorded a block: make another one")
        self._recording = _tesela._Recording()
        return self

    def __exit__(self, *_):
        self._recording.stop()
        self._figures = with_idle(self._recording.figures())
        return False


def with_idle(figures):
    """Return the figures with the idle seconds of all workers, by cause."""
    figures["idle"] = {cause: sum(worker[cause] for worker in figures["workers"]) for cause in CAUSES}
    return figures


class Picture:
    """A picture for a notebook, from `compare_traces`."""

    def __init__(self, svg):
        self._svg = svg

    def _repr_svg_(self):
        return self._svg

    def save(self, path):
        """Write an SVG file."""
        with open(os.fspath(path), "w", encoding="utf-8") as file:
            file.write(self._svg)


def compare_traces(traces, *further):
    """Draw the schedules of several traces, one below the other, with one time axis.

    Parameters
    ----------
    traces : dict of str to trace, or trace
        Each under its title.
    further : trace
        Instead of a dict: further traces, under the numbers 1, 2, ...

    Returns
    -------
    Picture
        A notebook shows it; `save('compare.svg')` writes it.

    Examples
    --------
    >>> import numpy as np, tesela
    >>> a = tesela.TileMatrix(np.asfortranarray(np.eye(4)), 2)
    >>> with tesela.trace() as t:
    ...     with tesela.Graph() as g:
    ...         g.potrf(a[0, 0])
    >>> picture = tesela.compare_traces({"first": t, "again": t})
    """
    if further or not hasattr(traces, "values"):
        traces = dict(enumerate((traces, *further), 1))
    for t in traces.values():
        t._require_end()
        if len(t.tasks["start"]) == 0:
            raise ValueError("a trace without tasks has no picture")
    return Picture(_tesela._compare([(str(title), t._recording) for title, t in traces.items()]))


def number(value):
    return f"{value:.0f}" if value >= 1000 else f"{value:.3g}"


def percent(part):
    return f"{100 * part:.1f} %"


def duration(seconds):
    for unit, size in [("s", 1), ("ms", 1e-3), ("µs", 1e-6)]:
        if seconds >= size:
            return f"{number(seconds / size)} {unit}"
    return f"{number(seconds / 1e-6)} µs"


def aligned(rows):
    """Returns the rows as lines with columns of one width, after an empty line."""
    widths = [max(len(row[k]) for row in rows if k < len(row)) for k in range(len(rows[0]))]
    return [""] * (len(rows[0]) > 1) + ["  ".join(cell.ljust(w) for cell, w in zip(row, widths)).rstrip() for row in rows]


def html_table(rows):
    if len(rows[0]) == 1:
        return "".join(f"<p>{html.escape(row[0])}</p>" for row in rows)
    cells = ["".join(f"<{tag}>{html.escape(cell)}</{tag}>" for cell in row) for tag, row in zip(["th"] + ["td"] * len(rows), rows)]
    return "<table>" + "".join(f"<tr>{row}</tr>" for row in cells) + "</table>"
