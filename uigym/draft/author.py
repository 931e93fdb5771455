"""From a start command or an address to a file: explore, demonstrate, write, try."""

from __future__ import annotations

import contextlib
import dataclasses
import os
import re
from collections.abc import Awaitable, Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from uigym.browser import Browser
from uigym.draft.demonstration import SEED, Act, Demonstration, Told
from uigym.draft.explore import Found, Start, explore_command, explore_on_server, explore_url, with_port
from uigym.draft.oracle import joined, lines
from uigym.draft.said import Said, number, says
from uigym.draft.start import from_here, names_a_file, rooted
from uigym.draft.text import (
    HERE_IS,
    Part,
    Plan,
    Shown,
    expected,
    harness_text,
    imports,
    quoted,
    task_name,
    unsaid,
    variable,
    whole_text,
)
from uigym.draft.unsteady import at_start, by_itself, by_time, owned
from uigym.env import Env
from uigym.errors import ConfigError, HarnessError, StoreError, UIGymError, attribute
from uigym.harness import Harness, Task
from uigym.policy.scripted import OraclePolicy
from uigym.product.scratch import Scratch
from uigym.registry import load
from uigym.state import Changed, State, differences
from uigym.types import Done, Episode, Type

Demonstrate = Callable[[Demonstration], Awaitable[Told | None]]
"""Plays the demonstration; None where nothing is to come of it."""
Say = Callable[[str], None]
_NO_DATA = ("*.log", "*.pid")
_ROUNDS = 3
_PASSWORD = re.compile(r"(://[^:@/]+):[^@]*@")
_SECRET = "the password of the database stands in this file; take it from the environment before you share it"

_NO_FILE = "the command names no file; if its program has to be started in a certain folder, call uigym there"


@dataclass(frozen=True, kw_only=True, slots=True)
class Asked:
    """What the owner of a product says of it."""

    target: Path
    """The file to write; it must not be there."""
    command: str = ""
    url: str = ""
    """One of the two."""
    name: str = ""
    """Of the harness; "" takes the file's."""
    ready: str = ""
    home: str = "/"
    database: str = ""
    """A SQLite file, or the DSN of a server."""
    state_url: str = ""
    reset_url: str = ""
    viewport: tuple[int, int] = (1280, 800)
    timeout_s: float = 60.0


@dataclass(frozen=True, slots=True)
class Draft:
    """What came of it."""

    path: Path
    task: str
    changes: tuple[Changed, ...]
    """What the demonstration has changed, all of it."""
    faults: tuple[str, ...]
    """What is wrong with it already: nothing if its oracle passes and doing nothing fails."""
    expects: tuple[str, ...] = ()
    """What the verifier asks for, beside that nothing else changes."""


@dataclass(frozen=True, slots=True)
class Place:
    """Where a draft is made."""

    folder: Path
    browser: Browser
    target: Path
    """The folder in which the draft will lie."""

    def load(self, name: str, text: str) -> Harness:
        """The harness that a text defines.

        Raises:
            HarnessError: It defines none.
        """
        path = self.folder / f"{name}.py"
        here = f"HERE = Path({str(self.target)!r})"  # not where it is tried
        path.write_text(text.replace(HERE_IS, here, 1), encoding="utf-8")
        try:
            return load(str(path))
        except HarnessError as exc:
            raise HarnessError(f"the draft cannot be loaded: {exc}\n{text}") from exc


async def draft(asked: Asked, demonstrate: Demonstrate, say: Say) -> Draft | None:
    """Write a first harness for an unknown product.

    Args:
        asked: What is known.
        demonstrate: Plays the one demonstration.
        say: Is told how it goes.

    Raises:
        ConfigError: The file cannot be written, what was asked for cannot be, or nothing changed.
        ProductError, BrowserError: The product or the browser does not start, or is gone.
    """
    check_target(asked)
    plan = await _plan(asked, say)
    scratch, browser = Scratch(), await Browser.launch()
    try:
        return await _draft(asked, plan, demonstrate, say, Place(scratch.path, browser, _folder(asked)))
    finally:
        await browser.close()
        scratch.remove()


def check_target(asked: Asked) -> None:
    """Whether the file can be written.

    Raises:
        ConfigError: It is there already, is no Python file, or its folder is missing or read-only.
    """
    target, folder = asked.target, asked.target.absolute().parent
    if bool(asked.command) == bool(asked.url):
        raise ConfigError("expected a start command or --url, one of the two")
    if target.suffix != ".py":
        raise ConfigError(f"--out {target}: expected a Python file, such as crm.py")
    if target.exists() or target.is_symlink():
        raise ConfigError(f"{target} is there already; name another file, or move that one away")
    if not folder.is_dir() or not os.access(folder, os.W_OK | os.X_OK):
        raise ConfigError(f"{folder} is no folder that can be written to")


