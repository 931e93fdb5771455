"""The bicycle rental: how to start it, reset it, read it, and what an agent must do in it."""

from pathlib import Path

from uigym import Harness, Verifier, all_of
from uigym.params import rows
from uigym.product import Snapshot, Sqlite
from uigym.verifiers.state import changed, unchanged

APP = Path(__file__).with_name("bikes.py")

rental = Harness(
    name="rental",
    start=f"{{python}} '{APP}' --port {{port}} --db {{workdir}}/bikes.db",
    state=Sqlite("{workdir}/bikes.db"),
    reset=Snapshot("{workdir}/bikes.db"),
    viewport=(320, 256),
)


@rental.task("Rent out the {bike[name]}.", "Give the {bike[name]} to a customer.", max_steps=3)
def rent(bike=rows("bikes", where={"rented": 0})) -> Verifier:
    rented = changed("bikes", key=bike["id"], rented=1)
    return all_of(rented, unchanged(except_=rented))


@rent.oracle
async def _(page, bike):
    await page.get_by_role("button", name=f"Rent {bike['name']}").click()
