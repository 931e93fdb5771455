"""What several files of trials do on tests/pages/trial.html."""

from __future__ import annotations

from uigym.browser import Frame, Session
from uigym.types import Click

ACT = Click(40, 20)


async def act(session: Session, script: str) -> Frame:
    """A real click on a button that runs the script."""
    await session.page.evaluate(f"act = () => {{ {script} }}; 0")
    return await session.step(ACT)
