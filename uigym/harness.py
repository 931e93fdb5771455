"""What a product's owner writes: how to start, reset and read the product, and what an agent must do in it."""

from __future__ import annotations

import inspect
import math
import random
import re
import string
import traceback
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

from uigym.errors import HarnessError, did_you_mean
from uigym.given import check_given, is_path
from uigym.offer import Offer, check_offer
from uigym.params import Sampler
from uigym.splits import SPLIT_SIZE as SPLIT_SIZE
from uigym.splits import Looks as Looks
from uigym.splits import Split as Split
from uigym.surroundings import Surroundings
from uigym.types import GRANTED, State
from uigym.verify import Verifier

_REDRAWS = 20
"""How often another value of a parameter is drawn before it is said to have none."""
_NAME = re.compile(r"[a-z][a-z0-9_-]*")


class Running(Protocol):
    """A product that is up, as probes and resets see it."""

    base_url: str
    port: int
    workdir: Any
    """pathlib.Path of the product's own work folder; {workdir} in a harness's strings."""
    values: Mapping[str, str]
    """What a harness's strings may name in braces: workdir, port, python, and what probes and resets have added."""

    @property
    def beside(self) -> Mapping[str, Running]:
        """The products that run beside it, by name."""


Probe = Callable[[Running], Awaitable[State]]
"""Reads the product's state out of band. Raises where it cannot; never gives an empty state instead."""
Reset = Callable[[Running, int, Mapping[str, str]], Awaitable[None]]
"""(product, seed, appearance) -> the product holds the seed's data, in that appearance."""
Meet = Callable[[Mapping[str, Running]], Awaitable[None]]
"""Gets all products that run together, by name; the harness's own is the first."""


class Installable(Protocol):
    """A product of others that is fetched once, such as `uigym.product.Pip("wagtail==7.0")`."""

    @property
    def value(self) -> str:
        """What a harness's strings name its folder by, in braces."""

    async def installed(self) -> Path:
        """Its folder; what is not there is fetched first."""


@dataclass(frozen=True, slots=True)
class Instance:
    """A task with its parameters filled in: what one episode is about."""

    task: Task
    seed: int
    params: Mapping[str, Any]
    instruction: str
    verifier: Verifier
    files: Offer = field(default_factory=dict)
    """What an Upload may name: the harness's files and the task's own."""

    @property
    def id(self) -> str:
        """harness/task."""
        return self.task.id

    @property
    def home(self) -> str:
        """Path at which its episode begins."""
        return self.task.home_with(self.params, self.seed)


