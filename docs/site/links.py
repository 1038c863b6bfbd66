"""Copies the guides into the site's source with links that hold there, shows sources as pages, and checks all links."""

import html
import os
import pathlib
import posixpath
import re
import shutil
import urllib.parse

import notebooks
from docutils import nodes
from pygments import highlight, lexers
from pygments.formatters import HtmlFormatter
from pygments.util import ClassNotFound
from sphinx.util import logging

log = logging.getLogger(__name__)
LINK = re.compile(r"(!?)\[((?:[^\[\]]|\[[^\[\]]*\])*)\]\(([^)\s]+)\)")
ID = re.compile(r'^<a id="([^"]+)"></a>$', re.MULTILINE)


def target_of(page, anchor):
    """Returns the name of an explicit target, which is unique in the site."""
    return f"{page[:-3].replace('/', '-').lower()}--{anchor}"


def put(file, text):
    """Writes a file if its text is new, so that Sphinx reads only changed pages."""
    if not file.exists() or file.read_text() != text:
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)


class Guides:
    """The Markdown pages, by their path in the repository."""

    def __init__(self, root, pages):
        self.root, self.shown = root, set()
        self.at = {"docs/site/index.md": "index.md"}  # pages whose place in the site differs
        self.texts = {page: (root / page).read_text() for page in pages}
        self.ids = {page: set(ID.findall(text)) for page, text in self.texts.items()}

    def rewritten(self, page, link):
        """Returns a link of a page as it holds in the site."""
        picture, text, url = link[1], link[2], link[3]
        if re.match(r"[a-z]+:", url):
            return link[0]
        folder = posixpath.dirname(self.at.get(page, page)) or "."
        path, _, anchor = url.partition("#")
        path = posixpath.normpath(posixpath.join(posixpath.dirname(page), path)) if path else page
        if path == "README.md":
            path = "index.md"
        if path in self.texts or path == "index.md":
            if anchor in self.ids.get(path, ()):
                return f"[{text}](#{target_of(path, anchor)})"
            back = posixpath.relpath(path, folder)
            return f"[{text}]({'' if path == page and anchor else back}{'#' + anchor if anchor else ''})"
        if picture:
            return f"![{text}]({posixpath.relpath(path, folder)})"
        self.shown.add(path)
        up = posixpath.relpath("source/" + path, folder)
        label = re.sub(r"`([^`]*)`", lambda code: f"<code>{html.escape(code[1])}</code>", text)
        return f'<a href="{up}.html">{label}</a>'

    def write(self, to):
        for page, text in self.texts.items():
            parts = re.split(r"(^```.*?^```$)", text, flags=re.MULTILINE | re.DOTALL)
            for i in range(0, len(parts), 2):
                parts[i] = LINK.sub(lambda link: self.rewritten(page, link), parts[i])
                parts[i] = ID.sub(lambda one: f"({target_of(page, one[1])})=", parts[i])
            put(to / self.at.get(page, page), "".join(parts))
            for picture in re.findall(r"!\[[^\]]*\]\(([^)]+)\)", text):
                path = posixpath.normpath(posixpath.join(posixpath.dirname(page), picture))
                (to / path).parent.mkdir(parents=True, exist_ok=True)
                shutil.copy2(self.root / path, to / path)


def source_role(role, rawtext, text, lineno, inliner, options=None, content=None):
    """:source:`text <path#L-1>` links to the page of a source."""
    label, path = re.match(r"(.*) <(.*)>$", text).groups()
    config = inliner.document.settings.env
    path, _, line = path.partition("#")
    config.app.tesela_shown.add(path)
    up = posixpath.relpath("source/" + path, posixpath.dirname(config.docname) or ".")
    return [nodes.reference(rawtext, label, refuri=f"{up}.html{'#' + line if line else ''}", classes=["source"])], []


