"""The replies of a server, as types. Made by `models.py` from the OpenAPI document; not edited by hand."""

from __future__ import annotations

from typing import Any, Literal, NotRequired, TypeAlias, TypedDict


class Answer(TypedDict):
    """The answer to the person."""

    columns: NotRequired[list[str]]
    json: Any
    notes: NotRequired[list[str]]
    rows: Any
    text: str | None


class Artifact(TypedDict):
    """A file that a run left."""

    bytes: int
    media_type: str
    name: str
    sha256: str
    warnings: NotRequired[list[str]]


class BoundParam(TypedDict):
    """A value that a plan takes from the request."""

    at: NotRequired[list[Any] | None]
    name: str
    said: str
    value: Any


class Call(TypedDict):
    """One call of a run. A call that reads is made while the plan runs; one that changes something waits in the outbox until the run is committed."""

    arguments: Any
    kind: str
    lane: str
    n: int
    name: str
    result: NotRequired[Any]
    taken_back: NotRequired[TakenBack | None]
    undo: NotRequired[UndoCall | None]
    undoes: NotRequired[int | None]


#: Why a job ended. Exactly one holds for every job, and the supervisor decides which: what the code says about itself is a claim.
Cause: TypeAlias = "Literal['ok', 'error', 'timeout', 'cpu_limit', 'memory_limit', 'output_limit', 'disk_limit', 'artifact_limit', 'process_limit', 'crash', 'no_result', 'protocol_error', 'rejected', 'lock_limit', 'store_failed']"


#: A cell that is another than it was.
CellDifference = TypedDict("CellDifference", {
    "column": 'NotRequired[str | None]',
    "is": 'Any',
    "row": 'str',
    "table": 'str',
    "was": 'Any',
})


class CheckReport(TypedDict):
    """What one run of checks gave."""

    counts: dict[str, int]
    duration_ms: float
    results: list[CheckResult]
    run_id: str
    schema_version: int
    started_at: str
    workspace: str


class CheckResult(TypedDict):
    """What one check gave."""

    artifacts: list[str]
    check_id: str
    check_name: str
    code: str | None
    code_from: CodeFrom | None
    code_hash: str | None
    compiled_against: Any
    data_fingerprint: str | None
    duration_ms: float
    evaluated: int | None
    failed: int | None
    failed_pct: float | None
    kept_from: str | None
    kind: str
    notes: list[str]
    observed: Any
    owner: str | None
    plan: Any
    reason: str | None
    recompiled: str | None
    rule: str
    samples: list[FailedRow]
    severity: Severity
    skipped: SkipReason | None
    status: CheckStatus
    summary: str
    tags: list[str]
    target_table: list[str]
    understood: str | None


#: The grade of a check.
CheckStatus: TypeAlias = "Literal['PASS', 'WARN', 'FAIL', 'ERROR', 'SKIPPED']"


class CodeError(TypedDict):
    """How code ended that did not run to its end."""

    cause: Cause
    line: int | None
    message: str | None
    type: str | None


#: Where a check's code came from.
CodeFrom: TypeAlias = "Literal['cache', 'planner', 'rules', 'builtin']"


class Column(TypedDict):
    """One column."""

    hidden: bool
    name: str
    nullable: bool
    type: ColumnType


#: What a column holds.
ColumnType: TypeAlias = "Literal['text', 'integer', 'real', 'boolean', 'timestamp', 'decimal', 'json', 'any']"


#: Who judges whether a step succeeded.
CriterionJudge: TypeAlias = "Literal['code', 'model']"


class CriterionRecord(TypedDict):
    """How the success of a step was judged."""

    criterion: str
    holds: bool
    judged_by: CriterionJudge
    why: NotRequired[str | None]


#: The rows that a run added, changed and removed, by table. Tables without a change are left out.
Diff: TypeAlias = 'dict[str, TableDiff]'


#: What kind of error it is that ended a round or a run.
ErrorClass: TypeAlias = "Literal['planner', 'reply', 'verify', 'review', 'runtime', 'limit', 'contract', 'invariant', 'claim', 'files', 'criterion', 'budget', 'conflict', 'cancelled', 'internal']"


class Events(TypedDict):
    """A page of what happened to a row, the newest first."""

    events: list[RowEvent]
    next_cursor: NotRequired[str | None]


class FailedRow(TypedDict):
    """A failing row."""

    key: dict[str, Any]
    values: dict[str, Any]


class ForeignKey(TypedDict):
    """What columns refer to."""

    columns: list[str]
    references: list[str]
    table: str


#: Whether a run did what was wanted.
Grade: TypeAlias = "Literal['good', 'bad']"


