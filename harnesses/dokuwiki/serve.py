"""Runs DokuWiki, from Debian's package unpacked somewhere, on data of its own: `python serve.py APT WORKDIR PORT`.

The package expects to lie in / and to be configured in /etc. Here both are told otherwise, by what PHP and DokuWiki
have for that: a file that PHP reads before every script, and DokuWiki's own constants and `local.php`.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

HOST = "127.0.0.1"
USER, PASSWORD = "kim", "harbour"
MODULES = ("ctype", "dom", "fileinfo", "gd", "iconv", "mbstring", "opcache", "simplexml", "tokenizer", "xml")

BEFORE = """<?php
define('DOKU_INC', '{work}/www/');
define('DOKU_CONF', '{work}/wiki/conf/');
define('DOKU_MAIN_CONF', '{apt}/etc/dokuwiki');
define('DOKU_PLUGIN', '{apt}/var/lib/dokuwiki/lib/plugins/');
$GLOBALS['__composer_autoload_files']['decc78cc4436b1292c6c0d151b19445c'] = true;  // phpseclib's, which lies elsewhere
require_once '{apt}/usr/share/php/phpseclib/bootstrap.php';
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


def main(apt: Path, work: Path, port: str) -> None:
    """Write the data and the settings, then become PHP."""
    from uigym.harnesses.dokuwiki import seed

    php = [str(apt / "usr/bin/php8.2"), "-n", *settings(apt, work)]
    seed.write(work / "wiki", apt)
    docroot(apt, work / "www")
    (work / "tmp").mkdir()
    before = BEFORE.format(apt=apt, work=work, user=USER, password=PASSWORD)
    (work / "before.php").write_text(before)
    subprocess.run([*php, str(work / "www/bin/indexer.php"), "--quiet"], check=True)  # so that search finds all pages
    os.environ["PHP_CLI_SERVER_WORKERS"] = "2"
    os.execv(php[0], [*php, "-S", f"{HOST}:{port}", "-t", str(work / "www")])


def settings(apt: Path, work: Path) -> list[str]:
    """What php.ini would say."""
    modules = next((apt / "usr/lib/php").glob("2*"))
    told = {
        "extension_dir": modules,
        "auto_prepend_file": work / "before.php",
        "session.save_path": work / "tmp",
        "upload_tmp_dir": work / "tmp",
        "sys_temp_dir": work / "tmp",
        "display_errors": "0",
        "date.timezone": "UTC",
        "memory_limit": "256M",
    }
    loaded = [f"{'zend_' if name == 'opcache' else ''}extension={name}" for name in MODULES]
    return [part for each in (*(f"{key}={value}" for key, value in told.items()), *loaded) for part in ("-d", each)]


def docroot(apt: Path, www: Path) -> None:
    """The package's folder, by links; its own links would lead to where it is not."""
    source = apt / "usr/share/dokuwiki"
    (www / "lib").mkdir(parents=True)
    for path in (*source.glob("*.php"), source / "bin", source / "inc", source / "vendor", source / "VERSION"):
        (www / path.name).symlink_to(path)
    for path in (source / "lib").iterdir():
        lies = apt / "var/lib/dokuwiki/lib" / path.name if path.is_symlink() else path
        (www / "lib" / path.name).symlink_to(lies)


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]), sys.argv[3])
