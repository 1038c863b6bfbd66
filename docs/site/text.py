"""Turns the plain text of doc comments into reStructuredText."""

import re

FORMULAS = [
    (r"\|\|", "‖"), (r"<=", "≤"), (r">=", "≥"), (r"(?<![A-Za-z])([a-z0-9]{1,3}|\)) x (?=[a-z0-9(])", r"\1 × "),
]
SUP = r"\^(-?(?:[A-Za-z0-9]|\d+)\b|\([^() ]*(?: [-+] [^() ]*)*\))"


def escaped(text):
    return re.sub(r"([\\*`|_<>\[\]])", r"\\\1", text)


def formulas(text):
    """Returns prose with escaped characters, and its exponents and indices as such."""
    for pattern, sign in FORMULAS:
        text = re.sub(pattern, sign, text)
    result, at = [], 0
    for match in re.finditer(r"(?<=[A-Za-z0-9)\]‖])" + SUP + r"|(?:(?<=\b[A-Za-z])|(?<=[‖)]))_(\w{1,3})\b(?!\()", text):
        role, inner = ("sup", match[1]) if match[1] is not None else ("sub", match[2])
        inner = inner.replace("-", "−")
        result += [escaped(text[at:match.start()]), f"\\ :{role}:`{inner.strip('()')}`\\ "]
        at = match.end()
    return "".join([*result, escaped(text[at:])])


def prose(text, names):
    """Returns one paragraph: `code` becomes a link if it is a known name, otherwise a literal."""
    parts = re.split(r"`([^`\n]+)`", " ".join(text.split()))
    for i, part in enumerate(parts):
        if i % 2 == 0:
            found = re.split(r"\b(docs/[a-z-]+\.md(?:#[a-z0-9-]+)?)", part)
            for k, piece in enumerate(found):
                if k % 2:
                    page, _, anchor = piece[5:].partition(".md")
                    found[k] = f":guide:`{page}{anchor}`"
                else:
                    found[k] = formulas(piece)
            parts[i] = "".join(found)
            continue
        name = re.sub(r"\(.*\)$|^tesela::", "", part)
        before = "" if not parts[i - 1] or parts[i - 1][-1:] in " (" else "\\ "
        role = f":cpp:any:`{part} <{names[name]}>`" if name in names else f"``{part}``"
        parts[i] = f"{before}{role}\\ "
    return "".join(parts).strip()


def indented(text, by):
    return "\n".join(" " * by + line if line else "" for line in text.split("\n"))


LABEL = re.compile(r"^([A-Za-z][\w, ./|()*:-]{0,24}?)  +(\S.*)$|^(Returns|Throws|Waits|Method) (\S.*)$")


def rst(comment, names):
    """Returns a doc comment as reStructuredText: paragraphs, labelled parts, lists and indented text."""
    out, lines, at = [], comment.split("\n"), 0
    while at < len(lines):
        line = lines[at]
        if not line.strip():
            at += 1
            continue
        label = LABEL.match(line) if at == 0 or not lines[at - 1].strip() or (out and out[-1].startswith(":")) else None
        end = at + 1
        if label and out:
            while end < len(lines) and lines[end].startswith("  ") and lines[end].strip():
                end += 1
            name, first = (label[1], label[2]) if label[1] else (label[3], label[4])
            text = " ".join([first, *(part.strip() for part in lines[at + 1:end])])
            out.append(f":{escaped(name.strip()).replace(':', chr(92) + ':')}: {prose(text, names)}")
        elif line.startswith(("    ", "   ")):
            while end < len(lines) and (lines[end].startswith("  ") or not lines[end].strip()):
                end += 1
            out.append(".. code-block:: none\n\n" + indented("\n".join(lines[at:end]).rstrip(), 3))
        elif re.match(r"[-*] ", line):
            while end < len(lines) and lines[end].startswith("  ") and lines[end].strip():
                end += 1
            out.append("- " + prose(" ".join([line[2:], *lines[at + 1:end]]), names))
        else:
            while end < len(lines) and lines[end].strip() and not re.match(r"    |- ", lines[end]) \
                    and not (out and LABEL.match(lines[end])):
                end += 1
            out.append(prose(" ".join(lines[at:end]), names))
        at = end
    text = ""
    for above, below in zip(["", *out], out):
        together = above[:1] == below[:1] and (below[:2] == "- " or (below[:1] == ":" and not below.startswith(":cpp")))
        text += ("\n" if together else "\n\n" if text else "") + below
    return text
