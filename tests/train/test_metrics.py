"""The logs: each metric is written and told of, each step stands there once."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tensorboard.backend.event_processing.event_accumulator import (  # type: ignore[import-untyped]  # ships no py.typed
    EventAccumulator,
)

from tests.learners import small_config
from train.metrics import (
    EVALUATION_METRICS,
    MEASURED,
    METRICS,
    OUTCOMES,
    MetricsLog,
    outcome_names,
)
from train.run import run, start_run


@pytest.fixture(scope="module")
def rows(tmp_path_factory: pytest.TempPathFactory) -> list[dict[str, float]]:
    """Returns the rows of a run that plays matches on the way."""
    folder = tmp_path_factory.mktemp("metrics") / "run"
    config = small_config(
        total_decisions=1_200, evaluate_every=400, evaluate_games=2, opponents=("random", "expert")
    )
    assert run(start_run(config, folder, []), folder)
    return [json.loads(line) for line in (folder / "metrics.jsonl").read_text().splitlines()]


def test_each_row_has_every_metric_of_an_update_and_no_other(rows: list[dict[str, float]]) -> None:
    for row in rows:
        updates = {name for name in row if not name.startswith("evaluation/")}
        assert updates == METRICS.keys() | {"decisions"}


def test_each_row_with_matches_has_every_metric_of_each_and_no_other(
    rows: list[dict[str, float]],
) -> None:
    expected = {
        f"evaluation/{opponent}/{name}"
        for opponent in ("random", "expert")
        for name in EVALUATION_METRICS
    }
    found = [{name for name in row if name.startswith("evaluation/")} for row in rows]
    assert any(found)
    assert all(names in (set(), expected) for names in found)


def test_what_is_measured_is_a_metric() -> None:
    assert set(MEASURED) <= METRICS.keys()


def test_every_metric_has_a_meaning_and_says_what_is_healthy_in_one_line_each() -> None:
    for name, metric in (METRICS | EVALUATION_METRICS).items():
        assert len(metric.meaning) > 15, name
        assert len(metric.healthy) > 4, name
        assert "\n" not in metric.meaning + metric.healthy, name


def test_the_last_matches_are_told_by_metrics_of_a_match() -> None:
    assert set(OUTCOMES) <= EVALUATION_METRICS.keys()
    assert outcome_names(small_config(final_games=0)) == []
    assert outcome_names(small_config(final_games=2)) == [
        "outcome/random/win_rate",
        "outcome/random/skunk_rate",
        "outcome/random/margin",
    ]


def test_rows_are_numbers_and_rates_lie_between_0_and_1(rows: list[dict[str, float]]) -> None:
    for row in rows:
        assert all(isinstance(value, (int, float)) for value in row.values())
        for name, value in row.items():
            if name.split("/")[-1].startswith(("win_rate", "skunk", "clip_fraction")):
                assert 0 <= value <= 1, name


# ---- the log itself ----


def write(folder: Path, steps: list[int], resumed_at: int = 0) -> None:
    """Writes one row for each step, as a run does that begins or is resumed."""
    log = MetricsLog(folder, resumed_at)
    for step in steps:
        log.write(step, {"loss/policy": float(step)})
    log.close()


def steps_of(folder: Path) -> list[int]:
    """Returns the steps of metrics.jsonl."""
    text = (folder / "metrics.jsonl").read_text()
    assert text.endswith("\n") or not text
    return [json.loads(line)["decisions"] for line in text.splitlines()]


def test_a_resumed_log_goes_on_behind_the_step_it_was_resumed_at(tmp_path: Path) -> None:
    write(tmp_path, [10, 20, 30, 40])
    write(tmp_path, [30, 41], resumed_at=20)
    assert steps_of(tmp_path) == [10, 20, 30, 41]


def test_a_log_resumed_from_nothing_begins_again(tmp_path: Path) -> None:
    write(tmp_path, [10, 20])
    write(tmp_path, [11])
    assert steps_of(tmp_path) == [11]


@pytest.mark.parametrize("cut", ['{"decisions": 4', '{"decis', "7", '{"loss/policy": 1.0}', "\x00"])
def test_a_row_cut_short_is_taken_out(tmp_path: Path, cut: str) -> None:
    write(tmp_path, [10, 20])
    with (tmp_path / "metrics.jsonl").open("a") as file:
        file.write(cut)
    write(tmp_path, [30], resumed_at=20)
    assert steps_of(tmp_path) == [10, 20, 30]


def test_each_row_is_there_as_soon_as_it_is_written(tmp_path: Path) -> None:
    log = MetricsLog(tmp_path)
    log.write(10, {"loss/policy": 0.5})
    assert steps_of(tmp_path) == [10]
    log.close()


def test_flushed_curves_are_there_though_the_log_is_never_closed(tmp_path: Path) -> None:
    log = MetricsLog(tmp_path)
    log.write(10, {"loss/policy": 0.5})
    log.describe(small_config())
    events = EventAccumulator(str(tmp_path))
    events.Reload()
    assert [event.step for event in events.Scalars("loss/policy")] == [10]
    assert "config/text_summary" in events.Tags()["tensors"]
    log.close()
