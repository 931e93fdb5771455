"""Runs the museum's site: serve.py PORT serves it, serve.py fill fills it, all else is one of Django's own commands.

MUSEUM_DSN names the database, MUSEUM_MEDIA the folder of uploaded files, and MUSEUM_FILLED the one that it begins as.
"""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path


def main() -> None:
    """Serve, or do a command."""
    os.environ["DJANGO_SETTINGS_MODULE"] = "museum.settings"
    sys.path.insert(0, str(Path(__file__).parent))
    import django
    from django.core.management import call_command, execute_from_command_line

    if sys.argv[1] == "fill":
        django.setup()
        call_command("migrate", verbosity=0)
        from museum import content

        content.fill()
    elif sys.argv[1].isdigit():
        serve(int(sys.argv[1]))
    else:
        execute_from_command_line(sys.argv)


def serve(port: int) -> None:
    """Answer on a loopback port until the process is ended."""
    import django
    from django.contrib.staticfiles.handlers import StaticFilesHandler
    from django.core.servers.basehttp import run
    from django.core.wsgi import get_wsgi_application

    filled, media = Path(os.environ["MUSEUM_FILLED"]), Path(os.environ["MUSEUM_MEDIA"])
    if not media.exists():
        shutil.copytree(filled, media)
    django.setup()
    warm_up()
    run("127.0.0.1", port, StaticFilesHandler(get_wsgi_application()), threading=True)


def warm_up() -> None:
    """Have templates and modules read before anybody waits for them; nothing is written."""
    from django.test import Client

    asked = (
        "",
        "pages/3/",
        "pages/add/museum/blogpage/3/",
        "images/",
        "documents/",
        "users/",
        "users/new/",
        "redirects/add/",
    )
    client = Client(headers={"host": "127.0.0.1"})
    for place in asked:
        assert client.get(f"/admin/{place}").status_code == 200, place


if __name__ == "__main__":
    main()
