"""Prints every regular expression of the package as JSON: what importing it and reading its data files compiles.

Run as a program of its own, so that it sees each module being imported. Patterns that only a call compiles are read
from the source, where they are written as text; whatever a cached function of the mathematics compiles is made by
calling it for all that its parameters may be.
"""

import ast
import importlib
import inspect
import json
import pkgutil
import re
import sys
from collections.abc import Callable, Iterable, Iterator
from functools import _lru_cache_wrapper
from itertools import product
from pathlib import Path
from types import ModuleType
from typing import Any, Final

CALLS: Final = frozenset({"compile", "search", "match", "fullmatch", "split", "sub", "subn", "findall", "finditer"})
FOUND: dict[tuple[str, int], str] = {}

_compile: Callable[..., Any] = re._compile  # type: ignore[attr-defined] # every way to a pattern leads through it


def record(pattern: Any, flags: Any) -> Any:
    made = _compile(pattern, flags)
    caller = sys._getframe(2).f_globals.get("__name__", "")
    if caller.startswith("lithify."):
        note(made, caller)
    return made


def note(made: re.Pattern[Any], module: str) -> None:
    """Notes a pattern; one of bytes as one of the characters of the same numbers."""
    if isinstance(made.pattern, str):
        FOUND.setdefault((made.pattern, made.flags), module)
    else:
        FOUND.setdefault((made.pattern.decode("latin-1"), made.flags | re.ASCII), module)


def import_everything() -> list[ModuleType]:
    import lithify  # noqa: PLC0415 - after the recording has begun

    names = [found.name for found in pkgutil.walk_packages(lithify.__path__, "lithify.")]
    return [importlib.import_module(name) for name in names if not name.endswith("__main__")]


def written_patterns(module: ModuleType) -> Iterator[str | bytes]:
    """Yields the texts that a module hands to `re` itself, wherever in it."""
    tree = ast.parse(Path(module.__file__ or "").read_text("utf-8"))
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in CALLS:
            owner = node.func.value
            first = node.args[0] if node.args else None
            if isinstance(owner, ast.Name) and owner.id == "re" and isinstance(first, ast.Constant):
                assert isinstance(first.value, str | bytes)
                yield first.value


def call_cached(modules: Iterable[ModuleType]) -> None:
    """Calls the cached functions of the mathematics and of documents, in which lazy patterns are compiled."""
    from lithify.memory.languages import load_languages  # noqa: PLC0415 - after the recording has begun

    languages = list(load_languages().values())
    cues = sorted({cue for language in languages for cue in language.phrases})
    values: dict[str, list[Any]] = {"name": ["Ada"], "pattern": ["**/a*b?.md"], "cue": cues, "language": languages}
    for module in modules:
        for item in vars(module).values():
            own = isinstance(item, _lru_cache_wrapper) and item.__module__ == module.__name__
            if own and module.__name__.startswith(("lithify.memory", "lithify.docs")):
                parameters = inspect.signature(item).parameters.values()
                choices = [
                    ["en"] if one.annotation is str and one.name == "language" else values[one.name]
                    for one in parameters
                ]
                for arguments in product(*choices):
                    item(*arguments)
    for language, cue in product(languages, cues):
        language.find_pattern(cue)


def main() -> None:
    re._compile = record  # type: ignore[attr-defined] # see above
    modules = import_everything()
    call_cached(modules)
    for module in modules:
        for text in written_patterns(module):
            note(re.compile(text), module.__name__)
    print(json.dumps([[*key, where] for key, where in FOUND.items()]))


if __name__ == "__main__":
    main()