#: The rule by which a change waits for a person. `Display` names it as the owner wrote it.
HeldBy: TypeAlias = 'dict[str, Any]'


class InvariantResult(TypedDict):
    """Whether one invariant held at the end of a run."""

    holds: bool
    name: str
    rows: NotRequired[list[Row]]


class Judged(TypedDict):
    """A round in which there was a reply to judge."""

    accepted: bool
    code: NotRequired[str | None]
    findings: list[Any]
    modules: NotRequired[list[SourceFile]]
    round: int
    trouble: NotRequired[Trouble | None]


class Modification(TypedDict):
    """Something that was changed in what a planner wrote."""

    kind: ModificationKind
    round: int
    said: NotRequired[str | None]
    what: str


#: What kind of change a modification is.
ModificationKind: TypeAlias = "Literal['fix', 'rewrite', 'answer']"


class Outline(TypedDict):
    """A goal and the steps that reach it."""

    goal: str
    steps: list[OutlineStep]


class OutlineStep(TypedDict):
    """One step of an outline."""

    check: NotRequired[str | None]
    each: NotRequired[str | list[str]]
    id: str
    kind: NotRequired[StepKind]
    milestone: NotRequired[bool]
    needs: NotRequired[list[str]]
    otherwise: NotRequired[str | None]
    success: NotRequired[str]
    title: str


class PartProblem(TypedDict):
    """What is wrong with one part of a request."""

    message: str
    pointer: str


class PlanRecord(TypedDict):
    """The plan that ran."""

    goal: str
    model: str | None
    outline: NotRequired[Outline | None]
    params: NotRequired[dict[str, Any]]
    plan_id: NotRequired[str | None]
    questions: NotRequired[list[Question]]
    reading: NotRequired[str | None]
    reason: NotRequired[str | None]
    replans: NotRequired[list[str]]
    source: NotRequired[PlanSource]
    steps: list[StepRecord]
    written_by: NotRequired[RunId | None]


#: Who wrote a plan.
PlanSource: TypeAlias = "Literal['model', 'rules', 'cache', 'file']"


class Problem(TypedDict):
    """Why a request was not carried out."""

    code: str
    detail: str
    errors: NotRequired[list[PartProblem]]
    hint: NotRequired[str | None]
    request_id: NotRequired[str]
    run_id: NotRequired[str | None]
    status: int
    title: str
    trace_id: NotRequired[str | None]
    type: str


class Question(TypedDict):
    """A question to the person who asked, and the answer."""

    answer: NotRequired[str | None]
    kind: NotRequired[QuestionKind]
    text: str


#: What a question to a person is about.
QuestionKind: TypeAlias = "Literal['planner', 'outline', 'cut_short']"


class Rating(TypedDict):
    """What a person thinks of a run. A later rating replaces it; the ledger keeps both."""

    at: str
    by: str
    grade: Grade
    note: NotRequired[str | None]


class Rebase(TypedDict):
    """A change that is made again on newer rows."""

    differences: list[CellDifference]
    is_derived: bool
    run: RunId


class Receipt(TypedDict):
    """What happened to the data."""

    kind: ReceiptKind
    tables: dict[str, RowCounts]
    text: str


#: What happened to the data, in one word.
ReceiptKind: TypeAlias = "Literal['none', 'changed', 'would_change', 'held', 'declined', 'refused', 'failed', 'conflicted', 'undone', 'waiting']"


class Review(TypedDict):
    """A second opinion of a program."""

    by: str | None
    consents: bool
    program_sha256: str
    why: NotRequired[str | None]


#: One thing that happened on the way to a plan that holds.
Round: TypeAlias = 'dict[str, Any] | Judged'


#: A row: its fields and their values.
Row: TypeAlias = 'dict[str, Any]'


class RowChange(TypedDict):
    """One changed row."""

    after: Row
    before: Row
    key: Row


class RowCounts(TypedDict):
    """Rows of one table."""

    added: int
    changed: int
    removed: int


class RowEvent(TypedDict):
    """What a run did to one row."""

    after: Row | None
    at: str
    before: Row | None
    decided_by: str | None
    key: Row
    request: str
    run_id: RunId
    state: RunState
    through: str
    undone_at: str | None
    who: str


class Rows(TypedDict):
    """A page of rows, in the order in which they were added."""

    next_cursor: NotRequired[str | None]
    rows: list[Row]


#: Why a run was not carried out.
RunError = TypedDict("RunError", {
    "class": 'ErrorClass',
    "code": 'str',
    "hint": 'NotRequired[str | None]',
    "message": 'str',
})


