"""What a proof is worth once the files have changed that it was written beside."""

from __future__ import annotations

from pathlib import Path

from demonstrations import PROVEN, folder, prove

from uigym.exchange import FORMATS, export
from uigym.record import read_demo
from uigym.types import Click, Done


def test_a_proof_is_of_the_files_that_were_proven(tmp_path: Path) -> None:
    store = folder(tmp_path / "run", (Click(100, 80), Done()), (Click(100, 80), Done()), (Click(100, 80), Done()))
    for name in store.ids():
        prove(store, name, PROVEN)
    place = store.directory / "episodes"
    steps = place / "d0" / "steps.jsonl"
    steps.write_text(steps.read_text().replace('"y": 80', '"y": 81'))
    (place / "d3").mkdir()
    for file in (place / "d1").iterdir():  # a copy that calls itself one of another seed
        (place / "d3" / file.name).write_text(
            file.read_text().replace('"id": "d1"', '"id": "d3"').replace('"seed": 1', '"seed": 2')
        )
    done = export(store, None, FORMATS["qwen"], tmp_path / "out")
    assert done.demonstrations == 2 and done.left_out == {"did not count when it was last replayed": 2}
    changed = read_demo(store, "d0")
    assert (
        changed and changed.proof and "not those that were proven" in changed.proof.reason and len(changed.proofs) == 2
    )
    prove(store, "d0", PROVEN)
    again = read_demo(store, "d0")
    assert again and again.proof == PROVEN
