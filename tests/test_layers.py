"""Who may import whom, read from the syntax tree: arrows point down only."""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent

LAYERS = (
    {
        "beside",
        "busy",
        "deadlines",
        "errors",
        "hold",
        "loop",
        "offer",
        "origins",
        "pipe",
        "splits",
        "state",
        "surroundings",
        "types",
        "watched",
    },
    {"compare", "moments", "verify", "params"},
    {"given"},
    {"harness", "judging", "policy.codecs", "train.rows", "train.windows"},
    {"registry", "product", "browser", "store", "models"},
    {"steady"},
    {"slot", "sound"},
    {"env"},
    {"policy"},
    {"request"},
    {"rollout"},
    {"check"},
    {"evaluate", "exchange", "export", "live", "record", "report", "testing"},
    {"draft", "viewer"},
    {"bench", "agent", "train"},
    {"cli"},
    {"__main__"},
)
"""A module may import those of its own layer and of layers before it."""

ONLY_UNDER = {
    "torch": ("uigym/train/", "uigym/models/", "uigym/policy/hf.py", "uigym/policy/local.py"),
    "transformers": ("uigym/train/", "uigym/models/", "uigym/policy/hf.py", "uigym/policy/local.py"),
    "tokenizers": ("uigym/train/", "uigym/models/", "uigym/policy/hf.py", "uigym/policy/local.py"),
    "safetensors": ("uigym/train/", "uigym/models/", "uigym/policy/hf.py", "uigym/policy/local.py"),
    "peft": ("uigym/train/engine/adapters.py",),
    "liger_kernel": ("uigym/train/engine/prepare.py",),
    "wandb": ("uigym/train/",),
    "vllm": ("uigym/train/", "uigym/policy/vllm.py", "uigym/policy/vllm_server.py"),
    "psycopg": ("uigym/product/postgres",),
    "playwright": ("uigym/browser/", "uigym/record/", "uigym/models/tiny/", "uigym/bench/browsergym_worker.py"),
    "browsergym": ("uigym/bench/browsergym_worker.py",),
    "typer": ("uigym/cli",),
    "gymnasium": ("uigym/adapters/gymnasium.py",),
    "skyrl": ("uigym/adapters/skyrl.py",),
    "trl": ("uigym/adapters/trl.py",),
    "verifiers": ("uigym/adapters/prime.py",),
    "openenv": ("uigym/adapters/openenv.py",),
    "tinker": ("uigym/adapters/tinker.py",),
}
"""Outside packages that belong to a few places."""

VERIFIERS_MAY = {
    "uigym.types",
    "uigym.state",
    "uigym.verify",
    "uigym.errors",
    "uigym.params",
    "uigym.compare",
    "uigym.moments",
    "uigym.verifiers",
}
NETWORK = ("socket", "ssl", "http", "urllib.request", "asyncio", "subprocess", "requests", "httpx", "aiohttp")


def sources() -> list[Path]:
    """Every Python file that ships, by its real path (links are not followed)."""
    found = [p for p in (ROOT / "uigym").rglob("*.py") if p.relative_to(ROOT).parts[1] not in CONTENT]
    return sorted(found + [p for folder in CONTENT for p in (ROOT / folder).rglob("*.py")])


CONTENT = ("apps", "harnesses", "verifiers")


def module_name(path: Path) -> str:
    """Its import path: content folders are reached through the links in `uigym`."""
    parts = list(path.relative_to(ROOT).with_suffix("").parts)
    parts = parts if parts[0] == "uigym" else ["uigym", *parts]
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


MODULES = {module_name(path): path for path in sources()}


def is_for_types(node: ast.AST) -> bool:
    return isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test)


def walk(tree: ast.AST) -> Iterator[ast.AST]:
    """All nodes, those inside functions too, but not what only a type checker reads."""
    yield tree
    for child in ast.iter_child_nodes(tree):
        if not is_for_types(child):
            yield from walk(child)


