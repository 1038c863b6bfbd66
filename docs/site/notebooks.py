"""Shows a notebook as a page of the site, with the outputs that it contains."""

import html
import json
import re

from markdown_it import MarkdownIt
from pygments import highlight, lexers

LINK = re.compile(r"\]\(\.\./\.\./(docs/[\w/-]+)\.md(?:#([\w-]+))?\)")


def body_of(root, text, formatter, up, target_of):
    """Returns the HTML of the cells. `up`: the way to the site's root; links go to the site's pages."""

    def link(match):
        page, anchor = match[1], match[2]
        if anchor and f'<a id="{anchor}">' in (root / f"{page}.md").read_text():
            anchor = target_of(f"{page}.md", anchor).replace("--", "-")  # as docutils writes the id
        return f"]({up}{page}.html{'#' + anchor if anchor else ''})"

    parts = []
    for cell in json.loads(text)["cells"]:
        source = "".join(cell["source"])
        if cell["cell_type"] == "markdown":
            parts.append(MarkdownIt().render(LINK.sub(link, source)))
            continue
        parts.append(highlight(source, lexers.get_lexer_by_name("python"), formatter))
        for output in cell["outputs"]:
            data = output.get("data", {})
            shown = "".join(data.get("text/html") or data.get("image/svg+xml") or [])
            plain = "".join(output.get("text") or data.get("text/plain") or [])
            parts.append(f'<div class="output">{shown or "<pre>" + html.escape(plain) + "</pre>"}</div>')
    return f'<article class="notebook">{"".join(parts)}</article>'
