"""`%%ordain` in notebooks: a cell that asks, with the answer, the receipt and the diff as its output.

    %load_ext ordain
    %ordain shop                 a workspace's folder, or the address of a server

    %%ordain --hold
    Purchase 2 Wayfarer sunglasses for customer Alice.

    %ordain approve              the run of the last cell; `undo`, `reject`, `refresh` likewise
"""

from __future__ import annotations

import argparse
import shlex
from typing import Any

from ._client import Ordain
from ._errors import OrdainError
from ._run import Run
from ._workspace import Workspace

_DECISIONS = ("approve", "reject", "undo", "refresh")


class _Arguments(argparse.ArgumentParser):
    def error(self, message: str) -> Any:
        raise OrdainError("usage", message, "%%ordain [--hold] [--dry-run] [--model NAME] [NAME OF A VARIABLE]")


class Magics:
    """What `%ordain` and `%%ordain` do, and the workspace and run that they are about."""

    def __init__(self, shell: Any) -> None:
        self._shell = shell
        self._client: Ordain | None = None
        self._last: Run | None = None
        self._arguments = _Arguments(prog="%%ordain", add_help=False)
        self._arguments.add_argument("--hold", action="store_true")
        self._arguments.add_argument("--dry-run", action="store_true")
        self._arguments.add_argument("--model")
        self._arguments.add_argument("variable", nargs="?")

    def line(self, line: str) -> Any:
        """`%ordain shop` goes to a workspace or server; `%ordain approve` decides on the last run."""
        word = line.strip()
        if word in _DECISIONS:
            if self._last is None:
                raise OrdainError("no_run", "no cell has asked anything yet")
            return getattr(self._last, word)()
        old, self._client = self._client, _opened(word)
        if old is not None:
            old.close()
        return self._client

    def cell(self, line: str, cell: str) -> Run:
        """Asks what the cell says. A run that was declined or failed is shown like any other."""
        given = self._arguments.parse_args(shlex.split(line))
        client = self._client = self._client or _opened("")
        run = client.ask(cell.strip(), hold=given.hold, dry_run=given.dry_run, model=given.model, check=False)
        self._last = run
        if given.variable:
            self._shell.push({given.variable: run})
        return run


def _opened(word: str) -> Ordain:
    return Ordain(word) if word.startswith(("http://", "https://")) else Workspace(word or ".")


def load(shell: Any) -> None:
    """Gives a shell the magics."""
    magics = Magics(shell)
    shell.register_magic_function(magics.line, "line", "ordain")
    shell.register_magic_function(magics.cell, "cell", "ordain")
