"""Writes the reference of C++ and C as pages in reStructuredText."""

import collections
import re

from sphinx.util import logging

from declarations import Headers, run_doxygen
from links import put
from text import indented, prose, rst

log = logging.getLogger(__name__)
FOLDERS = ["algorithms", "codelets", "tiles", "runtime", "host"]
OF_KERNELS = {"name", "color", "cores_only", "cpu", "cuda", "flops", "cost_key", "Args"}


def title(text, mark="="):
    return f"{text}\n{mark * len(text)}\n"


TITLES = {"algorithms": "", "codelets": "Kernels: ", "tiles": "Matrices: ", "runtime": "", "host": ""}
NAMES = {"mimo": "MIMO", "qr": "QR", "toeplitz": "Toeplitz", "givens": "Givens rotations", "io": "files",
         "tiles": "Matrices and tiles", "host": "Numerics on the host", "runtime": "Runtime and graphs"}


def title_of(page):
    """Returns the title of a page of C++."""
    folder, _, family = page.partition("-")
    name = NAMES.get(family or folder, (family or folder).replace("_", " "))
    text = TITLES[folder] + name if family else name
    return text[0].upper() + text[1:]


def is_kernel(declaration):
    return any(member.name.endswith("::color") for member in declaration.members)


def page_of(file):
    """Returns the page of a header: its folder, or for a folder of families folder-family."""
    parts = file.split("/")
    return "-".join(parts[:2]) if len(parts) > 2 else parts[0]


def rows(declarations, names):
    """Returns data members and values as a list of definitions, all with one comment together. A name that the comment
    of its class explains stands alone."""
    out = []
    for declaration in declarations:
        text = declaration.signature if declaration.kind == "value" else plain(declaration)
        if out and (declaration.shares or not (declaration.comment or out[-1][1])):
            out[-1][0].append(text)
        else:
            out.append(([text], declaration.comment))
    lines = []
    for signatures, comment in out:
        head = ", ".join(f"``{signature}``" for signature in signatures)
        lines.append(f"{head}\n{indented(rst(comment, names), 3)}\n")
    return "\n".join(lines)


def plain(declaration):
    """Returns the signature of a member without its class."""
    own = declaration.name.rpartition("::")
    text = " ".join(declaration.signature.replace(own[0] + own[1] + own[2], own[2]).replace("`", "").split())
    return re.sub(r"< (?=\S)", "<", re.sub(r"(?<=[\w>*&]) >", ">", text))


