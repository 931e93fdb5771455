"""From a reference to a harness: an id, a file, or what an installed package declares.

Bundled harnesses are files in `uigym/harnesses`, loaded as a user's file is, or packages there, for those of many tasks.
"""

from __future__ import annotations

import contextlib
import importlib
import importlib.util
import sys
import traceback
import weakref
import zlib
from collections.abc import Iterator
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path
from types import ModuleType

from uigym.errors import HarnessError, did_you_mean
from uigym.harness import Harness, Task

_Found = dict[str, Harness]
"""Harnesses by the name of their variable."""
GROUP = "uigym.harnesses"
"""Entry point group in which a package declares its harnesses: name = "module:harness"."""
_BUNDLED = Path(__file__).parent / "harnesses"
_loaded: dict[Path, tuple[int, _Found, _Found]] = {}
"""Of each file: when it was changed, the harnesses at its top level, and those of them that are its own."""
_given: weakref.WeakValueDictionary[int, Harness] = weakref.WeakValueDictionary()
"""What `load` has returned so far, by identity: another file that has one of them has borrowed it."""


def load(ref: str) -> Harness:
    """The harness that a reference means: an id, `path.py`, or `path.py:name` where a file has several.

    Raises:
        HarnessError: There is no such harness, or its definition is wrong; the text has the file and the line.
    """
    path, _, name = ref.rpartition(":") if ".py:" in ref else (ref, "", "")
    if path.endswith(".py"):
        harness = _from_file(Path(path).expanduser(), name)
        _given[id(harness)] = harness
        return harness
    bundled, declared = _bundled().get(ref), _declared().get(ref, [])
    if len(declared) + (bundled is not None) > 1:
        places = [f"{_owner(point)} ({point.value})" for point in declared]
        raise HarnessError(
            f'several harnesses are named "{ref}": {", ".join(["uigym"] * (bundled is not None) + places)}. '
            "Uninstall one, or name its file instead."
        )
    if bundled is None and not declared:
        raise HarnessError(_unknown(ref))
    harness = _from_bundle(bundled) if bundled is not None else _from_entry_point(declared[0])
    if harness.name != ref:
        raise HarnessError(f'the harness that is registered as "{ref}" calls itself "{harness.name}"; expected "{ref}"')
    _given[id(harness)] = harness
    return harness


def load_task(ref: str) -> Task:
    """The task that `harness/task` means, where harness is anything that `load` takes.

    Raises:
        HarnessError: There is no such harness or task; the text has the nearest name.
    """
    head, slash, name = ref.rpartition("/")
    if not slash or ref.endswith(".py"):
        tasks = ", ".join(load(ref).tasks)
        raise HarnessError(f'"{ref}" names no task; expected {ref}/TASK with one of: {tasks}')
    return load(head).find_task(name)


def names() -> list[str]:
    """The ids of all bundled and declared harnesses, sorted. None of them is loaded."""
    return sorted({*_bundled(), *_declared()})


def _bundled() -> dict[str, Path]:
    files = {path.stem: path for path in _BUNDLED.glob("[!_]*.py")}
    return files | {path.parent.name: path for path in _BUNDLED.glob("[!_]*/__init__.py")}


def _declared() -> dict[str, list[EntryPoint]]:
    found: dict[str, list[EntryPoint]] = {}
    for point in entry_points(group=GROUP):
        if point not in found.setdefault(point.name, []):
            found[point.name].append(point)
    return found


def _owner(point: EntryPoint) -> str:
    return point.dist.name if point.dist is not None else "a package"


def _unknown(ref: str) -> str:
    if ref and Path(ref).is_dir():
        files = ", ".join(str(path) for path in sorted(Path(ref).glob("*.py"))[:5]) or "none of which it has"
        return f'no harness "{ref}": it is a folder; expected a Python file, such as one in it: {files}'
    head = ref.partition("/")[0]
    if head in names():
        return f'"{ref}" is not a harness; expected the harness alone: "{head}"'
    return f'no harness "{ref}". {did_you_mean(ref, names())} A file is named by its path, such as ./{ref}.py'


