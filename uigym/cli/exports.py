"""Commands that write what others read: export."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.markup import escape
from typer.core import TyperGroup

from uigym.cli.options import AsJson, HarnessRef, OutFolder, Seeds, find_tasks, parse_seeds
from uigym.cli.terminal import out, print_json, progress
from uigym.errors import ConfigError, did_you_mean
from uigym.harness import Split


class _Exports(TyperGroup):
    """`uigym export DEMOS --to atif` is `uigym export demos DEMOS --to atif`: what is no command is a folder."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Put the command's name before a folder."""
        known = [*self.commands, *ctx.help_option_names]
        named = not args or (args[0] in known and not _is_a_run(args))
        return super().parse_args(ctx, args if named else ["demos", *args])


def _is_a_run(args: list[str]) -> bool:
    """Whether the first word is a folder that is called like a command: it holds a run, and no other word follows it."""
    return (Path(args[0]) / "run.json").is_file() and args[1:2] != [] and args[1].startswith("-")


exports = typer.Typer(
    cls=_Exports,
    help="Write demonstrations, or tasks, for others.",
    epilog="Instead of a command a folder of demonstrations: uigym export data/demos --to hf --out data/hf",
    no_args_is_help=True,
    rich_markup_mode=None,
)


@exports.callback()
def _exports() -> None:
    pass


@exports.command("demos")
def export_demos(
    demos: Annotated[Path, typer.Argument(metavar="DEMOS", help="Folder of a run: what --out of record named.")],
    to: Annotated[str, typer.Option("--to", metavar="FORMAT", help="One of those above.")],
    folder: OutFolder,
    only: Annotated[
        list[str] | None, typer.Option("--id", metavar="ID", help="This episode; may be given several times.")
    ] = None,
    codec: Annotated[
        str, typer.Option(metavar="NAME", help="The assistant's words in trl, llamafactory: qwen3, uitars, ...")
    ] = "qwen3",
    context: Annotated[
        str,
        typer.Option(
            metavar="CONTEXT",
            help='Screenshots in a row of trl, llamafactory: "window(k)", or full for whole episodes.',
        ),
    ] = "window(3)",
    exact: Annotated[bool, typer.Option(help="Leave out demonstrations that are held only nearly.")] = False,
    everything: Annotated[bool, typer.Option("--all", help="Failures and unproven ones too.")] = False,
    as_json: AsJson = False,
) -> None:
    """Write demonstrations in another format.

    Those that count: successes, and if they were recorded by a person, proven by a replay. Each action is read back before it is
    written; what the format does not hold is counted.

    \b
      uigym export data/demos --to hf --out data/demos-hf
      uigym export data/demos --to trl --codec uitars --context "window(3)" --out data/sft

    \b
    For trainers: hf (Hugging Face Parquet), trl, llamafactory
    Transcripts:  openai, anthropic, qwen, uitars
    Archives:     atif (v1.7), adp (Agent Data Protocol), opencua

    What each of them holds: docs/recording.md.
    """
    from uigym.exchange import FORMATS, Options, export
    from uigym.store import RunStore

    if to not in FORMATS:
        raise ConfigError(f'no format "{to}". {did_you_mean(to, FORMATS)}')
    if not (demos / "run.json").is_file():
        raise ConfigError(f"{demos} holds no run; expected the folder that --out of record, run or eval named")
    options = Options(codec=codec, context=context, exact=exact, everything=everything)
    done = export(RunStore(demos), only, FORMATS[to], folder, options)
    if as_json:
        numbers = {"demonstrations": done.demonstrations, "steps": done.steps}
        print_json({"out": str(folder), "format": to, **numbers, "nearly": done.nearly, "left_out": done.left_out})
        return
    out().print(f"{done.demonstrations} demonstrations with {done.steps} actions in {folder}", soft_wrap=True)
    _tell("actions are held only nearly", done.nearly)
    _tell("episodes left out", done.left_out)


def _tell(what: str, counted: Any) -> None:
    if counted:
        out().print(f"[yellow]{counted.total()} {what}[/]:")
        for why, count in counted.most_common():
            out().print(f"  {count} x {escape(why)}", soft_wrap=True)


@exports.command("tasks")
def export_tasks(
    harness: HarnessRef,
    folder: Annotated[Path | None, typer.Option("--out", help="Folder to write to; without it data/HARNESS.")] = None,
    seeds: Seeds = "0:100",
    splits: Annotated[list[Split], typer.Option("--split", help="May be given several times.")] = list(Split),  # noqa: B006  a default of typer
    as_json: AsJson = False,
) -> None:
    """Write tasks as Parquet.

    One file for each split, one row for each task and seed.

    \b
      uigym export tasks desk
      uigym export tasks ./crm.py --out data/crm --seeds 0:500 --split train

    The columns: task, seed, split, instruction, params (JSON), max_steps, tags.
    """
    from uigym.export import export_tasks as export

    found, tasks = find_tasks(harness)
    folder = folder or Path("data") / found.name
    chosen = [seed for split in splits for seed in parse_seeds(seeds, split)]
    with progress(f"tasks of {found.name}", len(chosen)) as shown:
        writing = export(found, folder, seeds=chosen, tasks=tasks, on_seed=lambda done: shown(done, ""))
        counts = asyncio.run(writing)
    if as_json:
        print_json({"out": str(folder), "rows": counts})
    else:
        for split, count in counts.items():
            out().print(f"{folder / split}.parquet  {count} rows", soft_wrap=True)


def add_to(app: typer.Typer) -> None:
    """Make these commands known."""
    app.add_typer(exports, name="export")
