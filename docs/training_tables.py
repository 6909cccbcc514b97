"""Writes the tables of docs/training.md from the code.

Run ``python -m docs.training_tables`` after a change of `train/config.py` or `train/metrics.py`.
A test fails where the page and the code differ.
"""

from __future__ import annotations

import ast
import inspect
import json
from collections.abc import Iterable
from pathlib import Path

from train.config import TrainConfig
from train.metrics import EVALUATION_METRICS, METRICS, OUTCOMES, Metric

PAGE = Path(__file__).with_name("training.md")


def field_meanings() -> dict[str, str]:
    """Returns the docstring under each field of `TrainConfig`, by name, in one line."""
    (kind,) = ast.parse(inspect.getsource(TrainConfig)).body
    assert isinstance(kind, ast.ClassDef)
    meanings = {}
    for field, text in zip(kind.body, kind.body[1:], strict=False):
        if (
            isinstance(field, ast.AnnAssign)
            and isinstance(field.target, ast.Name)
            and isinstance(text, ast.Expr)
            and isinstance(text.value, ast.Constant)
        ):
            meanings[field.target.id] = " ".join(str(text.value.value).split())
    return meanings


def table(head: str, rows: Iterable[tuple[str, ...]]) -> str:
    """Returns a table of the words between bars in *head*."""
    bars = "|".join(["---"] * len(head.split("|")))
    lines = [f"| {head} |", f"|{bars}|"]
    for cells in rows:
        escaped = [cell.replace("|", "\\|") for cell in cells]
        lines.append(f"| {' | '.join(escaped)} |")
    return "\n".join(lines)


def config_table() -> str:
    """Returns every field of a configuration, as TOML writes its default."""
    meanings = field_meanings()
    return table(
        "field | default | meaning",
        (
            (f"`{name}`", f"`{json.dumps(value)}`", meanings[name])
            for name, value in TrainConfig().as_dict().items()
        ),
    )


def metrics_table() -> str:
    """Returns every metric that a run writes, by name."""
    metrics = dict(METRICS)
    for name, metric in EVALUATION_METRICS.items():
        metrics[f"evaluation/OPPONENT/{name}"] = metric
    for name in OUTCOMES:
        meaning = f"the same as `{name}` in the last matches"
        metrics[f"outcome/OPPONENT/{name}"] = Metric(meaning, "one point, in TensorBoard alone")
    return table(
        "metric | meaning | in a run that learns",
        ((f"`{name}`", metric.meaning, metric.healthy) for name, metric in metrics.items()),
    )


def updated(page: str) -> str:
    """Returns the page with its tables as the code has them.

    Raises:
        ValueError: If a table's two marks are not both there, once.
    """
    tables = {"configuration": config_table(), "metrics": metrics_table()}
    for name, text in tables.items():
        begin, end = f"<!-- {name} table -->\n", f"<!-- end of {name} table -->\n"
        if page.count(begin) != 1 or page.count(end) != 1:
            raise ValueError(f"docs/training.md: the marks of the {name} table are not there once")
        before, rest = page.split(begin)
        _, after = rest.split(end)
        page = f"{before}{begin}\n{text}\n\n{end}{after}"
    return page


if __name__ == "__main__":
    PAGE.write_text(updated(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
