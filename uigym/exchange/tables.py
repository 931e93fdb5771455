"""Parquet in the layout that Hugging Face's `datasets` reads by itself: data/SPLIT-NNNNN.parquet, pictures embedded."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from uigym.errors import MissingExtra, StoreError, attribute
from uigym.splits import Split

GROUP_BYTES = 32 * 1024 * 1024
"""Of pictures in a row group: what a writer and a reader hold in memory."""
SHARD_BYTES = 400 * 1024 * 1024
"""Of pictures in a file."""
NAMES = {Split.TRAIN: "train", Split.VALIDATION: "validation", Split.HELDOUT: "test"}
"""What `datasets` calls the splits."""
TEXT, WHOLE, NUMBER, TRUTH, IMAGE = "string", "int64", "float64", "bool", "image"
"""Kinds of columns; a kind in a list is a list of it, one in a dict an object."""


def picture(png: bytes, name: str) -> dict[str, Any]:
    """A picture's value in a column of kind IMAGE."""
    return {"bytes": png, "path": f"{name}.png"}


class Table:
    """Writes rows, split by split, as files of bounded size."""

    def __init__(self, folder: Path, columns: Mapping[str, Any]):
        """Start writing.

        Raises:
            MissingExtra: pyarrow is not installed.
        """
        self._arrow, self._parquet = _pyarrow()
        self._folder = folder / "data"
        self._folder.mkdir(parents=True)
        features = {"info": {"features": {name: _feature(kind) for name, kind in columns.items()}}}
        schema = self._arrow.schema([(name, self._type(kind)) for name, kind in columns.items()])
        self._schema = schema.with_metadata({"huggingface": json.dumps(features)})
        self._open: dict[Split, _Shard] = {}

    def __enter__(self) -> Table:
        return self

    def __exit__(self, kind: object, *error: object) -> None:
        for shard in self._open.values():
            shard.close(drop=kind is not None)

    def write(self, split: Split, row: Mapping[str, Any], size: int) -> None:
        """Add a row whose pictures take `size` bytes."""
        shard = self._open.get(split)
        if shard is None or shard.written + shard.waiting > SHARD_BYTES:
            number = 0 if shard is None else shard.number + 1
            if shard is not None:
                shard.close()
            path = self._folder / f"{NAMES[split]}-{number:05d}.parquet"
            shard = self._open[split] = _Shard(self._arrow, self._parquet.ParquetWriter(path, self._schema), number)
        shard.add(row, size)

    def _type(self, kind: Any) -> Any:
        if isinstance(kind, list):
            return self._arrow.list_(self._type(kind[0]))
        if isinstance(kind, dict):
            return self._arrow.struct([(name, self._type(inner)) for name, inner in kind.items()])
        if kind == IMAGE:
            return self._arrow.struct([("bytes", self._arrow.binary()), ("path", self._arrow.string())])
        return self._arrow.type_for_alias(kind)


class _Shard:
    def __init__(self, arrow: Any, writer: Any, number: int):
        self._arrow, self._writer, self.number = arrow, writer, number
        self._rows: list[Mapping[str, Any]] = []
        self.waiting = self.written = 0

    def add(self, row: Mapping[str, Any], size: int) -> None:
        self._rows.append(row)
        self.waiting += size
        if self.waiting > GROUP_BYTES:
            self._flush()

    def close(self, *, drop: bool = False) -> None:
        if not drop:
            self._flush()
        self._writer.close()

    def _flush(self) -> None:
        if self._rows:
            self._writer.write_table(self._arrow.Table.from_pylist(self._rows, schema=self._writer.schema))
        self.written, self.waiting, self._rows = self.written + self.waiting, 0, []


def table_rows(path: Path) -> Iterator[dict[str, Any]]:
    """The rows of a Parquet file, or of the files in a folder or its `data`, a row group at a time.

    Raises:
        MissingExtra: pyarrow is not installed.
        StoreError: There is no such file, or it cannot be read.
    """
    _, parquet = _pyarrow()
    files = [path] if path.is_file() else sorted([*path.glob("*.parquet"), *path.glob("data/*.parquet")])
    if not files:
        raise StoreError(f"{path} has no Parquet file")
    for file in files:
        with attribute(StoreError, f"cannot read {file}"), parquet.ParquetFile(file) as opened:
            for batch in opened.iter_batches(batch_size=16):
                yield from batch.to_pylist()


def _feature(kind: Any) -> Any:
    """A column's kind as `datasets` says it; in the forms that its versions 2 to 5 read."""
    if isinstance(kind, list):
        return [_feature(kind[0])] if isinstance(kind[0], dict) else {"feature": _feature(kind[0]), "_type": "Sequence"}
    if isinstance(kind, dict):
        return {name: _feature(inner) for name, inner in kind.items()}
    return {"_type": "Image"} if kind == IMAGE else {"dtype": kind, "_type": "Value"}


def _pyarrow() -> tuple[Any, Any]:
    try:
        import pyarrow
        from pyarrow import parquet
    except ImportError as error:
        raise MissingExtra("pyarrow, which reads and writes Parquet,", "train") from error
    return pyarrow, parquet