#: Names one run. Ids sort by the time at which their runs began.
RunId: TypeAlias = 'str'


#: What made a run.
RunKind: TypeAlias = "Literal['ask', 'code', 'exec', 'check', 'lost']"


class RunOutcome(TypedDict):
    """What running the code gave."""

    artifacts: list[Artifact]
    error: CodeError | None
    partial: NotRequired[bool]
    stderr: str
    stdout: str


class RunPage(TypedDict):
    """A page of runs, newest first."""

    next_cursor: NotRequired[str | None]
    runs: list[RunRecord]


class RunRecord(TypedDict):
    """One plan for one request, in one transaction, and what came of it."""

    answer: Answer
    by_triggers: NotRequired[dict[str, int]]
    calls: NotRequired[list[Call]]
    continues: NotRequired[RunId | None]
    diff: Diff
    error: NotRequired[RunError | None]
    held_by: NotRequired[HeldBy | None]
    invariants: list[InvariantResult]
    kind: RunKind
    left_out: int
    outcome: RunOutcome
    plan: PlanRecord
    rating: NotRequired[Rating | None]
    rebases: NotRequired[Rebase | None]
    receipt: Receipt
    request: str
    run_id: RunId
    started_at: str
    state: RunState
    status: str | None
    strategy: Strategy
    timing_ms: Timing
    usage: Usage
    verdict: VerdictRecord


#: Where a run stands.
RunState: TypeAlias = "Literal['running', 'committed', 'answered', 'declined', 'held', 'waiting', 'rejected', 'rolled_back', 'failed', 'undone', 'conflicted']"


#: How much a failure weighs.
Severity: TypeAlias = "Literal['info', 'low', 'medium', 'high', 'critical']"


#: Why a check was skipped.
SkipReason: TypeAlias = "Literal['disabled', 'missing_table', 'empty_table', 'learning', 'upstream_failed', 'no_rows', 'not_understood', 'not_compiled', 'frozen', 'filtered']"


class SourceFile(TypedDict):
    """A Python file: a plan that a caller gives, or a module of a program."""

    code: str
    name: str


#: What carries out a step.
StepKind: TypeAlias = "Literal['code', 'text']"


class StepRecord(TypedDict):
    """One step of a plan."""

    code: str
    criterion: NotRequired[CriterionRecord | None]
    error: NotRequired[RunError | None]
    id: str
    kind: NotRequired[StepKind]
    modules: NotRequired[list[SourceFile]]
    needs: list[str]
    output: NotRequired[str]
    params: NotRequired[list[BoundParam]]
    result: NotRequired[Any]
    rounds: NotRequired[list[Round]]
    rows_changed: NotRequired[int]
    state: StepState
    success: str
    title: str
    took_ms: NotRequired[float | None]


#: Where a step of a plan stands.
StepState: TypeAlias = "Literal['waiting', 'running', 'done', 'failed', 'skipped']"


#: How a plan grows.
Strategy: TypeAlias = "Literal['direct', 'plan', 'react', 'auto']"


class TableDiff(TypedDict):
    """What changed in one table."""

    added: list[Row]
    changed: list[RowChange]
    removed: list[Row]


class TableInfo(TypedDict):
    """What is known of one table."""

    append_only: bool
    columns: list[Column]
    foreign_keys: list[ForeignKey]
    hidden: bool
    in_place: bool
    indexes: list[list[str]]
    key: list[str]
    max_rows_changed: int | None
    name: str
    notes: list[str]
    read_only: bool
    rows: int


class TableList(TypedDict):
    """The tables."""

    tables: list[TableInfo]


#: What became of a call when its run was undone.
TakenBack: TypeAlias = "Literal['cancelled', 'compensated', 'final']"


class Timing(TypedDict):
    """How long each part of a run took, in milliseconds."""

    commit: float
    plan: float
    run: float
    total: float
    verify: float


#: What was wrong with a round.
Trouble = TypedDict("Trouble", {
    "class": 'ErrorClass',
    "code": 'str',
    "hint": 'str | None',
    "line": 'int | None',
    "message": 'str',
})


class UndoCall(TypedDict):
    """What takes a call back: values of these names are taken from what the call gave, else from what it was called with."""

    name: str
    takes: list[str]


class Usage(TypedDict):
    """What the planner used."""

    input_tokens: int
    model_calls: int
    output_tokens: int


class VerdictRecord(TypedDict):
    """What the verifier said of the code, over all rounds."""

    accepted: NotRequired[bool]
    findings: list[Any]
    history: list[Round]
    iterations: int
    modifications: list[Modification]
    review: NotRequired[Review | None]