@dataclass(eq=False)
class Task:
    """An instruction, its parameters, and what must be true afterwards."""

    harness: Harness
    name: str
    wordings: tuple[str, ...]
    """Ways to say it, each with {parameters}."""
    heldout_wordings: tuple[str, ...]
    """Ways to say it that only held-out seeds hear."""
    function: Callable[..., Verifier]
    samplers: Mapping[str, Sampler]
    max_steps: int
    tags: tuple[str, ...] = ()
    expected_steps: int | None = None
    """How many actions the oracle needs at most; None if unknown."""
    files: Offer | Callable[..., Offer] = field(default_factory=dict)
    """Files for uploads, beside the harness's; or a function of parameters of the task that gives them."""
    home: str = ""
    """Path at which its episodes begin, with {parameters} and {seed}; empty is the harness's."""
    solve: Callable[..., Awaitable[str | None]] | None = None
    """The oracle: async (page, **params) -> the answer, or None."""

    @property
    def id(self) -> str:
        """harness/task."""
        return f"{self.harness.name}/{self.name}"

    def oracle(self, function: Callable[..., Awaitable[str | None]]) -> Callable[..., Awaitable[str | None]]:
        """Decorator: the scripted solution, in Playwright's own words, by mouse and keyboard.

        It gets `page` and the task's parameters. What it returns is the answer; None says that it is done.
        """
        allowed = ["page", *self.samplers]
        for name in inspect.signature(function).parameters:
            if name not in allowed:
                raise HarnessError(
                    f"the oracle of {self.id} takes {name!r}, which is no parameter. {did_you_mean(name, allowed)}"
                )
        self.solve = function
        return function

    def instance(self, seed: int, state: State) -> Instance:
        """Draw the parameters for a seed, given the state that the product has after a reset with it.

        Raises:
            HarnessError: A sampler found nothing to draw, or the task function failed.
        """
        rng = random.Random(f"{self.id}:{seed}")
        params: dict[str, Any] = {}
        for name in self.samplers:
            params[name] = self._drawn(name, rng, state, params, seed)
        spoken = self.heldout_wordings if Split.of(seed) is Split.HELDOUT and self.heldout_wordings else self.wordings
        return self.given(params, seed, _other(spoken, rng, self.harness.variation))

    def home_for(self, seed: int, state: State) -> str:
        """Path at which the episode of a seed begins; of the parameters, no more are drawn than it needs.

        Raises:
            HarnessError: A parameter cannot be drawn, or its value does not fit into the path.
        """
        rng = random.Random(f"{self.id}:{seed}")
        params: dict[str, Any] = {}
        needed = set(_fields(self.home)) - {"seed"}
        for name in self.samplers:
            if needed <= params.keys():
                break
            params[name] = self._drawn(name, rng, state, params, seed)
        return self.home_with(params, seed)

    def home_with(self, params: Mapping[str, Any], seed: int) -> str:
        """Path at which an episode with these parameters begins.

        Raises:
            HarnessError: A value does not fit into the path.
        """
        try:
            return self.home.format(**{"seed": seed, **params}) if self.home else self.harness.home
        except (LookupError, ValueError, TypeError, AttributeError) as exc:
            raise HarnessError(f"task {self.id}: cannot fill in home={self.home!r}: {_described(exc)}") from exc

    def given(self, params: Mapping[str, Any], seed: int, wording: str) -> Instance:
        """The task with these parameters, said in this way.

        Raises:
            HarnessError: The wording cannot be filled in, or the task function failed.
        """
        try:
            instruction = wording.format(**params)
        except (LookupError, ValueError, TypeError, AttributeError) as exc:
            raise HarnessError(f"task {self.id}: cannot say {wording!r} with {params}: {_described(exc)}") from exc
        try:
            verifier = self.function(**params)
        except (Exception, SystemExit) as exc:
            where = _line_in(self.function, exc)
            raise HarnessError(f"task {self.id}, seed {seed}: its function raised {_described(exc)}{where}") from exc
        if not callable(verifier):
            raise HarnessError(f"task {self.id}: its function must return a verifier, not {verifier!r}")
        return Instance(self, seed, params, instruction, verifier, self._offer(params, seed))

    def otherwise(self, instance: Instance, state: State, name: str, number: int = 0) -> dict[str, Any] | None:
        """The parameters of an instance with another value of one of them.

        What was drawn with a look at a parameter that has changed is drawn again; all else stays.

        Args:
            instance: Whose parameters.
            state: The product's state when its episode began.
            name: The parameter that gets another value.
            number: Which other value; each number gives its own draw, not always a different one.

        Returns:
            All parameters; None if no other value can be drawn.
        """
        rng = random.Random(f"{self.id}:{instance.seed}:{name}:{number}")
        params: dict[str, Any] = {}
        moved = {name}
        try:
            for each in self.samplers:
                seen = _Seen(params)
                drawn = self._drawn(each, rng, state, seen, instance.seed)
                if each == name:
                    again = (self._drawn(each, rng, state, seen, instance.seed) for _ in range(_REDRAWS))
                    drawn = next((value for value in again if value != instance.params[each]), instance.params[each])
                    if drawn == instance.params[each]:
                        return None
                elif not seen.read & moved:
                    drawn = instance.params[each]
                if drawn != instance.params[each]:
                    moved.add(each)
                params[each] = drawn
        except HarnessError:
            return None
        return params

    def _drawn(self, name: str, rng: random.Random, state: State, params: Mapping[str, Any], seed: int) -> Any:
        try:
            return self.samplers[name].draw(rng, state, params)
        except HarnessError as exc:
            raise HarnessError(f"task {self.id}, seed {seed}, parameter {name!r}: {exc}") from exc
        except (Exception, SystemExit) as exc:
            raise HarnessError(f"task {self.id}, seed {seed}, parameter {name!r}: {_described(exc)}") from exc

    def _offer(self, params: Mapping[str, Any], seed: int) -> Offer:
        where = f"task {self.id}, seed {seed}"
        given = self.files
        if callable(given):
            try:
                given = given(**{name: params[name] for name in inspect.signature(given).parameters})
            except (Exception, SystemExit) as exc:
                raise HarnessError(f"{where}: its files: {_described(exc)}") from exc
            check_offer(given, where)
        return {**self.harness.files, **given}


