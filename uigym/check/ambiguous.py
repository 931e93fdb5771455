"""Does the instruction tell apart what the verifier tells apart?"""

from __future__ import annotations

from collections.abc import Iterator

from uigym.check.mutants import Right, short
from uigym.errors import UIGymError
from uigym.verify import judge

DRAWS = 60
"""How many other values of a parameter are looked at: enough to meet a look-alike among some dozens."""


def ambiguities(right: Right) -> Iterator[str]:
    """Where two goals are said in the same words: another value of a parameter, for which what the oracle did is wrong.

    An instruction that names a customer by a name that two have, or leaves a parameter out, asks for luck.
    """
    task, before = right.instance.task, right.episode.before
    wordings = (*task.wordings, *task.heldout_wordings)
    for name, value in right.instance.params.items():
        if isinstance(value, str | int) and all(f"{{{name}}}" in wording for wording in wordings):
            continue  # it is said as it is
        told = set[str]()
        for number in range(DRAWS):
            params = task.otherwise(right.instance, before, name, number)
            if params is None:
                break
            for wording in wordings:
                if wording in told or wording.format(**params) != wording.format(**right.instance.params):
                    continue
                try:
                    other = task.given(params, right.instance.seed, wording)
                    if judge(other.verifier, right.episode).success:
                        continue
                except UIGymError:
                    continue
                told.add(wording)
                was, now = (
                    short(right.instance.params[name], params[name]),
                    short(params[name], right.instance.params[name]),
                )
                yield (
                    f"{wording!r} says the same for {name}={was} and for {name}={now}, but the verifier wants something "
                    f"else: say what tells them apart, or sample only what the wording makes plain"
                )
