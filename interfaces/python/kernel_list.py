"""Finds the kernels of codelets/ and writes C++ code that describes them to Python (library_kernels.hpp).

  kernel_list.py ROOT FOLDER   writes FOLDER/FAMILY.cpp for each family, and FOLDER/list.cpp

A kernel is a struct with a `name`. Its header has the comment, the names of tiles and the fields of Args; the explicit
instantiations in the sources of codelets/ have its element types.
"""

import dataclasses
import pathlib
import re
import sys

ELEMENTS = {"float", "double", "int", "std::int32_t", "index_t", "std::uint8_t"}  # of tiles from Python


@dataclasses.dataclass
class Field:
    """A member of Args."""

    name: str
    type: str
    required: bool
    comment: str


@dataclasses.dataclass
class Kernel:
    struct: str
    name: str
    header: str
    comment: str
    tiles: list  # of (type, name)
    fields: list
    bases: list  # of (struct, its fields)
    instances: list  # template arguments
    reason: str = ""  # why Python cannot insert it


def block(text, begin):
    """Returns the text between the brace that opens at or after `begin` and its partner."""
    depth, first = 0, text.index("{", begin)
    for i in range(first, len(text)):
        depth += {"{": 1, "}": -1}.get(text[i], 0)
        if depth == 0:
            return text[first + 1 : i]
    raise ValueError("a brace stays open")


def split(text, separator):
    """Splits outside of brackets."""
    parts, depth, begin = [], 0, 0
    for i, c in enumerate(text):
        depth += (c in "<({[") - (c in ">)}]")
        if c == separator and depth == 0:
            parts.append(text[begin:i])
            begin = i + 1
    return parts + [text[begin:]]


def without_functions(body):
    """Removes functions and nested structs, so that declarations of data remain."""
    while match := re.search(r"\b(?:struct|class)\s+\w+[^;{}]*\{", body):
        body = body[: match.start()] + body[match.end() + len(block(body, match.start())) + 1 :]
    while match := re.search(r"\)\s*(?:const)?\s*(?:noexcept)?\s*\{", body):
        body = body[: match.start()] + ");" + body[match.end() + len(block(body, match.end() - 1)) + 1 :]
    return body


def fields_of(body):
    """Returns the data members of a struct."""
    comments, lines = [], []
    for line in body.splitlines():
        line, _, comment = line.partition("//")
        if comment.startswith("/"):
            comments.append(comment[1:].removeprefix("<").strip())
            line += f" @{len(comments) - 1}@ "
        lines.append(line)
    fields = []
    # A comment after a declaration moves before its semicolon.
    statements = re.sub(r";((?:[ \t]*@\d+@)+)", r"\1;", without_functions("\n".join(lines))).split(";")
    for statement in statements:
        comment = " ".join(comments[int(k)] for k in re.findall(r"@(\d+)@", statement))
        code = " ".join(re.sub(r"@\d+@|private:|public:", " ", statement).split())
        if not code or re.match(r"(static|using|friend|template)\b", code) or "(" in split(code, "=")[0]:
            continue
        first, *others = split(code, ",")
        match = re.fullmatch(r"(.+?)\s+(\w+)\s*((?:=.*|\{.*\})?)", first)
        if not match:
            raise ValueError(f"no declaration of data: {code}")
        fields.append(Field(match[2], match[1], not match[3], comment))
        for other in others:
            match = re.fullmatch(r"\s*(\w+)\s*((?:=.*|\{.*\})?)", other)
            fields.append(Field(match[1], fields[-1].type, not match[2], comment))
    return fields


