"""Configuration of the site; scripts/docs runs it. Its source is a copy of the guides with generated references."""

import os
import pathlib
import sys

root = pathlib.Path(os.environ["TESELA_ROOT"])
sys.path[:0] = [str(root / "docs/site"), os.environ["TESELA_BUILD"] + "/python"]
import links  # noqa: E402
import references  # noqa: E402

project, author, copyright = "Tesela", "The Tesela authors", "the Tesela authors, BSD-3-Clause"
release = version = references.version(root)
extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon", "sphinx_copybutton", "links"]
autodoc_typehints = "none"
napoleon_google_docstring = False
tesela_root = root
exclude_patterns = ["README.md"]
myst_heading_anchors = 4
myst_enable_extensions = ["attrs_inline", "deflist"]
suppress_warnings = ["myst.header", "misc.highlighting_failure"]
html_theme, html_title, html_short_title = "furo", f"Tesela {release}", "Tesela"
html_static_path, html_css_files = ["style.css", "source.css"], ["style.css"]
html_show_sphinx, html_copy_source, html_show_search_summary = False, False, False
html_theme_options = {"navigation_with_keys": True}
highlight_language, smartquotes, default_role = "none", False, "py:obj"
cpp_index_common_prefix = ["tesela::kernels::", "tesela::"]
cpp_maximum_signature_line_length = 100
c_maximum_signature_line_length = 100
python_maximum_signature_line_length = 100
toc_object_entries = False
copybutton_prompt_text = r">>> |\.\.\. |\$ "
copybutton_prompt_is_regexp = True


def plain_bars(app, what, name, thing, options, lines):
    """Lets |x| and ||x|| in docstrings be text."""
    for i, line in enumerate(lines):
        if not line.lstrip().startswith((">>>", "...")):
            lines[i] = line.replace("||", "‖").replace("|", r"\|")


def setup(app):
    app.connect("autodoc-process-docstring", plain_bars)
    references.write(app, root)
