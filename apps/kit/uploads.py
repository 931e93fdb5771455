"""Forms with files in them."""

from __future__ import annotations

from dataclasses import dataclass
from email.message import Message
from email.parser import BytesParser
from email.policy import HTTP
from typing import cast

from fastapi import Request
from starlette.exceptions import HTTPException


@dataclass(frozen=True, slots=True)
class Posted:
    """A form as it came: fields in order, and files."""

    fields: list[tuple[str, str]]
    files: dict[str, tuple[str, bytes]]
    """Field -> (the file's name without folders, its content); fields without a chosen file are left out."""


async def posted(request: Request, most: int = 2_000_000) -> Posted:
    """The fields and files of a form of type multipart/form-data.

    Args:
        request: What was posted.
        most: Bytes that it may have.

    Raises:
        HTTPException: It is larger, or of another type.
    """
    body = await request.body()
    kind = request.headers.get("content-type", "")
    if len(body) > most:
        raise HTTPException(413, f"The form has {len(body)} bytes; at most {most} are allowed.")
    if not kind.startswith("multipart/form-data"):
        raise HTTPException(415, f"Expected multipart/form-data, found {kind!r:.80}.")
    message = BytesParser(policy=HTTP).parsebytes(b"Content-Type: " + kind.encode() + b"\r\n\r\n" + body)
    fields: list[tuple[str, str]] = []
    files: dict[str, tuple[str, bytes]] = {}
    for part in cast("list[Message]", message.get_payload()) if message.is_multipart() else []:
        if part.is_multipart():  # a form within the form, which no browser sends
            continue
        name = str(part.get_param("name", "", header="content-disposition"))
        content = cast("bytes", part.get_payload(decode=True))
        file = part.get_filename()
        if file is None:
            fields.append((name, content.decode(errors="replace")))
        elif file:
            files[name] = (file.replace("\\", "/").rpartition("/")[2], content)
    return Posted(fields, files)
