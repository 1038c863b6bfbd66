"""Writes the reference of the command from `tesela help COMMAND --all`."""

import json
import os
import re
import subprocess

from links import put
from text import indented, prose

KEPT = {}


def run(program, *words):
    """Returns the output of the program, or of a former call if the program has not changed."""
    stamp = str(os.stat(program).st_mtime_ns)
    if KEPT.get("program") != stamp:
        KEPT.clear()
        KEPT["program"] = stamp
    key = " ".join(words)
    if key not in KEPT:
        KEPT[key] = call(program, *words)
    return KEPT[key]


def call(program, *words):
    environment = {**os.environ, "COLUMNS": "120", "LC_ALL": "C.UTF-8"}
    return subprocess.run([program, *words], capture_output=True, text=True, check=True, env=environment,
                          stdin=subprocess.DEVNULL).stdout


def rows_of(lines):
    """Returns (name, text) of rows in two columns; a text goes on in lines that begin with its column."""
    found = []
    for line in lines:
        if line[:2] == "  " and line[2:3].strip():
            beside = len(line) > 26 and line[25] == " "
            found.append([line[:26].strip(), line[26:]] if beside else [line.strip(), ""])
        elif found and line.strip():
            found[-1][1] += " " + line.strip()
    return found


def sections(text):
    """Returns the introduction and the (title, lines) of a help text."""
    parts, lines = [("", [])], text.split("\n")
    for line in lines:
        if re.match(r"[A-Z][\w ]*:$", line):
            parts.append((line[:-1], []))
        else:
            parts[-1][1].append(line)
    return parts


def page_of(program, command):
    """Returns the name's text and the page of a command, and the names of its sub-commands."""
    text = run(program, "help", *command)
    if "\nSubcommands:\n" not in text:
        text = run(program, "help", *command, "--all")
    name = "tesela " + " ".join(command)
    parts = sections(text)
    about = about_of(parts)
    out, inner = [f"{prose(about, {})}\n", f".. program:: tesela-{'-'.join(command)}\n"], []
    for title, lines in parts[1:]:
        if title in ("Example", "Examples"):
            text = "\n".join(re.sub("^  ", "", line) for line in lines).strip()
            out.append(f"**{title}**\n\n.. code-block:: sh\n\n{indented(text, 3)}\n")
            continue
        rows = rows_of(lines)
        if title == "Subcommands":
            inner = [name for name, _ in rows]
            continue
        out.append(f"**{title}**\n")
        for head, meaning in rows:
            if head.startswith("-"):
                out.append(f".. option:: {head}\n\n{indented(prose(meaning, {}), 3)}\n")
            else:
                out.append(f"``{head}``\n   {prose(meaning, {}) or '…'}\n")
    return about, name, "\n".join(out), inner


def about_of(parts):
    return " ".join(line for line in parts[0][1] if line and not line.startswith("Usage:"))


def write(program, target, kept):
    """Writes a page for each command. Returns the pages. `kept` is a file for the outputs of the program."""
    pages = []
    if kept.exists():
        KEPT.update(json.loads(kept.read_text()))
    groups = sections(run(program, "--help"))
    index = ["The command tesela\n==================\n",
             "``tesela COMMAND [options]``. Exit codes: 0 done, 1 numerical failure, 2 wrong use or unreadable input, 3 "
             "environment, 128 + s after signal s. Each command has a manual page (``man tesela-qr``); ``tesela "
             "completion`` prints the completion of bash, zsh and fish.\n"]
    for title, lines in groups[1:]:
        if title in ("Options", "Example", "Examples"):
            continue
        index.append(f"**{title}**\n")
        for command, _ in rows_of(lines):
            if command == "bench" and not os.path.exists(program + "-bench"):
                continue  # scripts/demo does not build it
            about, name, body, inner = page_of(program, [command])
            clause = prose(re.split("[,;:]", about)[0], {})
            head = f"{name}: {clause}"
            text = [f"{head}\n{'=' * len(head)}\n", body.removeprefix(clause + "\n")]
            for one in inner:
                _, inner_name, inner_body, deeper = page_of(program, [command, one])
                text += [f"{inner_name}\n{'-' * len(inner_name)}\n", inner_body]
                for two in deeper:
                    _, deeper_name, deeper_body, _ = page_of(program, [command, one, two])
                    text += [f"{deeper_name}\n{'~' * len(deeper_name)}\n", deeper_body]
            put(target / f"{command}.rst", "\n".join(text))
            pages.append(command)
            index.append(f":doc:`tesela {command} <{command}>`\n   {prose(about, {})}\n")
    index.append(".. toctree::\n   :hidden:\n\n" + "\n".join(f"   tesela {page} <{page}>" for page in pages) + "\n")
    put(target / "index.rst", "\n".join(index))
    put(kept, json.dumps(KEPT))
    return pages