async def _plan(asked: Asked, say: Say) -> Plan:
    if asked.command and "://" in asked.database:
        start = with_port(asked.command)
        state, reset = _server_parts(asked.database)
        say(f"starting, each time on a database of its own: {start.command}")
        found = await explore_on_server(start, _made(state[0]), _made(reset[0]), asked.ready, asked.timeout_s)
    elif asked.command:
        start = with_port(asked.command)
        say(f"starting: {start.command}")
        found = await explore_command(start, asked.ready, asked.timeout_s)
        state, reset = _parts(asked, found)
    else:
        start = Start(asked.url)
        found = await explore_url(asked.url, asked.ready)
        state, reset = _parts(asked, found)
    value = rooted(start.command, _folder(asked)) if asked.command else start.command
    hints = [_SECRET] if _PASSWORD.search(asked.database) else []
    hints += [_NO_FILE] if asked.command and not names_a_file(value) else []
    plan = Plan(
        name=_name(asked),
        way="start" if asked.command else "url",
        value=value,
        ready=found.ready,
        home=asked.home,
        viewport=asked.viewport,
        state=state,
        reset=reset,
        remarks=(*found.remarks, *hints),
    )
    read = _PASSWORD.sub(r"\1:...@", ", ".join(map(str, state[:-1] or state)))
    say(f"it is ready when {found.ready} answers; its data: {read}")
    for remark in plan.remarks:
        say(f"note: {remark}")
    return plan


def _made(part: Part) -> Any:
    import uigym.product

    return getattr(uigym.product, part.name)(*part.arguments, **part.options)


def _folder(asked: Asked) -> Path:
    return asked.target.absolute().parent.resolve()


def _name(asked: Asked) -> str:
    name = (asked.name or variable(asked.target.stem)).lower().replace("_", "-").strip("-")
    return name if name[:1].isalpha() else f"product-{name}"


def _parts(asked: Asked, found: Found) -> tuple[tuple[Part, ...], tuple[Part, ...]]:
    """(probes, resets) that fit what was found; files of the work folder last."""
    if asked.state_url or asked.reset_url:
        if not (asked.state_url and asked.reset_url):
            raise ConfigError(
                "--state and --reset go together: the URL that tells the data, and the one that resets them"
            )
        return (Part("Http", (asked.state_url,)),), (Part("HttpReset", (asked.reset_url,)),)
    if "://" in asked.database:
        return _server_parts(asked.database)
    given = asked.database
    if given and asked.url:  # of a command, a relative path starts in the work folder
        given = given if Path(given).is_absolute() else from_here(given, _folder(asked))
    databases = (given,) if given else found.databases
    if not databases and asked.url:
        raise ConfigError(
            f"nothing tells where the data of {asked.url} are; name them: --db FILE or DSN, or --state and --reset URL"
        )
    state = [Part("Sqlite", (path,)) for path in databases]
    reset = [Part("Snapshot", (path,)) for path in databases]
    if asked.command:
        left_out = (*(f"{Path(path).name}*" for path in databases), *_NO_DATA)  # also shop.db-wal
        state.append(Part("Files", ("{workdir}",), left_out))
        reset.append(Part("Directory", ("{workdir}",), left_out))
    return tuple(state), tuple(reset)


def _server_parts(dsn: str) -> tuple[tuple[Part, ...], tuple[Part, ...]]:
    """Probe and reset for a database on a server: every slot gets a copy of it.

    Raises:
        ConfigError: It is no such database.
    """
    head, _, name = dsn.rpartition("/")
    kind = dsn.partition("://")[0]
    if kind in ("mysql", "mariadb") and name:
        own = f"{head}/{{database}}"
        return (Part("Mysql", (own,)),), (Part("MysqlCopy", (own,), (), {"template": name}),)
    if kind in ("postgres", "postgresql") and name:
        return (Part("Postgres"),), (Part("PostgresTemplate", (f"{head}/postgres", dsn)),)
    raise ConfigError("--db: expected a SQLite file, postgresql://USER@HOST:PORT/DATABASE or mysql://...")


async def _draft(asked: Asked, plan: Plan, demonstrate: Demonstrate, say: Say, place: Place) -> Draft | None:
    for attempt in range(_ROUNDS):
        harness = place.load(f"plan{attempt}", f"{imports(plan, ['unchanged'])}\n\n{harness_text(plan)}\n")
        demonstration = Demonstration(harness, place.browser)
        try:
            noise = await demonstration.begin()
            if noise and attempt + 1 < _ROUNDS:
                plan = _without(plan, noise, await demonstration.owners(), say)
                continue
            told = await demonstrate(demonstration)
            if told is None:
                return None
            if not told.instruction.strip():
                raise ConfigError("the demonstration has no instruction: say what an agent is to do, in one sentence")
            episode = await demonstration.end(told)
        finally:
            await demonstration.close()
        return await _write(asked, plan, demonstration, told, episode, place, say)
    raise AssertionError("unreachable")


