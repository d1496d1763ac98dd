"""Ask, change and check tables with Ordain.

    from ordain import Workspace

    with Workspace("shop") as shop:
        run = shop.ask("do you have round sunglasses under $100?")
        print(run.answer)
        run.df
"""

from __future__ import annotations

from typing import Any

from ._check import FrameReport, Report, check_frame
from ._client import AsyncOrdain, Ordain, Table
from ._errors import (
    ChecksFailed,
    Conflict,
    Declined,
    NotFound,
    NotStarted,
    OrdainError,
    ProgramMissing,
    Refused,
    RunFailed,
    StillRunning,
    Unreachable,
)
from ._rows import Rows
from ._run import AsyncRun, Change, Changes, Diff, Run, TableDiff
from ._workspace import AsyncWorkspace, Workspace, find_program

__version__ = "0.1.0"

__all__ = [
    "AsyncOrdain",
    "AsyncRun",
    "AsyncWorkspace",
    "Change",
    "Changes",
    "ChecksFailed",
    "Conflict",
    "Declined",
    "Diff",
    "FrameReport",
    "NotFound",
    "NotStarted",
    "Ordain",
    "OrdainError",
    "ProgramMissing",
    "Refused",
    "Report",
    "Rows",
    "Run",
    "RunFailed",
    "StillRunning",
    "Table",
    "TableDiff",
    "Unreachable",
    "Workspace",
    "check_frame",
    "find_program",
]


def load_ipython_extension(shell: Any) -> None:
    """`%load_ext ordain`: the magics `%ordain` and `%%ordain`."""
    from ._notebook import load

    load(shell)