class Source:
    """The headers and sources of the project."""

    def __init__(self, root):
        self.headers = {file: file.read_text() for f in ("codelets", "tiles", "host", "runtime") for file in sorted((root / f).rglob("*.hpp")) if "internal" not in file.parts}
        self.instances = {}
        for file in sorted((root / "codelets").rglob("*.c*")):
            self.read_instances(re.sub(r"\\\n", " ", file.read_text()))

    def read_instances(self, text):
        types = {"REALS": ["float", "double"]}
        types["COMPLEX"] = ["std::complex<float>", "std::complex<double>"]
        types["NUMBERS"] = types["REALS"] + types["COMPLEX"]
        for of, macro in re.findall(r"^TESELA_FOR_(\w+)\((\w+)\)", text, flags=re.M):  # runtime/scalar.hpp
            text += "".join(f"\n{macro}({type})" for type in types[of])
        for of, structs in re.findall(r"^TESELA_(?:STRUCTS|CUDA)_FOR_(\w+)\(([^)]*)\)", text, flags=re.M):
            text += "".join(f"\ntemplate struct {s.strip()}<{type}>;" for s in structs.split(",") for type in types[of])
        for macro, parameter, body in re.findall(r"#define (\w+)\((\w+)\)(.*)", text):
            for argument in re.findall(rf"^{macro}\(([^)]*)\)", text, flags=re.M):
                text += "\n" + re.sub(rf"\b{parameter}\b", argument, body)
        text = re.sub(r"#define .*", "", text)
        for struct, arguments in re.findall(r"\btemplate (?:struct |void |decltype\()(\w+)<([^;()]*?)>(?=;|::c)", text):
            found = self.instances.setdefault(struct, [])
            if (arguments := ", ".join(arguments.replace(" ", "").split(","))) not in found:
                found.append(arguments)

    def struct(self, name):
        """Returns the fields of a struct for Args, and its bases with their fields."""
        name = re.sub(r"<.*", "", name).rpartition("::")[2]
        for text in self.headers.values():
            if match := re.search(rf"struct {name}\s*(?::\s*([\w:<>]+)\s*)?\{{", text):
                base = [self.struct(match[1])] if match[1] else []
                bases = [one for fields, more in base for one in [*more, (match[1], fields)]]
                return fields_of(block(text, match.end() - 1)), bases
        return None

    def args(self, body):
        """Returns the same for a kernel's Args."""
        if match := re.search(r"struct Args\s*(?::\s*([\w:<>]+)\s*)?\{", body):
            base = [self.struct(match[1])] if match[1] else []
            return fields_of(block(body, match.end() - 1)), [one for fields, more in base for one in [*more, (match[1], fields)]]
        name = re.search(r"using Args = (?:typename )?([^;]*);", body)[1]
        if match := re.fullmatch(r"(\w+)<\w+>::Args", name):
            return self.args(next(body for struct, body, *_ in self.structs() if struct == match[1]))
        return self.struct(name)

    def structs(self):
        """Yields struct, body, header and comment of each kernel."""
        for file, text in self.headers.items():
            for match in re.finditer(r"((?:^///.*\n)*)(?:^template <.*>\n)?^struct (\w+)[^;{}]*\{", text, flags=re.M):
                body = block(text, match.end() - 1)
                if re.search(r"static constexpr auto name =", body):
                    comment = "\n".join(line[3:].removeprefix(" ") for line in match[1].splitlines())
                    yield match[2], body, file, comment, "template" in match[0]


def kernels(root):
    """Returns the kernels of codelets/."""
    source, found = Source(root), []
    for struct, body, file, comment, is_template in source.structs():
        name = re.search(r'static constexpr auto name = "([\w-]+)";', body)[1]
        variant = re.search(r"static void (?:cpu|cuda)\(((?:[^()]|\(\))*)\)", body)[1]
        tiles = []
        for parameter in split(" ".join(variant.split()), ","):
            if match := re.fullmatch(r"(?:std::span<const (\w+<.+>)>|(\w+<.+>)) (\w+)", parameter.strip()):
                element = (match[1] or match[2]).partition("<")[2][:-1].replace("real_t<T>", "T").replace("with_parts<T, double>", "double")  # of real instances
                tiles.append((element, match[3]))
        fields, bases = source.args(body)
        instances = source.instances.get(struct, []) if is_template else [""]
        kernel = Kernel(struct, name, str(file.relative_to(root)), comment, tiles, fields, bases, instances)
        kernel.instances = [i for i in instances if "complex" not in i]
        kernel.reason = reason(source, kernel)
        found.append(kernel)
    return found


def reason(source, kernel):
    """Returns why Python cannot insert a kernel, or nothing."""
    others = sorted({t for t, _ in kernel.tiles if t not in ELEMENTS and not re.fullmatch("[A-Z]", t)})
    if others:
        return "tiles of " + ", ".join(others)
    if not kernel.instances:
        return "tiles of complex numbers"
    for field in kernel.fields:
        if match := re.match(r"std::array<([\w:]+),", field.type):
            if source.struct(match[1]):
                return f"an array of records as the argument {field.name}"
    return ""


