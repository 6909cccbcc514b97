"""TensorBoard's files: read in the order in which they were begun; HParams has each run once."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

import pytest
from tensorboard.backend.event_processing.event_accumulator import (  # type: ignore[import-untyped]  # ships no py.typed
    EventAccumulator,
)
from tensorboard.plugins.hparams import metadata  # type: ignore[import-untyped]  # the same
from tensorboard.plugins.hparams.api_pb2 import Status  # type: ignore[import-untyped]  # the same

from tests.learners import small_config
from tests.runs import assert_curves_are_the_rows, config_file, curves_of, start
from train.__main__ import main
from train.config import TrainConfig, load_config
from train.events import OUTCOME, next_path
from train.metrics import MetricsLog, hyper_parameters, outcome_names


def plugin_data(folder: Path) -> dict[str, Any]:
    """Returns what the plugin HParams reads of a run, by tag."""
    events = EventAccumulator(str(folder))
    events.Reload()
    found = {}
    for tag in events.PluginTagToContent(metadata.PLUGIN_NAME):
        content = events.SummaryMetadata(tag).plugin_data.content
        if tag == metadata.EXPERIMENT_TAG:
            found[tag] = metadata.parse_experiment_plugin_data(content)
        elif tag == metadata.SESSION_START_INFO_TAG:
            found[tag] = metadata.parse_session_start_info_plugin_data(content)
        else:
            found[tag] = metadata.parse_session_end_info_plugin_data(content)
    return found


def assert_hyper_parameters_are(folder: Path, config: TrainConfig) -> None:
    """Fails unless HParams shows the configuration of a run."""
    shown = plugin_data(folder)[metadata.SESSION_START_INFO_TAG].hparams
    found = {
        name: value.string_value if value.HasField("string_value") else value.number_value
        for name, value in shown.items()
    }
    assert found == hyper_parameters(config)


# ---- hyper-parameters and outcome ----


def test_hyper_parameters_are_all_fields_by_name_as_numbers_and_texts() -> None:
    config = small_config(seed=2**64 - 1, opponents=("random", "expert"))
    values = hyper_parameters(config)
    assert values.keys() == config.as_dict().keys()
    assert values["seed"] == "18446744073709551615"
    assert values["opponents"] == "random, expert"
    assert values["hidden_size"] == 16
    assert values["precision"] == "auto"


def test_hparams_has_the_configuration_and_the_outcome_of_a_finished_run(whole: Path) -> None:
    config = load_config(whole / "config.toml")
    assert_hyper_parameters_are(whole, config)
    found = plugin_data(whole)
    assert found[metadata.SESSION_END_INFO_TAG].status == Status.Value("STATUS_SUCCESS")
    experiment = found[metadata.EXPERIMENT_TAG]
    assert {info.name for info in experiment.hparam_infos} == config.as_dict().keys()
    names = [info.name.tag for info in experiment.metric_infos]
    assert names == outcome_names(config)
    assert "outcome/expert/win_rate" in names
    # They are curves of the run itself, of one point each, and no folder was made beside it.
    results = json.loads((whole / "results.json").read_text())
    curves = curves_of(whole)
    for match in results["matches"]:
        for name, key in (
            ("win_rate", "a_win_rate"),
            ("skunk_rate", "a_skunk_rate"),
            ("margin", "mean_margin"),
        ):
            ((step, value),) = curves[f"outcome/{match['b']}/{name}"]
            assert step == results["decisions"]
            assert value == pytest.approx(match[key])
    assert not [path for path in whole.iterdir() if path.is_dir()]


def test_a_run_on_its_way_is_in_hparams_without_an_end_and_resuming_does_not_break_it(
    tmp_path: Path,
) -> None:
    folder = tmp_path / "run"
    assert start(config_file(tmp_path, evaluate_every=0), folder, "--stop-after", "600") == 0
    config = load_config(folder / "config.toml")
    assert_hyper_parameters_are(folder, config)
    assert metadata.SESSION_END_INFO_TAG not in plugin_data(folder)
    assert main(["--resume", str(folder), "--stop-after", "1200"]) == 0
    assert metadata.SESSION_END_INFO_TAG not in plugin_data(folder)
    assert main(["--resume", str(folder)]) == 0
    assert_hyper_parameters_are(folder, config)
    assert metadata.SESSION_END_INFO_TAG in plugin_data(folder)
    assert_curves_are_the_rows(folder)


def test_a_run_without_last_matches_has_an_end_too_and_no_outcome(tmp_path: Path) -> None:
    folder = tmp_path / "run"
    config = config_file(tmp_path, total_decisions=200, evaluate_every=0, final_games=0)
    assert start(config, folder) == 0
    found = plugin_data(folder)
    assert found[metadata.SESSION_END_INFO_TAG].status == Status.Value("STATUS_SUCCESS")
    assert not found[metadata.EXPERIMENT_TAG].metric_infos
    assert_curves_are_the_rows(folder)


# ---- files ----


def test_files_are_numbered_behind_all_there_are_also_those_named_by_seconds(
    tmp_path: Path,
) -> None:
    assert next_path(tmp_path).name == "events.out.tfevents.0000000001"
    next_path(tmp_path).touch()
    assert next_path(tmp_path).name == "events.out.tfevents.0000000002"
    (tmp_path / "events.out.tfevents.1732912345.host.77.0").touch()
    (tmp_path / OUTCOME).touch()
    names = [path.name for path in tmp_path.iterdir()]
    assert next_path(tmp_path).name == "events.out.tfevents.1732912346"
    assert max(names) < OUTCOME or max(names) == OUTCOME


def test_logs_begun_within_a_second_and_by_a_clock_put_back_are_read_in_their_order(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = time.time()
    for number, decisions in enumerate((0, 20, 20, 10)):
        monkeypatch.setattr(time, "time", lambda now=clock - 3_600 * number: now)
        with MetricsLog(tmp_path, decisions) as log:
            for step in (10, 20, 30):
                log.write(decisions + step, {"loss/policy": float(100 * number + step)})
    # Only the last knows what is behind its 10 decisions; the first one's 10 is what stays.
    assert curves_of(tmp_path) == {"loss/policy": [(10, 10), (20, 310), (30, 320), (40, 330)]}
    assert_curves_are_the_rows(tmp_path)


def test_an_event_file_cut_short_by_a_kill_loses_its_last_point_and_no_other(
    tmp_path: Path,
) -> None:
    with MetricsLog(tmp_path) as log:
        for step in (10, 20, 30):
            log.write(step, {"loss/policy": float(step)})
    (first,) = tmp_path.glob("events*")
    first.write_bytes(first.read_bytes()[:-5])
    assert curves_of(tmp_path) == {"loss/policy": [(10, 10), (20, 20)]}
    with MetricsLog(tmp_path, 20) as log:
        log.write(30, {"loss/policy": 31.0})
    assert_curves_are_the_rows(tmp_path)


def test_another_log_never_overwrites_a_file(tmp_path: Path) -> None:
    for _ in range(3):
        with MetricsLog(tmp_path) as log:
            log.write(10, {"loss/policy": 1.0})
    assert len(list(tmp_path.glob("events*"))) == 3
