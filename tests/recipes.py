"""Parses the recipes of cmake/packaging, which no machine of ours runs, and compares the names and versions in them with
the sources."""
import ast
import pathlib
import re
import sys

import yaml

ROOT = pathlib.Path(__file__).resolve().parents[1]
RECIPES = ROOT / "cmake/packaging"
mistakes = []


def expect(right, what):
    if not right:
        mistakes.append(what)


def text(path):
    return (ROOT / path).read_text()


version = re.search(r"project\(tesela VERSION ([0-9.]+)", text("CMakeLists.txt"))[1]
ducc = re.search(r"^ducc_version=([0-9.]+)", text("scripts/setup"), re.MULTILINE)[1]
ducc_tag = "ducc0_" + ducc.replace(".", "_")
cmake = "".join(text(path) for path in ["CMakeLists.txt", "cmake/TeselaDependencies.cmake"])
targets = "".join(text(path) for path in ["tools/commands/CMakeLists.txt", "interfaces/CMakeLists.txt"])

# Spack
source = text("cmake/packaging/spack/packages/tesela/package.py")
calls = [node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Call)]
def calls_of(name):
    return [c for c in calls if getattr(c.func, "id", getattr(c.func, "attr", None)) == name]
expect([c.args[0].value for c in calls_of("version")] == [version], f"spack: the version is not {version}")
expect(ducc_tag in [k.value.value for c in calls_of("resource") for k in c.keywords if k.arg == "tag"],
       f"spack: DUCC's tag is not {ducc_tag}")
defined = [c.args[0].value for name in ("define", "define_from_variant") for c in calls_of(name)]
expect(len(defined) >= 5, "spack: no options")
variants = {c.args[0].value for c in calls_of("variant")} | {"cuda"}
for call in calls_of("define_from_variant"):
    expect(call.args[1].value in variants, f"spack: there is no variant {call.args[1].value}")
expect(yaml.safe_load(text("cmake/packaging/spack/repo.yaml"))["repo"]["namespace"] == "tesela", "spack: no namespace")

# conda-forge
recipe = yaml.safe_load(text("cmake/packaging/conda/recipe.yaml"))
expect(recipe["context"]["version"] == version, f"conda: the version is not {version}")
expect(recipe["about"]["license"] == "BSD-3-Clause", "conda: the licence is not BSD-3-Clause")
for name in recipe["about"]["license_file"]:
    expect((ROOT / name).exists(), f"conda: there is no {name}")
expect((RECIPES / "conda" / recipe["source"][0]["path"] / "CMakeLists.txt").exists(), "conda: the path of the source")
expect(recipe["source"][1]["tag"] == ducc_tag, f"conda: DUCC's tag is not {ducc_tag}")
script = "\n".join(recipe["build"]["script"])
defined += re.findall(r"-D (\w+)=", script)
for target in re.search("--target (.*)", script)[1].split():
    expect(re.search(rf"add_(executable|library)\({target}\b", targets), f"conda: there is no target {target}")
for name in defined:
    expect(name.startswith("CMAKE_") or re.search(rf"\b{name}\b", cmake), f"CMake has no option {name}")

# The image of a container
containerfile = text("cmake/packaging/Containerfile")
for name in re.findall(r"\bscripts/[\w-]+", "\n".join(l for l in containerfile.splitlines() if not l.startswith("#"))):
    expect((ROOT / name).exists(), f"Containerfile: there is no {name}")
packages = re.findall(r"dist/(\w+?)([0-9.]*)_([0-9.]+)_amd64\.deb", containerfile)
minor = ".".join(version.split(".")[:2])
expect(packages == [("libtesela", minor, version), ("tesela", "", version)], f"Containerfile: the packages are {packages}")
for line in re.sub(r"\\\n", "", containerfile).splitlines():
    word = line.split(" ")[0] if line else "#"
    expect(word.startswith("#") or word in ("FROM", "ENV", "RUN", "COPY", "WORKDIR", "ENTRYPOINT", "CMD"),
           f"Containerfile: the unknown instruction {word}")

print("\n".join(mistakes) or f"the recipes agree with version {version} and {len(defined)} options")
sys.exit(bool(mistakes))
