"""One Chromium, many contexts: pictures out, mouse and keyboard in, and a wait for what an action causes."""

from uigym.browser.find import find_chromium
from uigym.browser.frame import UNTIMED, Frame, Spent, Standing
from uigym.browser.install import install_browser
from uigym.browser.launch import Browser
from uigym.browser.session import Session

__all__ = ["UNTIMED", "Browser", "Frame", "Session", "Spent", "Standing", "find_chromium", "install_browser"]