@dataclass(eq=False, kw_only=True)
class Harness:
    """One product: how to start it, reset it, read its state, and its tasks."""

    name: str
    state: Probe
    reset: Reset
    install: tuple[Installable, ...] = ()
    """What is fetched before the first start, such as Pip("wagtail==7.0"): its folder is {pip}, {npm} or {apt}."""
    start: str = ""
    """Command that starts the product, run in the current folder and without a shell; {port}, {workdir}, {python}
    (the interpreter that runs the gym), {pip} and the like, and what `state` and `reset` prepare, such as {database},
    are filled in."""
    asgi: str | Callable[..., Any] = ""
    """Function (workdir) -> ASGI app, or "module:function"; all such apps are served from one warm thread. It may take
    what is installed and what `state` and `reset` prepare as keyword arguments: (workdir, npm, database)."""
    url: str = ""
    """Address of a product that is already running."""
    ready: str = "/"
    """Path that answers 200 once the product can take traffic."""
    ready_timeout_s: float = 60.0
    home: str = "/"
    """Path at which every episode begins."""
    viewport: tuple[int, int] = (1280, 720)
    """CSS px."""
    surroundings: Surroundings = field(default_factory=Surroundings)
    """Locale, time zone, clock, density, permissions and the like."""
    grants: tuple[type, ...] = ()
    """Actions beyond mouse and keyboard that policies may use: Goto, Back, SwitchTab, Upload, Dialog."""
    files: Offer = field(default_factory=dict)
    """Files that every episode can upload, by name: text, bytes, or the Path of a file to copy."""
    looks: Mapping[str, Looks] = field(default_factory=dict)
    """Parts of the appearance (theme, layout, density) and their values."""
    logs: tuple[str, ...] = ()
    """Tables, and columns as "table.column", that only tell what happened, such as an audit log: `uigym check` does not
    count a difference there as other work. Resets put them back all the same."""
    allow: tuple[str, ...] = ()
    """Origins that the product's pages may reach beside its own, such as "https://cdn.example"; all else is refused."""
    beside: Mapping[str, Harness] = field(default_factory=dict)
    """Other products that run beside this one, by a short name, each started, reset and read as its own harness says.
    Their tables are called "name.table"; parts of the appearance that they share with this one are as in this one."""
    meet: Meet | None = None
    """Tells products of each other, so that pages can link to them: called once all are up, before the first reset."""
    watch: tuple[str, ...] = ()
    """What episodes keep for verifiers: "network" (`Episode.network`), "page" (`Episode.page`), "storage" (tables
    `browser.cookies`, `browser.local_storage`, ... in the state before and after)."""
    init: str = ""
    """JavaScript that runs in the pages' own world before the scripts of every document; `seed` is the episode's. For
    what the product has no switch for: to seed its own randomness, to leave out a tour."""
    reads: Mapping[str, str] = field(default_factory=dict)
    """JavaScript expressions by name, whose values in the page that is shown are the rows of the table
    `browser.values` (name, value), in the state before and after: for a product that keeps what matters in its page."""
    until: str = ""
    """Which of `reads` says, by a value that JavaScript takes for true, that the episode is over; asked after each step."""
    variation: int = 0
    """Which other look and wording each seed gets: 0 is its own, 1 the next values of all, and so on. Made by
    `uigym.record.varied`, for demonstrations of the same work in several looks."""
    tasks: dict[str, Task] = field(default_factory=dict, init=False)

    def __post_init__(self) -> None:
        check_given(self)
        if not _NAME.fullmatch(self.name):
            raise HarnessError(f"a harness's name must be lower-case letters, digits, - and _, not {self.name!r}")
        ways = [way for way, value in (("start", self.start), ("asgi", self.asgi), ("url", self.url)) if value]
        if len(ways) != 1:
            raise HarnessError(
                f"harness {self.name}: give exactly one of start, asgi and url (given: {', '.join(ways) or 'none'})"
            )
        for role, value in (("state", self.state), ("reset", self.reset)):
            if not callable(value) or isinstance(value, type):
                raise HarnessError(
                    f"harness {self.name}: {role} must be an async callable such as Sqlite(...), not {value!r}"
                )
        check_offer(self.files, f"harness {self.name}")
        self._take_in_others()
        for action in self.grants:
            if action not in GRANTED:
                raise HarnessError(
                    f"harness {self.name}: {action!r} cannot be granted; expected some of {[a.__name__ for a in GRANTED]}"
                )

    def _take_in_others(self) -> None:
        for name, other in self.beside.items():
            if not isinstance(other, Harness) or not _NAME.fullmatch(name) or name == self.name:
                raise HarnessError(
                    f"harness {self.name}: beside maps names of their own to harnesses, not {name!r} to {other!r:.200}"
                )
            if other.beside:
                raise HarnessError(f"harness {self.name}: {name} has products beside it; name those here as well")
            self.logs = (*self.logs, *(f"{name}.{log}" for log in other.logs))

    @property
    def alone(self) -> bool:
        """Whether a product of it was already running, so that slots would share its data."""
        return bool(self.url) or any(other.url for other in self.beside.values())

    def task(
        self,
        *wordings: str,
        max_steps: int,
        heldout_wordings: Sequence[str] = (),
        tags: Sequence[str] = (),
        expected_steps: int | None = None,
        files: Offer | Callable[..., Offer] | None = None,
        home: str = "",
    ) -> Callable[[Callable[..., Verifier]], Task]:
        """Decorator: add a task. The function's parameters are the task's, their defaults are samplers.

        Args:
            wordings: One or more ways to give the instruction, with {parameters}.
            max_steps: The episode is truncated after this many actions.
            heldout_wordings: Ways that only held-out seeds hear.
            tags: For choosing tasks: skill, difficulty.
            expected_steps: How many actions the oracle needs at most.
            files: Files for uploads, by name: text, bytes or a Path; or a function that makes them of some of the
                task's parameters.
            home: Path at which the task's episodes begin, with {parameters} and {seed}; else the harness's.
        """

        def add(function: Callable[..., Verifier]) -> Task:
            name = getattr(function, "__name__", "")
            where = f"task {name!r} of harness {self.name!r}"
            if name in self.tasks:
                raise HarnessError(f"{where} is defined twice")
            if not wordings or type(max_steps) is not int or max_steps < 1:
                raise HarnessError(f"{where}: needs at least one wording and a whole max_steps >= 1, not {max_steps!r}")
            if isinstance(tags, str) or isinstance(heldout_wordings, str):
                raise HarnessError(f"{where}: tags and heldout_wordings are several texts, such as ('short',)")
            samplers = _samplers(function, where)
            for wording in (*wordings, *heldout_wordings):
                _check_fields(wording, samplers, where)
            if home and not is_path(home):
                raise HarnessError(f'{where}: home must be a path such as "/orders/new", not {home!r:.200}')
            _check_fields(home, {"seed": None, **samplers}, where, "its home")
            if not callable(files):
                check_offer(files or {}, where)
            task = Task(
                self,
                name,
                wordings,
                tuple(heldout_wordings),
                function,
                samplers,
                max_steps,
                tuple(tags),
                expected_steps,
                files or {},
                home,
            )
            self.tasks[name] = task
            return task

        return add

    def find_task(self, name: str) -> Task:
        """The task of that name.

        Raises:
            HarnessError: There is none; the message has the nearest name.
        """
        if name not in self.tasks:
            raise HarnessError(f'harness "{self.name}" has no task "{name}". {did_you_mean(name, self.tasks)}')
        return self.tasks[name]

    def appearance(self, seed: int) -> dict[str, str]:
        """How the product looks for a seed: one value for each part of the appearance."""
        rng = random.Random(f"{self.name}:appearance:{seed}")
        heldout = Split.of(seed) is Split.HELDOUT
        return {
            part: _other(looks.heldout if heldout and looks.heldout else looks.train, rng, self.variation)
            for part, looks in self.looks.items()
        }

    def appearances(self, split: Split) -> int:
        """How many appearances the seeds of a split are spread over."""
        heldout = split is Split.HELDOUT
        return math.prod(
            len(set(look.heldout if heldout and look.heldout else look.train)) for look in self.looks.values()
        )


