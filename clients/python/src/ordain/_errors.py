"""What can go wrong, as exceptions with a code, a message and what would help."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ._check import Report
    from ._run import RunView


class OrdainError(Exception):
    """Anything that Ordain refuses or cannot do. `code` is stable; `hint` says what would help, where that is known."""

    def __init__(
        self,
        code: str,
        message: str,
        hint: str | None = None,
        *,
        status: int | None = None,
        request_id: str | None = None,
        run_id: str | None = None,
        errors: list[dict[str, Any]] | None = None,
        idempotency_key: str | None = None,
    ) -> None:
        super().__init__(code, message, hint)
        self.code = code
        self.message = message
        self.hint = hint
        self.status = status
        self.request_id = request_id
        self.run_id = run_id
        self.errors = errors or []
        #: Sent again with this key, the request is carried out once, whether or not it was before.
        self.idempotency_key = idempotency_key

    def __str__(self) -> str:
        hint = f"\nhint: {self.hint}" if self.hint else ""
        return f"{self.message} [{self.code}]{hint}"

    def __reduce__(self) -> tuple[Any, ...]:
        # The positional arguments of `Exception` alone would lose the rest on the way to another process.
        return (type(self).__new__, (type(self), *self.args), self.__dict__)


class Unreachable(OrdainError):
    """No server answers, or it was lost on the way. What was sent may have been carried out."""


class Refused(OrdainError):
    """The key is missing, wrong or not enough, or the server is not for this caller."""


class NotFound(OrdainError):
    """There is no such run, table, check or file."""


class Conflict(OrdainError):
    """It does not fit what has happened meanwhile."""


class StillRunning(OrdainError):
    """The time that the caller gave is over, and the run goes on. `run_id` names it."""


class ProgramMissing(OrdainError):
    """The program `ordain` is not on this machine."""


class NotStarted(OrdainError):
    """The program could not serve the folder."""


class RunFailed(OrdainError):
    """A run came to no good end. `run` is all that is known of it."""

    run: RunView


class Declined(RunFailed):
    """The request was not understood, or needs an answer first; `run.answer` says which."""


class ChecksFailed(OrdainError):
    """A rule does not hold, or could not be evaluated. `report` has every result."""

    report: Report


def of_problem(problem: dict[str, Any], status: int, key: str | None) -> OrdainError:
    """The exception for what a server says is wrong."""
    kinds = {401: Refused, 403: Refused, 404: NotFound, 409: Conflict, 429: Unreachable, 503: Unreachable}
    return kinds.get(status, OrdainError)(
        str(problem.get("code") or f"http_{status}"),
        str(problem.get("detail") or problem.get("title") or f"the server answered with status {status}"),
        problem.get("hint"),
        status=status,
        request_id=problem.get("request_id"),
        run_id=problem.get("run_id"),
        errors=problem.get("errors"),
        idempotency_key=key,
    )