def _from_entry_point(point: EntryPoint) -> Harness:
    try:
        found = point.load()
    except Exception as exc:
        raise HarnessError(
            f'the harness "{point.name}" of {_owner(point)} ({point.value}) failed to load: {type(exc).__name__}: {exc}'
        ) from exc
    if not isinstance(found, Harness):
        raise HarnessError(f'the harness "{point.name}" of {_owner(point)} ({point.value}) is {found!r}, no Harness')
    return found


def _from_bundle(path: Path) -> Harness:
    if path.name != "__init__.py":
        return _from_file(path, "")
    name = path.parent.name
    try:
        module = importlib.import_module(f"uigym.harnesses.{name}")
    except Exception as exc:
        raise HarnessError(f"{_place(path, exc)}: {_said(exc)}") from exc
    return next(value for value in vars(module).values() if isinstance(value, Harness))


def _from_file(path: Path, name: str) -> Harness:
    if not path.is_file():
        near = did_you_mean(path.name, [other.name for other in sorted(path.parent.glob("*.py"))])
        raise HarnessError(f"there is no harness file {path}. {near}")
    found, own = _harnesses(path.resolve())
    if not found:
        raise HarnessError(f"{path} defines no harness; expected one at its top level: {path.stem} = Harness(...)")
    if name:
        chosen = [harness for variable, harness in found.items() if name in (variable, harness.name)]
    else:
        chosen = list((own or found).values())
    distinct = list({id(harness): harness for harness in chosen}.values())
    if not distinct:
        raise HarnessError(f'{path} has no harness "{name}". {did_you_mean(name, found)}')
    if len(distinct) > 1:
        choices = ", ".join(f"{path}:{variable}" for variable, value in found.items() if value in distinct)
        raise HarnessError(f"{path} defines several harnesses; choose one: {choices}")
    return distinct[0]


def _harnesses(path: Path) -> tuple[_Found, _Found]:
    """All harnesses at the top level of a file, and those that it has not got from another file or a bundle."""
    changed = path.stat().st_mtime_ns
    if path not in _loaded or _loaded[path][0] != changed:
        found = _top_level(_module(path))
        bundles = [module for name, module in list(sys.modules.items()) if name.startswith("uigym.harnesses.")]
        borrowed = {id(each) for module in bundles for each in _top_level(module).values()} | set(_given)
        _loaded[path] = changed, found, {key: value for key, value in found.items() if id(value) not in borrowed}
    return _loaded[path][1:]


def _top_level(module: ModuleType) -> _Found:
    return {variable: value for variable, value in vars(module).items() if isinstance(value, Harness)}


def _module(path: Path) -> ModuleType:
    module_name = f"uigym_harness_{path.stem}_{zlib.crc32(str(path).encode()):x}"
    spec = importlib.util.spec_from_file_location(module_name, path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[module_name] = module  # dataclasses look themselves up there
    try:
        with _importable(path.parent):
            spec.loader.exec_module(module)
    except (Exception, SystemExit) as exc:
        del sys.modules[module_name]
        raise HarnessError(f"{_place(path, exc)}: {_said(exc)}") from exc
    return module


@contextlib.contextmanager
def _importable(folder: Path) -> Iterator[None]:
    """Modules beside a harness file can be imported by it, after everything that is installed."""
    sys.path.append(str(folder))
    try:
        yield
    finally:
        sys.path.remove(str(folder))


def _place(path: Path, exc: BaseException) -> str:
    if isinstance(exc, SyntaxError) and exc.filename:
        return f"{exc.filename}, line {exc.lineno}"
    lines = [frame.lineno for frame in traceback.extract_tb(exc.__traceback__) if frame.filename == str(path)]
    return f"{path}, line {lines[-1]}" if lines else str(path)


def _said(exc: BaseException) -> str:
    if isinstance(exc, SyntaxError):
        return f"{type(exc).__name__}: {exc.msg}"
    if isinstance(exc, SystemExit):
        return f"SystemExit: {exc.code}: it is a program, which ended when it was loaded; a harness file only defines"
    if isinstance(exc, ModuleNotFoundError) and exc.name:
        return f"{exc}. Install what provides it: {sys.executable} -m pip install {exc.name.partition('.')[0]}"
    return str(exc) if isinstance(exc, HarnessError) else f"{type(exc).__name__}: {exc}"
