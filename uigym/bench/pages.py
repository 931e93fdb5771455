"""Pages of three weights to measure on, and a small loopback server for them.

On each of them a click on the button at `BUTTON` raises a counter and marks the next row, at once and without a request.
"""

from __future__ import annotations

import asyncio
import io

from PIL import Image

BUTTON = (80, 40)
"""Where to click, CSS px, at every viewport."""
_IMAGES = 60

_PAGE = """<!doctype html><html lang="en"><head><meta charset="utf-8"><title>{title}</title><style>
body {{ font-family: sans-serif; margin: 0 }}
#next {{ position: absolute; left: 20px; top: 20px; width: 120px; height: 40px }}
#count {{ position: absolute; left: 160px; top: 24px; font-size: 24px }}
main {{ margin-top: 80px; padding: 0 16px }}
{style}
</style></head><body><button id="next">Next</button><div id="count">0</div><main>{body}</main>
<script>
let count = 0;
const rows = document.querySelectorAll(".row");
document.getElementById("next").addEventListener("click", () => {{
  document.getElementById("count").textContent = ++count;
  for (const row of rows) row.classList.remove("marked");
  rows[count % Math.min(rows.length, 20)].classList.add("marked");
}});
</script></body></html>"""


def light() -> str:
    """A form of about 30 nodes."""
    style = "input { padding: 6px } .marked { background: #ffe08a }"
    fields = "".join(f'<p class="row"><label>Field {i} <input name="f{i}"></label></p>' for i in range(5))
    rest = (
        '<label><input type="checkbox"> I agree</label> <select><option>One<option>Two</select> <button>Save</button>'
    )
    return _PAGE.format(title="light", style=style, body=f'<form onsubmit="return false">{fields}{rest}</form>')


def middle() -> str:
    """A dashboard of about 1,500 nodes: flex rows, cards with shadows."""
    style = """
.board { display: flex } .side { width: 200px; background: #eef; padding: 8px } .rest { flex: 1 }
.card { display: inline-block; margin: 6px; padding: 8px; border-radius: 6px; box-shadow: 0 1px 4px #0003 }
.row { display: flex; border-bottom: 1px solid #ddd; padding: 4px } .row span { flex: 1 } .marked { background: #ffe08a }
.badge { border-radius: 8px; background: #3b82f6; color: #fff; padding: 0 6px }"""
    side = "".join(f'<div><a href="#">Item {i}</a></div>' for i in range(40))
    cards = "".join(f'<div class="card"><b>Total {i}</b><div>{i * 137 % 1000}</div></div>' for i in range(8))
    rows = "".join(f'<div class="row">{_cells(row)}<b class="badge">{row % 7}</b></div>' for row in range(130))
    body = f'<div class="board"><div class="side">{side}</div><div class="rest">{cards}{rows}</div></div>'
    return _PAGE.format(title="middle", style=style, body=body)


def heavy() -> str:
    """A shop of 300 cards with images, gradients and shadows, and 400 rules of CSS."""
    style = """
main { display: grid; grid-template-columns: repeat(auto-fill, minmax(120px, 1fr)); gap: 8px }
.row { border-radius: 10px; box-shadow: 0 4px 12px #0005; background: linear-gradient(135deg, #fdf, #dff); overflow: hidden; padding: 6px }
.row img { width: 100%; height: 80px; object-fit: cover; border-radius: 8px } .row h4 { margin: 4px 0; text-shadow: 1px 1px 2px #0004 }
.marked { outline: 3px solid red }
"""
    style += "\n".join(f".u{i} .row:nth-child({i + 2}n) p {{ opacity: 0.{50 + i % 50} }}" for i in range(400))
    cards = "".join(
        f'<div class="row"><img src="/image/{i % _IMAGES}.png" alt=""><h4>Product {i}</h4>'
        f"<p>A few words on product {i} <b>{i * 7 % 99}.99</b></p><button>Add</button></div>"
        for i in range(300)
    )
    return _PAGE.format(title="heavy", style=style, body=cards)


def _cells(row: int) -> str:
    return "".join(f"<span>cell {row}.{column}</span>" for column in range(8))


PAGES = {"light": light, "middle": middle, "heavy": heavy}
"""Source by name."""


class PageServer:
    """Serves the pages on the loopback, from this process's event loop."""

    def __init__(self) -> None:
        self._server: asyncio.Server | None = None
        self._answers: dict[str, tuple[str, bytes]] = {}

    async def start(self) -> None:
        """Listen on a free port."""
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", 0)

    @property
    def url(self) -> str:
        """Origin, such as http://127.0.0.1:40123."""
        assert self._server is not None
        return f"http://127.0.0.1:{self._server.sockets[0].getsockname()[1]}"

    async def close(self) -> None:
        """Listen no longer."""
        if self._server:
            self._server.close()
            await self._server.wait_closed()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            request = await reader.readuntil(b"\r\n\r\n")
            kind, body = self._answer(request.split(b" ", 2)[1].decode())
            status = "200 OK" if body else "404 Not Found"
            head = (
                f"HTTP/1.1 {status}\r\nContent-Type: {kind}\r\nContent-Length: {len(body)}\r\nConnection: close\r\n\r\n"
            )
            writer.write(head.encode() + body)
            await writer.drain()
        except (OSError, asyncio.IncompleteReadError):
            return  # the browser left
        finally:
            writer.close()

    def _answer(self, path: str) -> tuple[str, bytes]:
        if path not in self._answers:
            self._answers[path] = _made(path)
        return self._answers[path]


def _made(path: str) -> tuple[str, bytes]:
    folder, _, name = path.lstrip("/").rpartition("/")
    if not folder and name in PAGES:
        return "text/html; charset=utf-8", PAGES[name]().encode()
    number = name.removesuffix(".png")
    if folder == "image" and number.isdigit() and int(number) < _IMAGES:
        return "image/png", _image(int(number))
    return "text/plain", b""


def _image(number: int) -> bytes:
    """A picture of 240 x 160 px with smooth and busy parts, another one for each number."""
    slope = Image.linear_gradient("L").resize((240, 160))
    rings = Image.radial_gradient("L").resize((240, 160)).point(lambda value: value * (number + 3) % 256)
    turned = slope.rotate(6 * number)
    buffer = io.BytesIO()
    Image.merge("RGB", (slope, rings, turned)).save(buffer, "PNG")
    return buffer.getvalue()
