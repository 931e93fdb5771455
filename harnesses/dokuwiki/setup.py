"""Sets DokuWiki up, from Debian's package unpacked somewhere, on data of its own.

The package expects to lie in / and to be configured in /etc. Here both are told otherwise, by what PHP and DokuWiki
have for that: a file that PHP reads before every script, and DokuWiki's own constants and `local.php`.
"""

from __future__ import annotations

import asyncio
import os
import subprocess
from collections.abc import Mapping
from pathlib import Path

import httpx

from uigym.errors import ProductError
from uigym.harness import Running
from uigym.harnesses.dokuwiki import seed
from uigym.product import Directory
from uigym.product.product import Product

MODULES = ("ctype", "dom", "fileinfo", "iconv", "mbstring", "simplexml", "tokenizer", "xml")
INI = """extension_dir = "{modules}"
zend_extension = opcache
{extensions}
auto_prepend_file = "{work}/before.php"
session.save_path = "{work}/tmp"
upload_tmp_dir = "{work}/tmp"
sys_temp_dir = "{work}/tmp"
display_errors = 0
date.timezone = UTC
"""
BEFORE = """<?php
define('DOKU_INC', '{work}/www/');
define('DOKU_CONF', '{work}/wiki/conf/');
define('DOKU_MAIN_CONF', '{apt}/etc/dokuwiki');
define('DOKU_PLUGIN', '{apt}/var/lib/dokuwiki/lib/plugins/');
require_once '{apt}/usr/share/php/phpseclib/bootstrap.php';
$GLOBALS['__composer_autoload_files']['decc78cc4436b1292c6c0d151b19445c'] = true;  // the same, where it is not
spl_autoload_register(function ($name) {{  // what the package looks for in /usr/share
    $file = '{apt}/usr/share/php/' . str_replace('\\\\', '/', $name) . '.php';
    if ($name === 'GeSHi') $file = '{apt}/usr/share/php-geshi/geshi.php';
    if (is_file($file)) require $file;
}});
if (PHP_SAPI === 'cli-server') {{
    if (!preg_match('#^/((doku|index|feed)\\.php|lib/exe/\\w+\\.php|)$#', $_SERVER['SCRIPT_NAME'])) {{
        http_response_code(403);
        exit('not a page of the wiki');
    }}
    if ($_SERVER['SCRIPT_NAME'] === '/lib/exe/jquery.php') {{
        header('Content-Type: application/javascript; charset=utf-8');
        foreach (['jquery/jquery', 'jquery-ui/jquery-ui', 'jquery-cookie/jquery.cookie'] as $script)
            echo file_get_contents("{apt}/usr/share/javascript/$script.min.js"), "\\n";
        exit;
    }}
    $_SERVER['PHP_AUTH_USER'] = '{user}';  // the web server vouches for who this is
    $_SERVER['PHP_AUTH_PW'] = '{password}';
}}
"""


class Seeded(Directory):
    """A reset that puts the wiki's folder back; before the start it fills it."""

    async def prepare(self, product: Product) -> dict[str, str]:
        """Set the wiki up in the work folder; `{lib}` is where the libraries lie that PHP is linked with."""
        return await asyncio.to_thread(set_up, Path(product.values["apt"]), product.workdir)

    async def started(self, product: Product) -> None:
        """Let PHP make what it keeps of style sheets and scripts, then keep a copy of it all."""
        for path in ("doku.php?id=start", "lib/exe/css.php?t=dokuwiki", "lib/exe/js.php?t=dokuwiki"):
            await _ask(product.base_url, path)
        await super().started(product)

    async def __call__(self, product: Running, seed: int, appearance: Mapping[str, str]) -> None:
        """Put the folder back once PHP has done what the last page still asked of it, such as to index itself.

        Raises:
            ProductError: PHP does not answer, or the folder cannot be restored.
        """
        await _ask(product.base_url, "lib/exe/jquery.php")  # PHP's own server answers one after the other
        await super().__call__(product, seed, appearance)


async def _ask(base_url: str, path: str) -> None:
    try:
        async with httpx.AsyncClient(base_url=base_url, trust_env=False, timeout=30) as client:
            (await client.get(path)).raise_for_status()
    except httpx.HTTPError as exc:
        raise ProductError(f"the wiki does not answer: {exc!r}") from exc


def set_up(apt: Path, work: Path) -> dict[str, str]:
    """Write data and settings, and let DokuWiki index its pages, so that its search finds all of them.

    Raises:
        ProductError: PHP does not run; the text has its last words.
    """
    seed.write(work / "wiki", apt)
    _link(apt / "usr/share/dokuwiki", apt / "var/lib/dokuwiki/lib", work / "www")
    (work / "tmp").mkdir()
    told = {"apt": apt, "work": work, "user": seed.USER, "password": seed.PASSWORD}
    told |= {
        "modules": next((apt / "usr/lib/php").glob("2*")),
        "extensions": "\n".join(map("extension={}".format, MODULES)),
    }
    (work / "before.php").write_text(BEFORE.format(**told))
    (work / "php.ini").write_text(INI.format(**told))
    libraries = ":".join(map(str, (apt / "usr/lib").glob("*-linux-gnu")))
    command = [str(apt / "usr/bin/php8.2"), "-c", str(work / "php.ini"), str(work / "www/bin/indexer.php"), "--quiet"]
    done = subprocess.run(command, env={**os.environ, "LD_LIBRARY_PATH": libraries}, capture_output=True, text=True)
    if done.returncode:
        raise ProductError(
            f"DokuWiki's indexer ended with status {done.returncode}: {(done.stdout + done.stderr)[-2000:]}"
        )
    return {"lib": libraries}


def _link(source: Path, library: Path, www: Path) -> None:
    """The package's folder by links; its own links lead to where its parts would lie if it were installed."""
    (www / "lib").mkdir(parents=True)
    for path in (*source.glob("*.php"), source / "bin", source / "inc", source / "vendor", source / "VERSION"):
        (www / path.name).symlink_to(path)
    for path in (source / "lib").iterdir():
        (www / "lib" / path.name).symlink_to(library / path.name if path.is_symlink() else path)
