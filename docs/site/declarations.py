"""Reads the public declarations of headers: names and signatures by Doxygen, comments from the text of the header."""

import dataclasses
import pathlib
import re
import shutil
import subprocess
import xml.etree.ElementTree as ElementTree

HIDDEN = re.compile(r"(^|::)(detail|internal|joining)(::|$)|^std(::|$)|@")
SETTINGS = """INPUT = {inputs}
OUTPUT_DIRECTORY = {out}
FILE_PATTERNS = *.hpp *.h
EXCLUDE_PATTERNS = */internal/*
RECURSIVE = YES
GENERATE_HTML = NO
GENERATE_LATEX = NO
GENERATE_XML = YES
XML_PROGRAMLISTING = NO
EXTRACT_ALL = YES
EXTRACT_STATIC = YES
MARKDOWN_SUPPORT = NO
HAVE_DOT = NO
MACRO_EXPANSION = YES
EXPAND_ONLY_PREDEF = YES
PREDEFINED = TESELA_BOTH= TESELA_INLINE=inline
INCLUDE_GRAPH = NO
SEARCH_INCLUDES = NO
QUIET = YES
WARNINGS = NO
OPTIMIZE_OUTPUT_FOR_C = {c}
"""


@dataclasses.dataclass
class Declaration:
    """A public name."""

    kind: str  # struct, class, concept, function, variable, typedef, enum, value, define
    name: str  # with its class, without the namespace
    space: str  # namespace
    file: str
    line: int
    signature: str
    comment: str = ""
    shares: bool = False  # its comment belongs to the declaration directly above
    trailing: bool = False  # its comment is on its line, and so its alone
    members: list = dataclasses.field(default_factory=list)
    first: int = 0  # lines of the declaration
    last: int = 0


def run_doxygen(root, inputs, out, c=False):
    """Returns the XML files of these headers; their paths are relative to root."""
    out.mkdir(parents=True, exist_ok=True)
    settings = SETTINGS.format(inputs=" ".join(map(str, inputs)), out=out, c="YES" if c else "NO")
    shutil.rmtree(out / "xml", ignore_errors=True)  # of headers that are gone
    subprocess.run(["doxygen", "-"], input=settings, text=True, check=True, cwd=root, stdout=subprocess.DEVNULL)
    return [file for file in (out / "xml").glob("*.xml") if file.name != "index.xml"]


def text_of(element):
    """Returns the text of an element and its links, on one line."""
    return " ".join("".join(element.itertext()).split()) if element is not None else ""


def comment_text(lines):
    """Returns comment lines without their marks."""
    return "\n".join(re.sub(r"^\s*///<? ?", "", line) for line in lines)


def is_comment(line):
    return re.match(r"\s*///(?!<)", line) is not None


def first_line(lines, at):
    """Returns the index of the first line of the declaration whose name is on line `at`."""
    def continues(line):
        code = re.sub(r"\s*//.*", "", line).rstrip()
        return code != "" and not code.endswith((";", "{", "}", ":")) and not code.lstrip().startswith("#")
    while at > 0 and continues(lines[at - 1]):
        at -= 1
    return at


def last_line(lines, at):
    """Returns the index of the last line before the body of a declaration that begins on line `at`."""
    while at + 1 < len(lines) and not re.search(r"[;{}],?$", re.sub(r"\s*//.*", "", lines[at]).rstrip()):
        at += 1
    return at


def trailing_comment(lines, first, last):
    """Returns the comment `///<` of a declaration on these lines, with its continuation."""
    for at in range(first, last + 1):
        if "///<" in lines[at]:
            found = [lines[at][lines[at].index("///<"):]]
            while at + 1 < len(lines) and re.match(r"\s*///<", lines[at + 1]):
                at += 1
                found.append(lines[at])
            return comment_text(found), at
    return "", last


def comment_above(lines, first):
    begin = first
    while begin > 0 and is_comment(lines[begin - 1]):
        begin -= 1
    return comment_text(lines[begin:first])