def guide_role(role, rawtext, text, lineno, inliner, options=None, content=None):
    """:guide:`eigen#accuracy` links to a heading of docs/eigen.md."""
    page, _, anchor = text.partition("#")
    up = posixpath.relpath(f"docs/{page}", posixpath.dirname(inliner.document.settings.env.docname) or ".")
    return [nodes.reference(rawtext, f"docs/{page}.md", refuri=f"{up}.html{'#' + anchor if anchor else ''}")], []


SOURCE_PAGE = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>{path}</title><link rel="stylesheet" href="{up}_static/pygments.css">
<link rel="stylesheet" href="{up}_static/source.css"><link rel="icon" href="data:,"></head>
<body><header><a href="{up}index.html">Tesela</a> / {path}</header><main>{body}</main></body></html>
"""


def write_sources(app):
    """Writes a page for each source that some page links to, outside of the theme, whose menu would cost minutes."""
    root, out, formatter = app.config.tesela_root, pathlib.Path(app.outdir), HtmlFormatter(lineanchors="L", wrapcode=True)
    waiting = sorted(app.tesela_shown)
    seen = set(waiting)
    while waiting:
        path = waiting.pop()
        file = root / path
        if not file.exists():
            log.warning("no such source: %s", path)
            continue
        if file.is_dir():
            inner = sorted(f"{path}/{one.name}" for one in file.iterdir() if not one.name.startswith((".", "__")))
            waiting += [one for one in inner if one not in seen]
            seen.update(inner)
            body = "".join(f'<li><a href="{file.name}/{posixpath.basename(one)}.html">{posixpath.basename(one)}</a></li>'
                           for one in inner)
            body = f"<ul>{body}</ul>"
        elif file.suffix == ".ipynb":
            body = notebooks.body_of(root, file.read_text(), HtmlFormatter(), "../" * (path.count("/") + 1), target_of)
        else:
            try:
                lexer = lexers.get_lexer_for_filename({".cu": "x.cpp", ".inc": "x.cpp"}.get(file.suffix, file.name))
            except ClassNotFound:
                lexer = lexers.get_lexer_by_name("text")
            body = highlight(file.read_text(errors="replace"), lexer, formatter)
        page = out / f"source/{path}.html"
        page.parent.mkdir(parents=True, exist_ok=True)
        page.write_text(SOURCE_PAGE.format(path=html.escape(path), up="../" * (path.count("/") + 1), body=body))


def check_links(app, exception):
    """Writes the pages of sources, and warns of each link and each picture of the site without a target."""
    if exception or app.builder.name != "html":
        return
    write_sources(app)
    out, ids, links = pathlib.Path(app.outdir), {}, []
    for folder, _, files in os.walk(out):
        for name in files:
            if name.endswith(".html"):
                page = os.path.join(folder, name)
                text = pathlib.Path(page).read_text()
                ids[page] = set(re.findall(r'\b(?:id|name)="([^"]+)"', text))
                text = re.sub(r"<script.*?</script>|<!--.*?-->|<pre>.*?</pre>", "", text, flags=re.DOTALL)
                links += [(page, html.unescape(link)) for link in set(re.findall(r'\b(?:href|src)="([^"]*)"', text))]
    for page, link in links:
        if re.match(r"[a-z]+:|//", link):
            continue
        path, _, anchor = urllib.parse.unquote(link.partition("?")[0]).partition("#")
        target = os.path.normpath(os.path.join(os.path.dirname(page), path)) if path else page
        if os.path.isdir(target):
            target = os.path.join(target, "index.html")
        if not os.path.exists(target) or (anchor and target in ids and anchor not in ids[target]):
            log.warning("%s: dead link %s", os.path.relpath(page, out), link)
    log.info("checked %d links", len(links))
    if app._warncount:
        app.statuscode = 1


def setup(app):
    app.tesela_shown = set()
    app.add_config_value("tesela_root", None, "env")
    app.add_role("source", source_role)
    app.add_role("guide", guide_role)
    app.connect("build-finished", check_links)
    return {"parallel_read_safe": False}