async def _write(
    asked: Asked, plan: Plan, shown_by: Demonstration, told: Told, episode: Episode, place: Place, say: Say
) -> Draft:
    changes = tuple(differences(episode.before, episode.after))
    if not changes and not told.answer:
        raise ConfigError(_nothing(episode, shown_by.kept))
    if (
        not any(change.table == "files" for change in changes)
        and len(plan.state) > 1
        and not episode.after.tables["files"]
    ):
        plan = dataclasses.replace(plan, state=plan.state[:-1], reset=plan.reset[:-1])
    typed = _typed(shown_by.acts)
    names = _names(told.instruction, typed, changes)
    shown = Shown(
        instruction=told.instruction.strip(),
        answer=told.answer,
        changes=changes,
        oracle=tuple(lines(shown_by.acts, names)),
        names=names,
        typed=typed,
        max_steps=max(10, 2 * len(shown_by.every)),
    )
    say("playing it again, to see what comes out the same")
    plan, shown = await _tried(plan, shown, shown_by, episode.before, place)
    for note in plan.left_out:
        say(f"note: {note}")
    if beyond := unsaid(shown):
        say(f"note: the instruction does not say {', '.join(beyond)}; see the lines that the file marks with # DRAFT")
    text = whole_text(plan, shown, asked.target.name)
    faults = await _faults(place.load("final", text), shown.changes, place.browser)
    _put(asked.target, text)
    expects = (*expected(shown), *([f"the answer {quoted(told.answer)}"] if told.answer else []))
    return Draft(asked.target, task_name(shown.instruction, plan.name), changes, faults, expects)


def _nothing(episode: Episode, kept: Sequence[str]) -> str:
    """Why nothing can be drafted."""
    told = f"nothing changed during the demonstration, in {', '.join(sorted(episode.after.tables))}"
    if kept:
        return (
            f"{told}; but in the browser {' and '.join(kept)} did. A harness with "
            'watch=("storage",) has that in its state, as tables such as browser.local_storage: write the task by hand, '
            "or show one that changes the product's data"
        )
    return f"{told}: show a task that changes the product's data, or give the answer"


async def _faults(harness: Harness, expected: Sequence[Changed], browser: Browser) -> tuple[str, ...]:
    """What a first look finds wrong."""
    (task,) = harness.tasks.values()
    found = []
    async with Env(harness, browser) as env:
        try:
            played = await _play(env, task)
            reason = _verdict(played)
            found += [f"its oracle is not paid: {reason}"] if reason else []
            found += [] if reason else _apart(expected, tuple(differences(played.before, played.after)))
        except UIGymError as exc:
            found += [f"its oracle fails: {exc}"]
        await env.reset(task, SEED)
        await env.step(Done())
        found += (
            [] if _verdict(env.episode) else ["doing nothing is paid: the verifier must ask for a change or an answer"]
        )
    return tuple(found)


def _verdict(episode: Episode | None) -> str:
    """Why an episode is no success; empty if it is one."""
    assert episode is not None and episode.verdict is not None
    return "" if episode.verdict.success else episode.verdict.reason or "no success"


def _apart(expected: Sequence[Changed], found: Sequence[Changed]) -> list[str]:
    """What differs between the demonstration and a play that is paid, though it is part of the state."""
    if _kinds(expected) != _kinds(found):
        return [f"played again it changed {len(found)} rows, the demonstration {len(expected)}"]
    loose = ", ".join(f"{table}.{column}" for table, column in sorted(_loose(expected, found)))
    return (
        [f"played again it left another value in {loose}: ignore it, or tell it by what stays the same"]
        if loose
        else []
    )


async def _tried(plan: Plan, shown: Shown, shown_by: Demonstration, before: State, place: Place) -> tuple[Plan, Shown]:
    """The draft with an oracle that works, and without what comes out differently each time."""
    by_place = tuple(lines(shown_by.every, shown.names, by_place=True))
    candidates = [shown, dataclasses.replace(shown, oracle=by_place, remarks=("the oracle clicks places, since the elements could not be told by role and name",))]  # fmt: skip
    why = ""
    for attempt, candidate in enumerate(candidates):
        try:
            harness = place.load(f"try{attempt}", whole_text(plan, candidate, "x"))
            async with Env(harness, place.browser) as env:
                again = await _play(env, *harness.tasks.values())
                owners = await owned(harness.state, env.product)
        except UIGymError as exc:
            why = why or str(exc).splitlines()[0]
            continue
        other = tuple(differences(again.before, again.after))
        if _kinds(other) == _kinds(shown.changes):
            early = at_start(differences(before, again.before))
            return _steady(plan, candidate, other, early, owners)
        why = why or f"its second run changed {len(other)} rows, the demonstration {len(shown.changes)}"
    return plan, dataclasses.replace(shown, remarks=(f"the oracle does not do it again yet: {why.rstrip('.')}",))


