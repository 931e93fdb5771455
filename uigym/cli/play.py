"""Commands that play episodes: run, record, report, eval."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.markup import escape
from rich.table import Table

from uigym.agent import Agent, Plan, Trial
from uigym.cli.options import (
    AsJson,
    KeepIn,
    OutFolder,
    Seeds,
    Slots,
    SplitName,
    Takeover,
    TaskRef,
    find_tasks,
    harness_ref,
    parse_seeds,
)
from uigym.cli.recorder import Giver, record_on_page
from uigym.cli.serving import ServerCodec, ServerContext, ServerKey, ServerModel, ServerUrl, find_agent, served
from uigym.cli.terminal import FAILED, Shown, out, print_json, print_path, progress, say
from uigym.errors import ConfigError, StoreError, attribute
from uigym.evaluate import Evaluation, Score
from uigym.harness import SPLIT_SIZE, Harness, Split
from uigym.policy import EpisodePolicy, Policy, policy_name
from uigym.record import Recording, requests, solvable
from uigym.record.oracles import Order, Proven, Proving, record_played
from uigym.rollout import Request
from uigym.store import RunStore
from uigym.types import Episode

_TOLD = 10
"""Demonstrations that do not count, of which the reasons are told."""


def run(
    harness: TaskRef,
    policy: Annotated[
        str, typer.Option(metavar="POLICY", help="noop, random, oracle, tiny, or a checkpoint folder.")
    ] = "tiny",
    seeds: Seeds = "0:10",
    split: SplitName = Split.TRAIN,
    slots: Slots = 4,
    folder: KeepIn = None,
    resume: Annotated[bool, typer.Option(help="Go on with a run that is in the folder.")] = False,
    takeover: Takeover = False,
    as_json: AsJson = False,
) -> None:
    """Let a policy play, and say how well it did.

    \b
      uigym run kiosk/order --policy oracle --seeds 0:3
      uigym run desk --policy random --out runs/random
      uigym run ./crm.py --policy runs/quickstart --split heldout
    """
    found, tasks = find_tasks(harness)
    wanted = requests(tasks, parse_seeds(seeds, split))
    agent = Agent.from_checkpoint(policy)
    store, stored = _open(folder, resume)
    ids = {request.id(found.name) for request in wanted}
    earlier = [episode for episode in stored if episode.id in ids]
    _same_policy(earlier, policy_name(agent.policy), folder)
    done = {episode.id for episode in earlier}
    todo = [request for request in wanted if request.id(found.name) not in done]
    trial = _play(agent, found, todo, Plan(slots=slots, takeover=takeover), store) if todo else None
    _finish(found, [*earlier, *(trial.episodes if trial else ())], folder, as_json)


def eval_(
    harness: TaskRef,
    checkpoint: Annotated[
        str | None,
        typer.Option(
            "--checkpoint",
            "--policy",
            metavar="DIR",
            help="Folder that training wrote; tiny, the model that comes with uigym; or noop, random, oracle.",
        ),
    ] = None,
    server: ServerUrl = None,
    model: ServerModel = None,
    codec: ServerCodec = None,
    context: ServerContext = None,
    key: ServerKey = None,
    split: SplitName = Split.HELDOUT,
    episodes: Annotated[
        int | None,
        typer.Option(
            min=1, max=SPLIT_SIZE, help="In all, spread evenly over the tasks; without it 100, or one for each task."
        ),
    ] = None,
    seeds: Annotated[
        str | None, typer.Option(metavar="A:B", help="Instead of --episodes: every task on these seeds of the split.")
    ] = None,
    greedy: Annotated[
        bool, typer.Option(help="Always the likeliest action, instead of drawing as in training.")
    ] = False,
    slots: Slots = 4,
    folder: KeepIn = None,
    as_json: AsJson = False,
) -> None:
    """Measure a checkpoint, or a model behind a server.

    Success rate with its 95 % interval, task by task.

    \b
      uigym eval kiosk --checkpoint runs/quickstart --split heldout --episodes 300
      uigym eval kiosk/order --checkpoint tiny --greedy --json
      uigym eval desk --policy random --seeds 0:2
      uigym eval desk --server http://127.0.0.1:30000 --model Qwen/Qwen3-VL-4B-Instruct
    """
    found, tasks = find_tasks(harness)
    if seeds is not None and episodes is not None:
        raise ConfigError("--episodes and --seeds both say how much is played; give one of them")
    plan = Plan(episodes=episodes or max(100, len(tasks)), split=split, slots=slots)
    todo = plan.requests(tasks) if seeds is None else requests(tasks, parse_seeds(seeds, split))
    asked = served(server, model=model, codec=codec, context=context, key=key)
    agent = find_agent(checkpoint, asked, greedy=greedy)
    store, _ = _open(folder, resume=False)
    trial = _play(agent, found, todo, plan, store)
    _finish(found, trial.episodes, folder, as_json)


def record_(
    harness: TaskRef,
    folder: OutFolder,
    policy: Annotated[
        str,
        typer.Option(metavar="POLICY", help="Who shows it: oracle, or a checkpoint folder; without it you, on a page."),
    ] = "",
    seeds: Seeds = "0:10",
    split: SplitName = Split.TRAIN,
    vary: Annotated[
        int, typer.Option(min=1, help="Show each task and seed in so many looks and wordings; 1 is the seed's own.")
    ] = 1,
    prove: Annotated[
        Proving, typer.Option(help="Which are played again: some of each task, and all where one fails; all; or none.")
    ] = "some",
    product_version: Annotated[str, typer.Option(metavar="X", help="Of the product; kept with the proofs.")] = "",
    slots: Slots = 4,
    workers: Annotated[int, typer.Option(min=1, help="Processes, each with its own slots.")] = 1,
    by: Annotated[str, typer.Option(metavar="NAME", help="Who you are, for the record; without --policy.")] = "person",
    headed: Annotated[bool, typer.Option("--headed", help="Open the page in a window of its own.")] = False,
    port: Annotated[int, typer.Option(min=0, max=65535, help="Of the page; 0 takes one that is free.")] = 0,
    as_json: AsJson = False,
) -> None:
    """Record demonstrations, yours or a policy's.

    You give yours on a page that shows the product live. A demonstration counts when its actions, played again, end in
    the same state, the verifier passes, and doing nothing does not. Of a policy only successful episodes are kept; what
    was left out is counted by why.

    \b
      uigym record desk/open_customer --seeds 0 --out data/desk
      uigym record kiosk --policy oracle --seeds 0:50 --out data/demos
      uigym record desk --policy oracle --seeds 0:25 --vary 2 --workers 2 --out data/desk
    """
    found, tasks = find_tasks(harness)
    if not policy:
        wanted = requests(tasks, parse_seeds(seeds, split))
        record_on_page(found, wanted, folder, Giver(by, "window" if headed else "web"), port=port, as_json=as_json)
        return
    able, unable = solvable(tasks) if policy == "oracle" else (list(tasks), [])
    for task in unable:
        say(f"{task.id} has no oracle and is left out")
    order = Order(
        tasks=tuple(task.name for task in able),
        seeds=tuple(parse_seeds(seeds, split)),
        variations=vary,
        player=partial(_player, policy),
        proving=prove,
        product_version=product_version,
        slots=slots,
        workers=workers,
    )
    began, done = time.monotonic(), 0
    with progress(f"recording {found.name}", len(able) * len(order.seeds) * vary) as shown:

        def hear(task: str, good: bool) -> None:
            nonlocal done
            done += 1
            shown(done, f"last {task}{'' if good else ', which failed'}")

        recording, proven = record_played(harness_ref(harness), order, RunStore(folder), hear)
    seconds = time.monotonic() - began
    if as_json:
        print_json(_recording_json(recording, proven, folder, seconds))
    else:
        _print_recording(recording, proven, folder, seconds)


def _player(name: str) -> Policy | EpisodePolicy:
    return Agent.from_checkpoint(name).policy


def report_(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="Folder of a run: what --out named.")],
    episodes: Annotated[int, typer.Option(min=1, max=500, help="Show at most so many, failures first.")] = 20,
) -> None:
    """Make a page of a run, or of a training run.

    What was seen and done, step by step, and what the verifier says; of a training run its curves and signs of trouble.

    \b
      uigym run ./crm.py --policy oracle --seeds 0:3 --out runs/crm
      uigym report runs/crm
      uigym report runs/kiosk
    """
    from uigym.report import Clip, render_clips
    from uigym.report.training import is_training, write_training

    if is_training(folder):
        return print_path(write_training(folder))
    if not (folder / "run.json").is_file():
        raise ConfigError(
            f"{folder} holds no run; expected the folder that --out of run, eval or record named, or that of a training"
        )
    store = RunStore(folder)
    records = sorted(store.manifests(), key=lambda r: ((r.get("verdict") or {}).get("success", False), r["id"]))
    if not records:
        raise ConfigError(f"the run in {folder} has no episode that is over")
    clips = []
    for told in records[:episodes]:
        episode = store.episode(told["id"])
        names = {step.image for step in episode.steps} | {episode.final_image} - {""}
        title = f"{episode.task}, seed {episode.seed}: {episode.instruction}"
        clips.append(Clip(title, episode, {name: store.image(name) for name in names}))
    page = folder / "report.html"
    with attribute(StoreError, f"cannot write {page}"):
        page.write_text(render_clips(clips), encoding="utf-8")
    say(f"{len(clips)} of {len(records)} episodes")
    print_path(page)


def _counter(shown: Shown) -> Callable[[Episode], None]:
    """Moves a progress bar on with each episode."""
    seen, successes = 0, 0

    def count(episode: Episode) -> None:
        nonlocal seen, successes
        seen += 1
        successes += bool(episode.verdict and episode.verdict.success)
        shown(seen, f"{successes} successes, last {episode.task}")

    return count


def _open(folder: Path | None, resume: bool) -> tuple[RunStore | None, list[Episode]]:
    """The store of a folder and what it holds that need not be played again.

    Raises:
        ConfigError: It holds a run that nobody asked to resume.
    """
    if folder is None:
        if resume:
            raise ConfigError("--resume needs the folder to go on with: --out DIR")
        return None, []
    store = RunStore(folder)
    store.claim()
    done = store.done()
    if done and not resume:
        raise ConfigError(
            f"{folder} already holds a run of {len(done)} episodes. Add --resume, or name another folder."
        )
    return store, [store.episode(name) for name in sorted(done)]


def _same_policy(episodes: Sequence[Episode], policy: str, folder: Path | None) -> None:
    """Refuse to sum up what different policies did.

    Raises:
        ConfigError: Another policy played some of the episodes.
    """
    if others := sorted({episode.policy for episode in episodes} - {policy}):
        raise ConfigError(f"{folder} holds episodes of {', '.join(others)}, not of {policy}. Name another folder.")


def _play(agent: Agent, harness: Harness, todo: Sequence[Request], plan: Plan, store: RunStore | None) -> Trial:
    async def play() -> Trial:
        try:
            return await agent.play(harness, todo, plan, store=store, on_episode=_counter(shown))
        finally:
            await agent.close()

    with progress(f"playing {harness.name}", len(todo)) as shown:
        return asyncio.run(play())


def _finish(harness: Harness, episodes: Sequence[Episode], folder: Path | None, as_json: bool) -> None:
    """Print the result; exit code 1 if not one episode got a verdict."""
    from uigym.evaluate import evaluate

    result = evaluate(episodes)
    if as_json:
        print_json({"harness": harness.name, "out": str(folder) if folder else None, **result.to_json()})
    else:
        _print_evaluation(harness, result, episodes, folder)
    if result.episodes and not result.valid:
        raise typer.Exit(FAILED)


# --- tables ------------------------------------------------------------------------------------------------


def _print_evaluation(harness: Harness, result: Evaluation, episodes: Sequence[Episode], folder: Path | None) -> None:
    table = Table(
        "task", "success", "95 % interval", "score", "steps", "episodes", box=None, header_style="dim", pad_edge=False
    )
    for name, score in result.tasks.items():
        table.add_row(name, *_row(score))
    if len(result.tasks) > 1:
        table.add_row(f"[bold]{harness.name}[/]", *(f"[bold]{cell}[/]" for cell in _row(result)))
    out().print(table)
    for cause, count in result.failures.items():
        example = next(e.failure.message for e in episodes if e.failure and e.failure.cause == cause)
        out().print(f"[yellow]{count} lost to the {cause}[/], such as: {escape(example)}", soft_wrap=True)
    if folder:
        out().print(f"{len(episodes)} episodes in {folder}", soft_wrap=True)


def _row(score: Score) -> list[str]:
    if not score.valid:
        return ["-", "-", "-", "-", f"0 of {score.episodes}"]
    interval = f"{score.low:.0%} to {score.high:.0%}"
    seen = str(score.valid) if score.valid == score.episodes else f"{score.valid} of {score.episodes}"
    return [f"{score.success_rate:.0%}", interval, f"{score.mean_score:.2f}", f"{score.mean_steps:.1f}", seen]


def _recording_json(recording: Recording, proven: Proven, folder: Path, seconds: float) -> dict[str, Any]:
    return {
        "out": str(folder),
        "kept": recording.kept,
        "steps": recording.steps,
        "left_out": recording.left_out,
        "played_again": proven.played,
        "count": proven.counting,
        "do_not_count": proven.broken,
        "seconds": round(seconds, 1),
    }


def _print_recording(recording: Recording, proven: Proven, folder: Path, seconds: float) -> None:
    console, rate = out(), 60 * recording.kept / seconds
    console.print(
        f"{recording.kept} demonstrations with {recording.steps} actions in {folder}, {rate:.0f} per minute",
        soft_wrap=True,
    )
    if left := recording.left_out.total():
        console.print(f"[yellow]{left} left out[/]:")
        for why, count in recording.left_out.most_common():
            console.print(f"  {count} x {escape(why)}", soft_wrap=True)
    if proven.played:
        console.print(f"{proven.counting} count; {proven.played} were played again")
    for name, why in list(proven.broken.items())[:_TOLD]:
        console.print(f"[red]does not count[/] {escape(name)}: {escape(why)}", soft_wrap=True)
    if (more := len(proven.broken) - _TOLD) > 0:
        console.print(f"and {more} more")


def add_to(app: typer.Typer) -> None:
    """Make these commands known."""
    app.command("run")(run)
    app.command("record")(record_)
    app.command("report")(report_)
    app.command("eval")(eval_)
