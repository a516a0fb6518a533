"""Copies the docstrings of the compiled module into its stub, `python/merganser/_core.pyi`, for editors.

`python stubs.py` writes the stub; `python stubs.py --check` fails if the stub is not up to date. The package must be installed.
"""

import ast
import inspect
import sys
from pathlib import Path

from merganser import _core

STUB = Path(__file__).resolve().parent / "python" / "merganser" / "_core.pyi"


def _documentation(names):
    found = _core
    for name in names:
        found = getattr(found, name, None)
        if found is None:
            return None
    # Special methods inherit docstrings of Python.
    return None if names[-1].startswith("__") else inspect.getdoc(found)


def _with_documentation(source):
    lines = source.splitlines()
    tree = ast.parse(source)
    changes = []

    def visit(node, names):
        for child in node.body:
            if isinstance(child, (ast.ClassDef, ast.FunctionDef)):
                own = [*names, child.name]
                text = _documentation(own)
                first = child.body[0]
                old = ast.get_docstring(child) is not None
                indent = " " * (child.col_offset + 4)
                new = []
                if text:
                    raw = "r" if "\\" in text else ""
                    body = text.splitlines()
                    new = [f'{indent}{raw}"""{body[0]}'] + [(indent + line) if line else "" for line in body[1:]]
                    if len(body) == 1:
                        new[0] += '"""'
                    else:
                        new.append(indent + '"""')
                changes.append((child, first, old, new))
                if isinstance(child, ast.ClassDef):
                    visit(child, own)

    visit(tree, [])
    for child, first, old, new in sorted(
        changes, key=lambda change: (-change[1].lineno, isinstance(change[0], ast.ClassDef))
    ):
        if old:
            lines[first.lineno - 1 : first.end_lineno] = new
        elif new and isinstance(child, ast.FunctionDef):
            line = lines[child.body[0].lineno - 1]
            lines[child.body[0].lineno - 1] = line.removesuffix(" ...")
            lines[child.body[0].end_lineno : child.body[0].end_lineno] = new
        elif new:
            at = first.lineno - 1 - len(getattr(first, "decorator_list", []))
            lines[at:at] = new
    return "\n".join(lines) + "\n"


def main():
    source = STUB.read_text()
    made = _with_documentation(source)
    if "--check" in sys.argv:
        sys.exit(0 if made == source else f"{STUB.name} differs from the docstrings of the module: run stubs.py")
    STUB.write_text(made)


if __name__ == "__main__":
    main()