def _steady(
    plan: Plan,
    shown: Shown,
    again: Sequence[Changed],
    early: frozenset[tuple[str, str]],
    owners: Sequence[Collection[str]],
) -> tuple[Plan, Shown]:
    """The draft without what differs between two plays, or (`early`) between two starts."""
    loose = _loose(shown.changes, again) | early
    left_out = by_time(loose, shown.changes, again, plan)
    changes = tuple(left_out.removed_from(shown.changes))
    notes = [f"{', '.join(left_out.entries)}: came out differently the second time, so it is left out of the state"]
    plan = dataclasses.replace(left_out.ignored_by(plan, owners), left_out=tuple(notes if left_out else ()))
    return plan, dataclasses.replace(shown, changes=changes, loose=frozenset(loose - left_out.columns))


async def _play(env: Env, task: Task) -> Episode:
    """The task, played by its oracle."""
    observation = await env.reset(task, SEED)
    script = OraclePolicy().for_episode(env)
    try:
        while env.episode is None:
            observation = (await env.step(await script.act(observation, env.history))).observation
    finally:
        await script.close()
    return env.episode


def _loose(first: Sequence[Changed], second: Sequence[Changed]) -> frozenset[tuple[str, str]]:
    """(table, column) whose new values are not the same in two runs: times, random ids."""
    found = set()
    for one, other in zip(_sorted(first), _sorted(second), strict=True):
        row, again = one.after or {}, other.after or {}
        found |= {(one.table, column) for column in row if row[column] != again.get(column)}
    return frozenset(found)


def _kinds(changes: Iterable[Changed]) -> list[tuple[Any, ...]]:
    return sorted((change.table, change.before is None, change.after is None) for change in changes)


def _sorted(changes: Iterable[Changed]) -> list[Changed]:
    """In the order of the tables and kinds; within one, as they came: new rows in the order of their keys."""
    return sorted(changes, key=lambda change: (change.table, change.before is None, change.after is None))


def _typed(acts: Sequence[Act]) -> list[str]:
    """Texts that were typed, or chosen in a native list."""
    acts = joined(acts)
    found = [act.action.text if isinstance(act.action, Type) else act.picked for act in acts]
    return [*dict.fromkeys(filter(None, found))]


def _names(instruction: str, typed: Sequence[str], changes: Sequence[Changed]) -> Mapping[Said, str]:
    """Texts and numbers that were typed, are in the instruction and came to be in the data: the first parameters."""
    found: dict[Said, str] = {}
    for text in typed:
        of_text, of_number = _columns(changes, text), _columns(changes, number(text))
        each: Said = text if of_text else number(text) or 0
        columns = of_text or of_number
        # A number that several columns have is one of them by chance, and a single letter is in many words.
        is_clear = len(columns) == 1 if number(text) is not None else bool(columns) and len(text) > 1
        if is_clear and says(instruction, text) and not any(says(str(o), text) or says(text, o) for o in found):
            found[each] = variable(columns[0], {*found.values()})
    return found


def _columns(changes: Sequence[Changed], value: Said | None) -> list[str]:
    """The columns that have come to hold a value; not those of numbered keys."""
    if value is None:
        return []
    rows = [(change, change.after or {}) for change in changes]
    found = {
        (change.table, column): column
        for change, row in rows
        for column, held in row.items()
        if held == value
        and not isinstance(held, bool)
        and isinstance(held, str) == isinstance(value, str)
        and not (column in change.key and isinstance(held, int))
        and (change.before is None or change.before.get(column) != held)
    }
    return [*found.values()]


def _without(plan: Plan, noise: Sequence[Changed], owners: Sequence[Collection[str]], say: Say) -> Plan:
    """The plan without what changes by itself."""
    left_out = by_itself(noise)
    for entry in left_out.entries:
        say(f"note: {entry} changes by itself when the first page is opened, and is left out of the state")
    remark = f"{', '.join(left_out.entries)}: left out of the state, since it changes when the first page is opened"
    return dataclasses.replace(left_out.ignored_by(plan, owners), remarks=(*plan.remarks, remark))


def _put(target: Path, text: str) -> None:
    """Write the file, whole or not at all."""
    with attribute(StoreError, f"cannot write {target}"):
        new = target.with_name(f".{target.name}.new")
        try:
            with new.open("x", encoding="utf-8") as file:
                file.write(text)
            target.hardlink_to(new)  # fails where somebody has made the file meanwhile
        finally:
            with contextlib.suppress(FileNotFoundError):
                new.unlink()