def quoted(text):
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", '\\n"\n        "') + '"'


def visits(source, fields, path, name, comment=""):
    """Returns the calls that describe the fields below a path."""
    lines = []
    for f in fields:
        about = f.comment or comment
        nested = source.struct(f.type) if re.match(r"[A-Z][\w:]*(?:<T>)?$", f.type.rpartition("::")[2]) else None
        if nested and nested[0]:
            lines.append(f"f.record({quoted(name + f.name)}, {str(f.required).lower()});")
            lines.append(bindings(nested[0], f"{path}.{f.name}"))
            lines += visits(source, nested[0], f"{path}.{f.name}", f"{name}{f.name}.", about)
        else:
            required = str(f.required and not name).lower()
            lines.append(f"f({quoted(name + f.name)}, {path}.{f.name}, {required}, {quoted(about)});")
    return lines


def bindings(fields, path):
    """Returns a declaration that compiles if the struct has as many members as fields were found."""
    return f"{{ [[maybe_unused]] const auto& [{', '.join(f.name for f in fields)}] = {path}; }}" if fields else ""


def code(source, kernel):
    names = []
    variants = {}
    for instance in kernel.instances:
        suffix = "_out" if re.search(r"\bOut\b", instance) else ""
        variants.setdefault(suffix, []).append(f"kernels::{kernel.struct}<{instance}>" if instance else f"kernels::{kernel.struct}")
    for suffix, types in variants.items():
        lines = [line for base, fields in kernel.bases for line in visits(source, fields, "args", "")]
        lines += [bindings(kernel.fields, "args") if not kernel.bases else "", *visits(source, kernel.fields, "args", "")]
        tiles = ", ".join(quoted(name) for _, name in kernel.tiles)
        names.append(
            f"  list.push_back({{.name = {quoted(kernel.name.replace('-', '_') + suffix)}, .header = {quoted(kernel.header)},\n"
            f"      .comment = {quoted(kernel.comment)},\n      .tiles = {{{tiles}}}, .instances = instances<{', '.join(types)}>(\n"
            "      []([[maybe_unused]] auto& args, [[maybe_unused]] auto& f) {\n"
            + "".join(f"        {line}\n" for line in lines if line)
            + "      })});\n"
        )
    return "".join(names)


def write(root, folder):
    source, families = Source(root), {}
    for kernel in kernels(root):
        families.setdefault(kernel.header.split("/")[1], []).append(kernel)
    for family, members in families.items():
        headers = sorted({k.header for k in members if not k.reason})
        text = "// Written by kernel_list.py.\n#include \"interfaces/python/library_kernels_inl.hpp\"\n"
        text += "".join(f"#include <tesela/{header}>\n" for header in headers)
        text += f"\nnamespace tesela::python {{\n\nvoid list_{family}(std::vector<LibraryKernel>& list) {{\n"
        text += "".join(code(source, k) for k in members if not k.reason) + "}\n\n}  // namespace tesela::python\n"
        put(folder / f"{family}.cpp", text)
    text = "// Written by kernel_list.py.\n#include \"interfaces/python/library_kernels.hpp\"\n\nnamespace tesela::python {\n\n"
    text += "".join(f"void list_{family}(std::vector<LibraryKernel>&);\n" for family in families)
    text += "\nstd::vector<LibraryKernel> library_kernels() {\n  std::vector<LibraryKernel> list;\n"
    text += "".join(f"  list_{family}(list);\n" for family in families) + "  return list;\n}\n\n"
    text += "std::vector<UnreachableKernel> unreachable_kernels() {\n  return {\n"
    text += "".join(
        f"      {{{quoted(k.name)}, {quoted(k.reason)}}},\n" for members in families.values() for k in members if k.reason
    )
    put(folder / "list.cpp", text + "  };\n}\n\n}  // namespace tesela::python\n")


def put(file, text):
    """Writes a file unless it has this text."""
    if not file.exists() or file.read_text() != text:
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)


if __name__ == "__main__":
    write(pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2]))