def imports(name: str) -> set[str]:
    """Modules that a module imports, in full: "uigym.types", "torch"."""
    path = MODULES[name]
    package = name if path.name == "__init__.py" else name.rpartition(".")[0]
    found: set[str] = set()
    for node in walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            found.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            above = package.split(".")[: len(package.split(".")) - node.level + 1] if node.level else []
            base = ".".join([*above, *(node.module.split(".") if node.module else [])])
            found.update(_from(base, alias.name) for alias in node.names)
    return found - {name}


def _from(base: str, name: str) -> str:
    if f"{base}.{name}" in MODULES:
        return f"{base}.{name}"
    if base == "uigym":
        import uigym

        return f"uigym.{uigym._HOME[name]}" if name in uigym._HOME else base
    return base


GRAPH = {name: imports(name) for name in MODULES}
LIBRARY = [name for name in MODULES if name.startswith("uigym.") and name.split(".")[1] not in CONTENT]


def level(name: str) -> int:
    """Of the longest name in LAYERS that the module is, or is in."""
    parts = name.split(".")[1:]
    for size in range(len(parts), 0, -1):
        for i, layer in enumerate(LAYERS):
            if ".".join(parts[:size]) in layer:
                return i
    raise AssertionError(f"{name} is in no layer: add it to LAYERS in this file")


def test_arrows_point_down() -> None:
    wrong = [
        f"{name} imports {used}"
        for name in LIBRARY
        for used in GRAPH[name]
        if used.startswith("uigym.") and used.split(".")[1] not in CONTENT and level(used) > level(name)
    ]
    assert not wrong


def test_the_library_loads_content_through_the_registry_alone() -> None:
    wrong = [
        f"{name} imports {used}"
        for name in LIBRARY
        for used in GRAPH[name]
        if used.startswith("uigym.") and used.split(".")[1] in CONTENT
    ]
    assert not wrong


def test_no_cycles() -> None:
    seen: dict[str, int] = {}  # 1 while on the path, 2 when finished

    def visit(name: str, path: tuple[str, ...]) -> None:
        assert seen.get(name) != 1, f"import cycle: {' -> '.join([*path[path.index(name) :], name])}"
        if seen.get(name) == 2:
            return
        seen[name] = 1
        for used in sorted(GRAPH[name] & MODULES.keys()):
            visit(used, (*path, name))
        seen[name] = 2

    for name in MODULES:
        visit(name, ())


@pytest.mark.parametrize("package", ONLY_UNDER)
def test_outside_packages_stay_in_their_place(package: str) -> None:
    wrong = [
        name
        for name, used in GRAPH.items()
        if package in {module.split(".")[0] for module in used}
        and not str(MODULES[name].relative_to(ROOT)).startswith(ONLY_UNDER[package])
    ]
    assert not wrong


def test_verifiers_know_neither_browser_nor_network() -> None:
    for name in MODULES:
        if name.startswith("uigym.verifiers."):
            for used in GRAPH[name]:
                assert not used.startswith(NETWORK), f"{name} imports {used}"
                if not used.startswith("uigym.verifiers."):
                    assert used.split(".")[0] in sys.stdlib_module_names or used in VERIFIERS_MAY, (
                        f"{name} imports {used}"
                    )


def test_apps_know_nothing_of_uigym() -> None:
    wrong = [
        f"{name} imports {used}"
        for name, graph in GRAPH.items()
        if name.startswith("uigym.apps.")
        for used in graph
        if used.startswith("uigym") and not used.startswith((".".join(name.split(".")[:3]), "uigym.apps.kit"))
    ]
    assert not wrong


def test_harnesses_use_what_a_users_own_file_could_use() -> None:
    allowed = (
        "uigym.compare", "uigym.errors", "uigym.harness", "uigym.params", "uigym.surroundings", "uigym.types", "uigym.verify", "uigym.verifiers.", "uigym.product"
    )  # fmt: skip
    for name in MODULES:
        if name.startswith("uigym.harnesses."):
            for used in GRAPH[name]:
                own = ("uigym.apps.", "uigym.harnesses.")
                assert not used.startswith("uigym.") or used.startswith((*allowed, *own)), f"{name} imports {used}"