class _Seen(Mapping[str, Any]):
    """Parameters that know which of them were looked at."""

    def __init__(self, params: Mapping[str, Any]):
        self._params = params
        self.read: set[str] = set()

    def __getitem__(self, name: str) -> Any:
        self.read.add(name)
        return self._params[name]

    def __iter__(self) -> Iterator[str]:
        self.read |= self._params.keys()
        return iter(self._params)

    def __len__(self) -> int:
        return len(self._params)


def _other(values: Sequence[str], rng: random.Random, variation: int) -> str:
    """The value that the generator draws, or the one so many places after it."""
    return values[(rng.choice(range(len(values))) + variation) % len(values)]


def _described(exc: BaseException) -> str:
    return f"{type(exc).__name__}: {exc}"


def _line_in(function: Callable[..., Any], exc: BaseException) -> str:
    """(file, line 12): where in the file of the function an error arose; empty if it did not."""
    file = inspect.getsourcefile(function)
    lines = [frame.lineno for frame in traceback.extract_tb(exc.__traceback__) if frame.filename == file]
    return f" ({file}, line {lines[-1]})" if lines else ""


def _samplers(function: Callable[..., Any], where: str) -> dict[str, Sampler]:
    found = {}
    for name, parameter in inspect.signature(function).parameters.items():
        if not isinstance(parameter.default, Sampler):
            raise HarnessError(
                f"{where}: the default of parameter {name!r} must be a sampler such as one_of(...), not {parameter.default!r}"
            )
        found[name] = parameter.default
    return found


def _fields(text: str) -> list[str]:
    """The parameters that a text names in braces."""
    return [re.split(r"[.\[]", name)[0] for _, name, _, _ in string.Formatter().parse(text) if name is not None]


def _check_fields(text: str, samplers: Mapping[str, Any], where: str, what: str = "the instruction") -> None:
    try:
        fields = _fields(text)
    except ValueError as exc:
        raise HarnessError(f"{where}: {what} {text!r} cannot be read: {exc}") from exc
    for name in fields:
        if name not in samplers:
            hint = did_you_mean(name, samplers).replace("Available", "Parameters")
            raise HarnessError(f"{where}: {what} uses {{{name}}}, which is not a parameter. {hint}")
