"""The comparison of two commits: it runs both, and refuses what git does not know."""

import json
from pathlib import Path

import pytest

from eval import speed_against
from eval.provenance import ROOT


@pytest.mark.torture
def test_a_checkout_is_compared_with_its_own_commit(tmp_path: Path) -> None:
    if not (ROOT / ".git").exists():
        pytest.skip("no git here")
    result = tmp_path / "speed.json"
    flags = ["HEAD", "--seconds", "0.05", "--rounds", "2", "--json", str(result)]
    assert speed_against.main(flags) == 0
    kept = json.loads(result.read_text())
    assert kept["games_per_s_before"] > 0
    assert kept["games_per_s_now"] > 0
    assert kept["now_over_before"] > 0
    assert len(kept["against"]) == 40


@pytest.mark.parametrize(
    ("flags", "told"),
    [(["no-such-commit"], "no-such-commit"), (["HEAD", "--rounds", "0"], "rounds=0")],
)
def test_what_cannot_be_compared_is_refused(
    flags: list[str], told: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert speed_against.main(flags) == 2
    assert told in capsys.readouterr().err
