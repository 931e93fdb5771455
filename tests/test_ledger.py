"""A product on PostgreSQL with 50 MB of data: read by what differs, put back exactly, its tasks done in a real browser."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from uigym.harness import Harness
from uigym.policy.scripted import NoOpPolicy, OraclePolicy
from uigym.product import Product
from uigym.registry import load
from uigym.rollout import Request, rollout
from uigym.state import differences

psycopg = pytest.importorskip("psycopg")
FILE = Path(__file__).parent / "gyms" / "ledger.py"


@pytest.fixture(scope="module")
def ledger(postgres: str) -> Harness:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("UIGYM_TEST_POSTGRES", postgres)
        patch.setattr(sys, "path", [*sys.path])
        return load(str(FILE))


async def test_large_data_is_read_by_what_differs_and_put_back_exactly(ledger: Harness) -> None:
    async with Product(ledger) as product:
        with psycopg.connect(product.values["dsn"]) as db:
            assert db.execute("SELECT pg_database_size(current_database()) >= 50e6").fetchone() == (True,)
        first = await product.reset(1)
        assert sum(len(rows) for rows in first.tables.values()) < 30
        for seed in (1, 2, 1):
            with psycopg.connect(product.values["dsn"]) as db:
                db.execute("UPDATE entries SET memo = 'gone' WHERE account = 4 AND id < 9000")
                db.execute("DELETE FROM entries WHERE id = 119000")
            assert len(list(differences(first, await product.read_state()))) > 300
            state = await product.reset(seed)
        assert [str(change) for change in differences(first, state)] == [] and state.digest() == first.digest()


@pytest.mark.browser
async def test_every_task_is_paid_when_it_is_done_and_only_then(ledger: Harness) -> None:
    tasks = [Request(task, 0) for task in ledger.tasks]
    done = [finished.episode async for finished in rollout(ledger, OraclePolicy(), tasks, slots=2)]
    assert [(e.task, e.verdict and e.verdict.score) for e in done if not e.verdict or e.verdict.score < 1] == []
    idle = [finished.episode async for finished in rollout(ledger, NoOpPolicy(), tasks, slots=2)]
    assert [(e.task, e.verdict) for e in idle if e.verdict is None or e.verdict.success] == []
    assert len(done) == len(idle) == 5
