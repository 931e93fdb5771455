"""A running process can be looked at: what its browsers show, and, if it allows that, a person's hand in it.

publish     the process's side: a socket that answers; nothing is done while nobody asks
ask         the viewer's side
place       the file in the run folder that says where the socket is
guest       a person in a policy's place
"""

from __future__ import annotations

from uigym.live.publish import publish as publish
