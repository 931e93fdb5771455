"""What a model is told of its action language: one text a codec."""

from __future__ import annotations

from collections.abc import Sequence

from uigym.errors import ConfigError

_ROLE = "You work a web page for a user. You are shown a screenshot, and say what to do next. When the task is done, say so."
_QWEN = """Say one action a turn, as a JSON object between <tool_call> and </tool_call>:
<tool_call>
{{"name": "computer_use", "arguments": {{"action": "left_click", "coordinate": [{x}, {y}]}}}}
</tool_call>
A coordinate is [x, y] {space}. Actions and their arguments:
left_click, right_click, middle_click, double_click, triple_click, mouse_move: coordinate
left_click_drag: coordinate, to which the mouse is dragged from where it is
scroll, hscroll: coordinate, and pixels, which are negative to scroll down or left
type: text
key: keys, a list of keys that are pressed together
wait: time, in seconds
answer: text, when the task asks for one
terminate: status, "success" or "failure\""""
_PYAUTOGUI = """Say one call a turn:
pyautogui.click(x={x}, y={y})
x and y are {space}. Calls: pyautogui.click, rightClick, middleClick, doubleClick, tripleClick, moveTo and dragTo with x and y; pyautogui.scroll(clicks, x=, y=), negative to scroll down; pyautogui.write(text); pyautogui.press(key); pyautogui.hotkey(key, key); computer.wait(seconds=); answer(text), when the task asks for one; computer.terminate(status='success')."""
_TARS = """Say what you think, then one action:
Thought: ...
Action: click(point='<point>512 300</point>')
Points are pixels of the screenshot. Actions: click(point=), left_double(point=), right_single(point=), drag(start_point=, end_point=), hotkey(key='ctrl c'), type(content=), scroll(point=, direction='down or up or right or left'), wait(), finished(content=)."""
_SMOL = """Think between <think> and </think>, then call one function between <code> and </code>:
<code>
click(x=0.5, y=0.3)
</code>
x and y are shares of the screenshot's width and height, from 0 to 1. Functions: click(x, y), double_click(x, y), right_click(x, y), move_mouse(x, y), drag(from_coord, to_coord), scroll(direction, amount, x, y), type(text), press(keys), with a list for keys that are pressed together, wait(seconds), final_answer(answer), without an answer when the task asks for none."""

LANGUAGES: dict[str, str] = {
    "qwen3": _QWEN.format(x=512, y=300, space="from 0 to 1000 over the screenshot"),
    "qwen2.5": _QWEN.format(x=640, y=212, space="in pixels of the screenshot"),
    "pyautogui": _PYAUTOGUI.format(x=0.5, y=0.3, space="shares of the screenshot's width and height, from 0 to 1"),
    "pyautogui_px": _PYAUTOGUI.format(x=640, y=212, space="pixels of the screenshot"),
    "uitars": _TARS,
    "smolvlm": _SMOL,
    "tiny": "",
}
"""By the name of the codec that reads the replies; the tiny model knows its own."""


def language(codec: str) -> str:
    """The system's words for a model that speaks a codec's language.

    Raises:
        ConfigError: A local model cannot be asked to speak it.
    """
    if codec not in LANGUAGES:
        raise ConfigError(f"no local model speaks {codec!r}; expected one of {', '.join(LANGUAGES)}")
    return f"{_ROLE}\n\n{LANGUAGES[codec]}"


def recalled(past: Sequence[str]) -> str:
    """What a model is told of its own replies that it is no longer shown, oldest first; "" where there are none."""
    return "".join(["Your earlier replies:\n", *(f"{said.strip()}\n" for said in past), "\n"]) if past else ""