class Headers:
    """All public declarations of some headers, by file."""

    def __init__(self, root, files, c=False):
        self.root, self.c, self.texts, self.by_file = root, c, {}, {}
        compounds = {}
        for file in files:
            for compound in ElementTree.parse(file).getroot().iter("compounddef"):
                compounds[compound.get("id")] = compound
        for compound in compounds.values():
            kind, name = compound.get("kind"), compound.findtext("compoundname")
            if HIDDEN.search(name) or (kind == "file") != c:
                if not (c and kind in ("struct", "union")):
                    continue
            if kind in ("namespace", "file"):
                for member in compound.iter("memberdef"):
                    self.add_member(member, "" if kind == "file" else name, "", None)
            elif kind in ("struct", "class", "union") and compound.get("prot", "public") == "public":
                self.add_class(compound, kind, name)
            elif kind == "concept":
                self.add_class(compound, kind, name)
        for declarations in self.by_file.values():
            self.finish(declarations)
            for declaration in declarations:
                self.finish(declaration.members)

    def lines(self, file):
        if file not in self.texts:
            self.texts[file] = (self.root / file).read_text().split("\n")
        return self.texts[file]

    def place(self, declaration, location):
        lines, at = self.lines(declaration.file), declaration.line - 1
        declaration.first = first_line(lines, at)
        end = last_line(lines, at)
        declaration.comment = comment_above(lines, declaration.first)
        trailing, declaration.last = trailing_comment(lines, at, end)
        if trailing:
            declaration.comment, declaration.trailing = trailing, True
        if location.get("bodyend", "-1") != "-1" and location.get("bodyfile") == declaration.file:
            declaration.last = max(declaration.last, int(location.get("bodyend")) - 1)

    def add_class(self, compound, kind, name):
        location = compound.find("location")
        space, _, own = name.rpartition("::")
        outer = []  # classes around this one
        while space and space.split("::")[-1][:1].isupper():
            space, _, head = space.rpartition("::")
            outer.insert(0, head)
        parameters = self.template(compound)
        bases = ", ".join(text_of(base) for base in compound.findall("basecompoundref") if base.get("prot") == "public")
        signature = f"{parameters}{'::'.join([*outer, own])}" + (f" : public {bases}" if bases else "")
        if kind == "concept":
            signature = text_of(compound.find("initializer")).partition("=")[0]
            signature = re.sub(r"\bconcept\b ?", "", signature).strip()
        declaration = Declaration(kind, "::".join([*outer, own]), space, location.get("file"), int(location.get("line")),
                                  signature)
        self.place(declaration, location)
        for member in compound.iter("memberdef"):
            if member.get("prot") == "public":
                self.add_member(member, space, declaration.name + "::", declaration)
        self.by_file.setdefault(declaration.file, []).append(declaration)

    @staticmethod
    def template(element):
        found = element.find("templateparamlist")
        if found is None:
            return ""
        parameters = []
        for parameter in found.findall("param"):
            name, given = parameter.findtext("declname"), text_of(parameter.find("defval"))
            text = text_of(parameter.find("type"))
            text += f" {name}" if name and name not in text.split() else ""
            parameters.append(text + (f" = {given}" if given else ""))
        return f"template<{', '.join(parameters)}> "

    def add_member(self, member, space, prefix, owner):
        kind, name, location = member.get("kind"), member.findtext("name"), member.find("location")
        if kind in ("friend", "define") or name.startswith(("~", "@")) or location is None:
            if not (kind == "enum" and (not name or name.startswith("@"))):
                return
        if location.get("file", "").endswith(".inc"):
            return
        definition, arguments = member.findtext("definition") or "", member.findtext("argsstring") or ""
        if re.search(r"=\s*(delete|default)$", arguments):
            return
        type_ = text_of(member.find("type"))
        if kind == "function" and owner is None and not type_:  # a deduction guide
            return
        if kind == "function":
            words = [w for w in ("static", "explicit") if member.get(w) == "yes"]
            signature = " ".join([*words, *([type_] if type_ else []), prefix + name + arguments])
            signature = self.template(member) + signature
            constraint = text_of(member.find("requiresclause"))
            signature += f" requires {constraint}" if constraint else ""
        elif kind == "variable":
            signature = f"{type_} {prefix}{name}{arguments}"
        elif kind == "typedef":
            signature = f"{type_} {prefix}{name}{arguments}"
            if "using" in definition:
                signature = f"{self.template(member)}{prefix}{name} = {type_}"
        else:
            signature = prefix + name
        declaration = Declaration(kind, prefix + name, space, location.get("file"), int(location.get("line")), signature)
        self.place(declaration, location)
        if kind == "enum":
            declaration.members = self.values(declaration)
        if kind == "variable":
            declaration.signature += f" {text_of(member.find('initializer'))}".rstrip()
        if owner is not None:
            if kind == "function" and not type_ and name[:1].isupper():  # also of a base, by `using`
                declaration.kind = "constructor"
            owner.members.append(declaration)
        else:
            self.by_file.setdefault(declaration.file, []).append(declaration)

    def values(self, enum):
        """Returns the values of an enumeration, read from its text."""
        lines, found = self.lines(enum.file), []
        text = "\n".join(lines[enum.first:enum.last + 1])
        body = text[text.index("{") + 1:text.rindex("}")]
        above = []
        for line in body.split("\n"):
            code, _, after = line.partition("///<")
            if is_comment(line):
                above.append(line)
                continue
            if not code.strip() and after:  # goes on
                if found:
                    found[-1].comment += "\n" + after.strip()
                continue
            for part in re.sub(r"//.*", "", code).split(","):
                if name := re.match(r"\s*(\w+)", part):
                    comment = after.strip() or comment_text(above)
                    found.append(Declaration("value", name[1], enum.name, enum.file, enum.line, part.strip(), comment))
            above = [] if code.strip() else above
        return found

    @staticmethod
    def finish(declarations):
        """Sorts by place. Without a comment a declaration shares the one directly above, an inner class its outer class's."""
        declarations.sort(key=lambda d: (d.first, d.line))
        outer = [d for d in declarations if d.kind not in ("struct", "class") or "::" not in d.name]
        for inner in declarations:
            around = [d for d in outer if inner.name.startswith(d.name + "::")]
            if not inner.comment and inner not in outer and around:
                inner.comment, inner.shares = around[0].comment, True
        for above, below in zip(outer, outer[1:]):
            if not below.comment and above.comment and not above.trailing and below.first <= above.last + 1:
                below.comment, below.shares = above.comment, True
            elif below.comment == above.comment and below.first == above.first:
                below.shares = True
