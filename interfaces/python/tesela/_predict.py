"""Predicted runs of recorded graphs on other machines."""

import json
import os

from . import _tesela
from ._trace import Schedule, percent

__all__ = ["predict", "Prediction"]


class Prediction(Schedule):
    """A predicted run, from `predict`: the attributes of `trace`, with predicted times.

    Attributes
    ----------
    seconds : float
        Predicted time.
    interpolated_share : float
        Share of the tasks' time from shapes without a measured time.
    interpolated_kernels : list of str
        Performance models of these tasks.
    bounds : dict
        Seconds: no schedule is faster than `lower_bound`, the maximum of `path` and `area`.
    """

    def _tables(self):
        about = [f"predicted for {self.machine['host']}, {percent(self.interpolated_share)} interpolated"]
        return [[about], *super()._tables()]


def predict(graph, machine, *, gpus=None, cores=None):
    """Predict the run of a recorded graph on a machine of which `tesela predict record` wrote a folder.

    The tasks are those that the graph inserted here, also of your kernels. A list schedule places them with the
    machine's times and links: each goes to the worker on which it ends first. The simulator is not needed.

    Parameters
    ----------
    graph : Graph
        Made with `record=True`.
    machine : str or path
        The folder, such as 'docs/machines/two-cores'.
    gpus, cores : int
        Workers; by default the machine's GPUs, and the cores that they leave.

    Returns
    -------
    Prediction
        Its `seconds`, `bounds`, `tasks`, ...; `compare_traces({"measured": t, "predicted": p})` draws it below the
        measured schedule of a `trace`.

    Raises
    ------
    FileNotFoundError
        If the folder describes no machine.
    OSError
        If a kernel has no times there; the message says what to record.
    ValueError
        If the graph was not recorded, or the machine has fewer workers.

    Examples
    --------
    >>> import tesela
    >>> try:
    ...     tesela.predict(tesela.Graph(record=True), "nowhere")
    ... except FileNotFoundError as error:
    ...     print(str(error).split(":")[0])
    nowhere is no folder of a machine
    """
    if not isinstance(graph, _tesela.Graph):
        raise TypeError(f"graph must be a tesela.Graph, not {type(graph).__name__}")
    folder = os.fspath(machine)
    path = os.path.join(folder, "machine.json")
    if not os.path.exists(path):
        command = f"tesela predict record --out {folder} -- COMMAND"
        raise FileNotFoundError(f"{folder} is no folder of a machine: record one there with `{command}`")
    with open(path, encoding="utf-8") as file:
        about = json.load(file)
    gpus = about["gpus"] if gpus is None else gpus
    if cores is None:  # as a Runtime chooses them there: one drives each GPU, and one inserts
        cores = max(about["cores"] - gpus - 1, 0) if gpus else about["cores"]
    for name, number in [("gpus", gpus), ("cores", cores)]:
        if not 0 <= number <= about[name]:
            raise ValueError(f"{name} is {number}, and {folder} has {about[name]}: record a machine that has them")
    recording, figures = _tesela._predict(graph, folder, cores, gpus)
    figures["machine"] = {"host": about["name"], "cpu": about.get("processor", ""), "cores": cores, "gpus": gpus,
                          "scheduler": "list"}
    return Prediction(f"predicted for {about['name']}", recording, figures)
