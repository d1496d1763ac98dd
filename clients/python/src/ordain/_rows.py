"""Rows as a list of dictionaries, and as a pandas frame where pandas is there.

A frame keeps every value: whole numbers with gaps become pandas' own `Int64`, larger ones stay Python's, texts stay texts.
"""

from __future__ import annotations

import html
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ._errors import OrdainError

if TYPE_CHECKING:
    import pandas

#: Rows that are shown of a table in a notebook, and signs of one value.
SHOWN_ROWS = 50
SHOWN_SIGNS = 200


class Rows(list[dict[str, Any]]):
    """Rows of a table. `columns` has their names in order, also where there is no row."""

    def __init__(self, rows: Iterable[Mapping[str, Any]] = (), columns: Sequence[str] = ()) -> None:
        super().__init__(dict(row) for row in rows)
        self.columns: list[str] = list(columns) or list(dict.fromkeys(name for row in self for name in row))

    @classmethod
    def of_answer(cls, value: Any, columns: Sequence[str]) -> Rows:
        """The rows of an answer. Plans give lists of rows; whatever else one gives is a column `value`."""
        if value is None:
            return cls((), columns)
        items = value if isinstance(value, list) else [value]
        if all(isinstance(item, dict) for item in items):
            return cls(items, columns)
        return cls(({"value": item} for item in items), ["value"])

    @property
    def df(self) -> pandas.DataFrame:
        """The rows as a frame."""
        pandas = import_pandas()
        names = dict.fromkeys([*self.columns, *(name for row in self for name in row)])
        columns = {name: column([row.get(name) for row in self]) for name in names}
        return pandas.DataFrame(columns, index=range(len(self)), columns=list(names))

    def _repr_html_(self) -> str:
        return table_html(self.columns, ([row.get(name) for name in self.columns] for row in self), len(self))


def import_pandas() -> Any:
    """The module pandas."""
    try:
        import pandas
    except ImportError as error:
        raise OrdainError("no_pandas", "a frame needs pandas, which is not here", "pip install pandas") from error
    return pandas


def column(values: list[Any]) -> Any:
    """A column of a frame whose type holds each of its values exactly."""
    pandas = import_pandas()
    kinds = {type(value) for value in values if value is not None}
    if kinds == {bool}:
        return pandas.array(values, dtype="boolean") if None in values else pandas.Series(values, dtype="bool")
    if kinds == {int}:
        if all(value is None or -(2**63) <= value < 2**63 for value in values):
            has_gaps = any(value is None for value in values)
            return pandas.array(values, dtype="Int64") if has_gaps else pandas.Series(values, dtype="int64")
        return pandas.Series(values, dtype="object")
    is_float = kinds == {float} or (kinds == {int, float} and all(_is_exact(value) for value in values))
    return pandas.Series(values, dtype="float64" if is_float else "object")


def _is_exact(value: Any) -> bool:
    """Whether a floating point number is the value and not one near it."""
    return value is None or isinstance(value, float) or (abs(value) <= 2**53)


def table_html(columns: Sequence[str], rows: Iterable[Sequence[Any]], count: int) -> str:
    """A table for a notebook. Nothing in it is taken for markup."""
    head = "".join(f"<th>{text_html(name)}</th>" for name in columns)
    body = []
    for place, row in enumerate(rows):
        if place == SHOWN_ROWS:
            break
        body.append("<tr>" + "".join(f"<td>{text_html(value)}</td>" for value in row) + "</tr>")
    more = f"<p>{count - SHOWN_ROWS} more</p>" if count > SHOWN_ROWS else ""
    return f"<table><thead><tr>{head}</tr></thead><tbody>{''.join(body)}</tbody></table>{more}"


def text_html(value: Any) -> str:
    """A value as text that stands in a page as it is."""
    text = "" if value is None else str(value)
    return html.escape(text if len(text) <= SHOWN_SIGNS else text[: SHOWN_SIGNS - 1] + "…")