class Reference:
    """Writes pages for the declarations of one language."""

    def __init__(self, headers, domain):
        self.headers, self.domain = headers, domain
        self.names, self.undocumented, self.count, self.types = {}, [], 0, collections.defaultdict(list)
        for declarations in headers.by_file.values():
            for declaration in declarations:
                self.types[declaration.name.rpartition("::")[2]].append(declaration)
                if domain == "cpp" and declaration.kind in ("struct", "class", "function", "enum", "concept", "typedef"):
                    self.names.setdefault(declaration.name, f"{declaration.space}::{declaration.name}")
        for declarations in headers.by_file.values():
            for declaration in declarations:
                for member in declaration.members:
                    if member.kind == "variable" and not member.comment:
                        member.comment = self.type_of(member, declaration)

    def type_of(self, member, owner):
        """Returns the type that explains a data member: an enumeration, or a class with the member's name (`plan` of
        type `BulgePlan`). Returns an empty text if no such type has a comment."""
        type_ = re.match(r"(?:(?:static|constexpr|const|inline) )*(?:\w+::)*(\w+)(?: ?<.*?>)? ", member.signature)
        if not type_:
            return ""
        for one in [member for member in owner.members if member.kind == "enum"] + self.types.get(type_[1], []):
            name = one.name.rpartition("::")[2]
            same = name.lower().endswith(member.name.rpartition("::")[2].replace("_", ""))
            if name == type_[1] and one.comment and (one.kind == "enum" or same):
                return f"`{one.name}`"
        return ""

    def check(self, declaration, owner=None):
        """Notes a public name without a comment."""
        self.count += 1
        own = declaration.name.rpartition("::")[2]
        if declaration.kind == "constructor" or own in ("operator=", "value_type"):
            return  # the class describes them
        if own == "cost_key" and owner:
            return  # docs/write-your-own.md does
        if declaration.kind == "value" and len(owner.members) == 1 and owner.comment:
            return
        if declaration.comment or (owner and re.search(rf"\b{re.escape(own)}\b", owner.comment)):
            return
        name = f"{declaration.file}: {owner.name + '::' if declaration.kind == 'value' else ''}{declaration.name}"
        if name not in self.undocumented:
            self.undocumented.append(name)

    def directive(self, kind, signatures, body):
        head = f".. {self.domain}:{kind}:: "
        lines = [head + signatures[0], *(" " * len(head) + signature for signature in signatures[1:])]
        return "\n".join(lines) + "\n\n" + indented(body, 3) + "\n"

    def group(self, declarations):
        """Returns runs of declarations of one kind that share a comment."""
        runs = []
        for declaration in declarations:
            if declaration.shares and runs and runs[-1][-1].kind == declaration.kind:
                runs[-1].append(declaration)
            else:
                runs.append([declaration])
        return runs

    def functions(self, declarations):
        out = []
        for run in self.group(declarations):
            signatures = list(dict.fromkeys(self.clean(d) for d in run))
            out.append(self.directive("function", signatures, rst(run[0].comment, self.names) + self.source(run[0])))
        return "\n".join(out)

    def source(self, declaration):
        """Returns a link to the text of a declaration that is no member."""
        if self.domain == "c" or "::" in declaration.name:
            return ""
        return f"\n\n:source:`Source <{declaration.file}#L-{declaration.first + 1}>`"

    def clean(self, declaration):
        """Returns a signature that Sphinx's domain reads."""
        text = declaration.signature
        text = re.sub(r"\b(consteval|constexpr|inline|virtual|friend)\b ?|\[\[nodiscard\]\] ?", "", text)
        text = re.sub(r"\s*=\s*0$|\s*override\b|\s*final\b", "", text)
        text = re.sub(r"\s*<\s*", "<", re.sub(r"(?<![-=>])\s+>(?!=)", ">", text)) if "operator" not in text else text
        return " ".join(text.split())

    def of_class(self, declaration):
        """Returns the body of a class: its comment, data, functions."""
        inner_class = declaration.shares and "::" in declaration.name
        parts = [] if inner_class else [rst(declaration.comment, self.names)]
        kernel = is_kernel(declaration)
        for member in declaration.members:
            if not (kernel and member.name.rpartition("::")[2] in OF_KERNELS):
                self.check(member, declaration)
            for value in member.members:
                self.check(value, member)
        if kernel:
            calls = [re.sub(r"^.*?::(cpu|cuda)\(", r"\1(", self.clean(m)) for m in declaration.members
                     if m.name.endswith(("::cpu", "::cuda"))]
            parts.append("Variants: " + ", ".join(f"``{call}``" for call in calls))
        members = [m for m in declaration.members if not (kernel and m.name.rpartition("::")[2] in OF_KERNELS)]
        if data := [m for m in members if m.kind in ("variable", "typedef")]:
            parts.append(rows(data, self.names))
        parts += [self.enum(m) for m in members if m.kind == "enum"]
        inner = [m for m in members if m.kind in ("function", "constructor")]
        if inner:
            parts.append(self.functions(inner))
        return "\n\n".join(part for part in parts if part)

    def enum(self, declaration):
        body = rst(declaration.comment, self.names)
        return self.directive("enum" if self.domain == "c" else "enum-class", [declaration.name],
                              "\n\n".join([body, rows(declaration.members, self.names)]))

    def header(self, file):
        """Returns the section of a header."""
        out, space = [], None
        declarations = self.headers.by_file[file]
        structs = {d.name for d in declarations if d.kind == "struct"}
        if self.domain == "c":
            declarations = [d for d in declarations if d.kind != "typedef" or d.name not in structs]
        for run in self.group(declarations):
            first = run[0]
            for declaration in run:
                self.check(declaration)
                for value in declaration.members if declaration.kind == "enum" else []:
                    self.check(value, declaration)
            if first.space != space and self.domain == "cpp":
                space = first.space
                out.append(f".. cpp:namespace:: {space}\n")
            if first.kind == "function":
                out.append(self.functions(run))
            elif first.kind in ("struct", "class", "union"):
                out += [self.directive(first.kind, [self.clean(d)], self.of_class(d)) for d in run]
            elif first.kind == "concept":
                out.append(self.directive("concept", [first.signature], rst(first.comment, self.names)))
            elif first.kind == "enum":
                if first.name.strip(":").startswith("@") or not first.name:
                    out.append("\n\n".join([rst(first.comment, self.names), rows(first.members, self.names)]) + "\n")
                else:
                    out += [self.enum(d) for d in run]
            elif first.kind == "typedef" and self.domain == "cpp":
                out += [self.directive("type", [self.clean(d)], rst(d.comment, self.names)) for d in run]
            else:
                for one in run:
                    signature = plain(one) if first.kind == "typedef" else re.split(r" =|\{", self.clean(one))[0]
                    kind = {"typedef": "type", "variable": "var"}[first.kind]
                    out.append(self.directive(kind, [signature], rst(one.comment, self.names) + self.source(one)))
        return "\n".join(out)


def cpp(root, work, target, summaries):
    """Writes a page for each family of the C++ headers. Returns the reference."""
    headers = Headers(root, run_doxygen(root, FOLDERS, work))
    reference = Reference(headers, "cpp")
    pages = collections.defaultdict(list)
    for file in sorted(headers.by_file):
        pages[page_of(file)].append(file)
    order = sorted(pages, key=lambda page: (FOLDERS.index(page.split("-")[0]), "-support" in page, page))
    for page in order:
        text = [title(title_of(page)), summaries[page.split("-")[0]] + "\n"]
        family = page.rpartition("-")[2]
        for file in sorted(pages[page], key=lambda file: (not file.endswith(f"/{family}.hpp"), file)):
            text += [title(file.rpartition("/")[2][:-4].replace("_", " ").capitalize(), "-"),
                     f":source:`#include <tesela/{file}> <{file}>`\n", reference.header(file)]
        put(target / f"{page}.rst", "\n".join(text))
    return reference, order


def c(root, work, header, target):
    """Writes the page of tesela.h."""
    headers = Headers(header.parent, run_doxygen(header.parent, [header], work, c=True), c=True)
    reference = Reference(headers, "c")
    text = [title("C and Fortran"), "``#include <tesela.h>``. The Fortran module ``tesela`` (``tesela.f90``) has the same "
            "names. :doc:`/docs/c` explains their use.\n"]
    for file in sorted(headers.by_file):
        text.append(reference.header(file))
    put(target, "\n".join(text))
    return reference
