"""Python functions around the compiled ones, so that inspect.signature and call tips show their parameters."""

import __future__

import ast
import inspect
import re


def python_function(function, module, qualname):
    """Returns a function with the same parameters, defaults and documentation, which calls the compiled one."""
    signature, doc, defaults = function.__nb_signature__[0]
    head = re.sub(r"\\(\d+)", r"_default_\1", signature)
    parameters = ast.parse(head + ": ...").body[0].args
    values = [p.arg for p in parameters.posonlyargs + parameters.args]
    values += [f"{p.arg}={p.arg}" for p in parameters.kwonlyargs]
    names = {f"_default_{i}": value for i, value in enumerate(defaults or ())} | {"_compiled": function}
    source = f"{head}:\n    return _compiled({', '.join(values)})"
    exec(compile(source, "<tesela>", "exec", __future__.annotations.compiler_flag), names)
    result = names[function.__name__]
    result.__module__, result.__qualname__, result.__doc__ = module, qualname, doc
    return result


def is_compiled(function):
    """Returns whether it is a compiled function or method without overloads."""
    return type(function).__name__ in ("nb_func", "nb_method") and len(function.__nb_signature__) == 1


def add_to(namespace, module):
    """Replaces the compiled functions in a module's namespace, and gives classes the signatures of their __init__."""
    for name, value in list(namespace.items()):
        if is_compiled(value):
            namespace[name] = python_function(value, module, name)
        elif isinstance(value, type) and is_compiled(vars(value).get("__init__")):
            own = inspect.signature(python_function(vars(value)["__init__"], module, "__init__"))
            value.__signature__ = own.replace(parameters=list(own.parameters.values())[1:], return_annotation=value)
