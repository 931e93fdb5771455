"""From a reference to a harness, and what is said where there is none."""

from __future__ import annotations

import importlib
import sys
import textwrap
from collections.abc import Iterator
from pathlib import Path

import pytest

from uigym import registry
from uigym.errors import HarnessError
from uigym.registry import load, load_task, names

HARNESS = """
from uigym.harness import Harness
from uigym.params import one_of
from uigym.types import State
from uigym.verifiers.state import unchanged

async def read(product): return State({"t": ()})
async def reset(product, seed, appearance): pass

NAME = Harness(name="NAME", url="http://127.0.0.1:1", state=read, reset=reset)

@NAME.task("Open {item}.", max_steps=3)
def open_item(item: str = one_of("tea", "cake")):
    return unchanged()
"""


def written(path: Path, *names: str, more: str = "") -> Path:
    path.write_text("".join(HARNESS.replace("NAME", name) for name in names) + textwrap.dedent(more))
    return path


def package(folder: Path, *names: str, dist: str = "acme", module: str = "") -> None:
    """An installed package, as metadata and a module, that declares harnesses."""
    module = module or f"{dist}_harness"
    written(folder / f"{module}.py", *names)
    info = folder / f"{dist}-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {dist}\nVersion: 1.0\n")
    lines = "".join(f"{name} = {module}:{name}\n" for name in names)
    (info / "entry_points.txt").write_text(f"[uigym.harnesses]\n{lines}")


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder from which packages are found."""
    folder = tmp_path / "site"
    folder.mkdir()
    monkeypatch.syspath_prepend(folder)
    yield folder
    for name in [name for name in sys.modules if name.endswith("_harness") and "." not in name]:
        del sys.modules[name]


# --- files -----------------------------------------------------------------------------------------------------


def test_file_with_one_harness(tmp_path: Path) -> None:
    path = written(tmp_path / "my shop.py", "shop")
    assert load(str(path)).name == "shop"
    assert load(str(path)) is load(str(path))


def test_relative_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    written(tmp_path / "shop.py", "shop")
    monkeypatch.chdir(tmp_path)
    assert load("shop.py").name == load("./shop.py").name == "shop"


def test_file_is_read_again_once_it_changed(tmp_path: Path) -> None:
    path = written(tmp_path / "shop.py", "shop")
    assert load(str(path)).name == "shop"
    written(path, "store")
    assert load(str(path)).name == "store"


def test_file_with_several_harnesses_says_how_to_choose(tmp_path: Path) -> None:
    path = written(tmp_path / "shops.py", "shop", "store")
    with pytest.raises(HarnessError, match="several harnesses; choose one: ") as caught:
        load(str(path))
    assert f"{path}:shop, {path}:store" in str(caught.value)
    assert load(f"{path}:store").name == "store"
    with pytest.raises(HarnessError, match=r'has no harness "stor". Did you mean "store"'):
        load(f"{path}:stor")


def test_a_second_name_for_a_harness_is_no_second_harness(tmp_path: Path) -> None:
    assert load(str(written(tmp_path / "shop.py", "shop", more="main = shop"))).name == "shop"


def test_borrowed_harnesses_are_not_those_of_a_file_that_has_its_own(tmp_path: Path) -> None:
    store = written(tmp_path / "store.py", "store")
    borrows = f"""
        from uigym.harnesses.desk.product import desk
        from uigym.registry import load
        kiosk, store = load("kiosk"), load({str(store)!r})
        """
    path = written(tmp_path / "shop.py", "shop", more=borrows)
    for _ in range(2):
        assert load(str(path)).name == "shop"
        assert load(f"{path}:store") is load(str(store)) and load(f"{path}:kiosk") is load("kiosk")
    both = written(tmp_path / "both.py", "tea", "cake", more=borrows)
    with pytest.raises(HarnessError) as caught:
        load(str(both))
    assert str(caught.value).endswith(f"choose one: {both}:tea, {both}:cake")


def test_file_that_only_borrows(tmp_path: Path) -> None:
    path = tmp_path / "again.py"
    path.write_text("from uigym.registry import load\nkiosk = load('kiosk')\n")
    assert load(str(path)) is load("kiosk")
    path.write_text("from uigym.registry import load\nkiosk, desk = load('kiosk'), load('desk')\n")
    with pytest.raises(HarnessError, match=r"several harnesses; choose one: .*:kiosk, .*:desk"):
        load(str(path))


def test_file_without_a_harness(tmp_path: Path) -> None:
    path = tmp_path / "shop.py"
    path.write_text("shop = 1\n")
    with pytest.raises(HarnessError, match=r"shop.py defines no harness; expected one .* shop = Harness\(...\)"):
        load(str(path))


def test_file_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(HarnessError, match=r"there is no harness file .*nowhere.py"):
        load(str(tmp_path / "nowhere.py"))


@pytest.mark.parametrize(
    ("more", "line", "message"),
    [
        ("def broken(:\n", 1, "SyntaxError: invalid syntax"),
        ("import no_such_module\n", 1, "No module named 'no_such_module'. Install what provides it"),
        ("\ndef f():\n    return {}['x']\nf()\n", 3, "KeyError: 'x'"),
        ("raise SystemExit('bye')\n", 1, "SystemExit: bye"),
        ("@shop.task('Open {itm}.', max_steps=1)\ndef t(item=one_of(1)): ...\n", 1, "uses {itm}, which is not"),
        ("one_of()\n", 1, "one_of() needs at least one value"),
    ],
)
def test_errors_of_a_file_have_their_place(tmp_path: Path, more: str, line: int, message: str) -> None:
    path = written(tmp_path / "shop.py", "shop", more=more)
    at = len(HARNESS.splitlines()) + line
    for _ in range(2):  # a file that failed is not remembered as loaded
        with pytest.raises(HarnessError) as caught:
            load(str(path))
        assert str(caught.value).startswith(f"{path}, line {at}: ") and message in str(caught.value)


def test_file_may_import_what_lies_beside_it(tmp_path: Path) -> None:
    (tmp_path / "shop_prices.py").write_text("TEA = 2\n")
    path = written(tmp_path / "shop.py", "shop", more="import shop_prices\nassert shop_prices.TEA == 2\n")
    before = list(sys.path)
    assert load(str(path)).name == "shop"
    assert sys.path == before


def test_dataclasses_and_late_annotations_work_in_a_file(tmp_path: Path) -> None:
    more = """
        import dataclasses
        @dataclasses.dataclass
        class Price:
            value: "int" = 0
        """
    path = tmp_path / "shop.py"
    path.write_text("from __future__ import annotations\n" + written(path, "shop", more=more).read_text())
    assert load(str(path)).name == "shop"


# --- ids -------------------------------------------------------------------------------------------------------


def test_bundled_harnesses_are_listed_without_being_loaded(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "broken.py").write_text("1/0")
    written(tmp_path / "shop.py", "shop")
    monkeypatch.setattr(registry, "_BUNDLED", tmp_path)
    assert {"broken", "shop"} <= set(names())
    assert load("shop").name == "shop"
    with pytest.raises(HarnessError, match=r"broken.py, line 1: ZeroDivisionError"):
        load("broken")


def test_every_bundled_harness_loads() -> None:
    folder = Path(importlib.import_module("uigym").__path__[0]) / "harnesses"
    assert {path.stem for path in folder.glob("*.py")} <= set(names())
    for path in folder.glob("*.py"):
        assert load(path.stem).tasks


def test_unknown_id_has_the_nearest_name() -> None:
    with pytest.raises(HarnessError, match=r'no harness "kiosc". Did you mean "kiosk"\? Available: .*desk'):
        load("kiosc")


def test_a_task_where_a_harness_is_expected() -> None:
    with pytest.raises(HarnessError, match='"kiosk/order" is not a harness; expected the harness alone: "kiosk"'):
        load("kiosk/order")


@pytest.mark.parametrize("ref", ["", ".", "/", "shop:x"])
def test_odd_references(ref: str) -> None:
    with pytest.raises(HarnessError, match="no harness"):
        load(ref)


# --- packages --------------------------------------------------------------------------------------------------


def test_package_declares_a_harness(site: Path) -> None:
    package(site, "acme-crm".replace("-", "_"))
    assert "acme_crm" in names()
    assert load("acme_crm").name == "acme_crm"


def test_two_packages_with_one_name(site: Path) -> None:
    package(site, "crm", dist="acme")
    package(site, "crm", dist="globex")
    with pytest.raises(HarnessError) as caught:
        load("crm")
    text = str(caught.value)
    assert "acme (acme_harness:crm)" in text and "globex (globex_harness:crm)" in text
    assert names().count("crm") == 1


def test_package_with_the_name_of_a_bundled_harness(site: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    bundled = site.parent / "bundled"
    bundled.mkdir()
    written(bundled / "crm.py", "crm")
    monkeypatch.setattr(registry, "_BUNDLED", bundled)
    package(site, "crm", dist="acme")
    with pytest.raises(HarnessError, match=r'several harnesses are named "crm": uigym, acme \(acme_harness:crm\)'):
        load("crm")


def test_package_that_fails_to_load(site: Path) -> None:
    package(site, "crm")
    (site / "acme_harness.py").write_text("import no_such_module\n")
    with pytest.raises(HarnessError, match=r'"crm" of acme .* failed to load: ModuleNotFoundError'):
        load("crm")


def test_package_that_declares_something_else(site: Path) -> None:
    package(site, "crm", dist="initech")
    (site / "initech_harness.py").write_text("crm = 'crm'\n")
    with pytest.raises(HarnessError, match="is 'crm', no Harness"):
        load("crm")


def test_harness_must_have_the_name_under_which_it_is_declared(site: Path) -> None:
    package(site, "crm", dist="umbrella")
    written(site / "umbrella_harness.py", "shop", more="crm = shop")
    with pytest.raises(HarnessError, match='registered as "crm" calls itself "shop"'):
        load("crm")


# --- tasks -----------------------------------------------------------------------------------------------------


def test_task_of_a_file(tmp_path: Path) -> None:
    path = written(tmp_path / "shops.py", "shop", "store")
    assert load_task(f"{path}:store/open_item").id == "store/open_item"


def test_unknown_task_has_the_nearest_name(tmp_path: Path) -> None:
    path = written(tmp_path / "shop.py", "shop")
    with pytest.raises(HarnessError, match=r'harness "shop" has no task "open_itm". Did you mean "open_item"'):
        load_task(f"{path}/open_itm")


def test_harness_where_a_task_is_expected(tmp_path: Path) -> None:
    path = written(tmp_path / "shop.py", "shop")
    with pytest.raises(HarnessError, match=r"names no task; expected .*/TASK with one of: open_item"):
        load_task(str(path))
    with pytest.raises(HarnessError, match="expected kiosk/TASK with one of: "):
        load_task("kiosk")
