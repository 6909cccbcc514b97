"""A report is one page that needs nothing else, the same for the same games, cut off nowhere."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from eval.ledger import Ledger
from eval.report.__main__ import main
from eval.report.content import Picture, TableOf, sections
from eval.standings import groups, standings
from eval.tournament import main as tournament

CHROMIUM = shutil.which("chromium") or shutil.which("google-chrome")
STRANGE = "<b>a & b</b> | *c*"

# Errors of the page and its width are told in attributes of its first element.
PROBE = """<script>
const root = document.documentElement;
root.dataset.wide = root.scrollWidth > root.clientWidth;
root.dataset.cut = [...document.querySelectorAll("p, h1, h2, figure, figure svg, .box")]
  .some(one => one.getBoundingClientRect().right > root.clientWidth + 0.5);
</script>"""


@pytest.fixture(scope="module")
def games(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Returns a file with the games of a tournament of three players."""
    folder = tmp_path_factory.mktemp("report")
    config = folder / "config.toml"
    config.write_text(
        f"players = ['random', 'expert', {{agent = 'expert', label = '{STRANGE}'}}]\n"
        f"games = 200\nrules = 'short'\ndatabase = '{folder / 'games.sqlite'}'\n"
    )
    assert tournament([str(config)]) == 0
    return folder / "games.sqlite"


@pytest.fixture(scope="module")
def page(games: Path) -> str:
    """Returns the page of those games."""
    assert main([str(games)]) == 0
    return games.with_suffix(".html").read_text(encoding="utf-8")


def test_the_same_games_give_the_same_bytes(games: Path, page: str, tmp_path: Path) -> None:
    again = [tmp_path / "a.html", tmp_path / "a.md"]
    assert main([str(games), "--html", str(again[0]), "--markdown", str(again[1])]) == 0
    assert again[0].read_text(encoding="utf-8") == page
    assert again[1].read_bytes() == games.with_suffix(".md").read_bytes()


def test_the_page_loads_nothing_and_runs_nothing(page: str) -> None:
    addresses = set(re.findall(r"https?://[^\"'\s<)]*", page))
    assert all("www.w3.org" in one for one in addresses), addresses  # names of SVG's own words
    assert "<script" not in page
    assert "<b>" not in page
    assert "&lt;b&gt;a &amp; b&lt;/b&gt;" in page


def test_every_figure_of_the_standings_is_there_with_its_interval(games: Path, page: str) -> None:
    told = games.with_suffix(".md").read_text(encoding="utf-8").replace("\\", "")
    with Ledger(games) as ledger:
        [group] = groups(ledger)
        found = standings(ledger, group)
    for text in (page, told):
        for result in found.pairings:
            for estimate in (
                result.a.win_rate,
                result.b.win_rate,
                result.a.skunk_rate,
                result.b.skunk_rate,
                result.mean_margin,
                result.a.as_first_dealer.win_rate,
                result.b.as_first_pone.win_rate,
            ):
                assert str(estimate) in text
        for row in found.players:
            assert row.rating is not None
            assert f"{row.wins:,}" in text
    assert STRANGE in told
    assert "Not told apart" in told
    assert "python -m eval.tournament" in told


def test_each_picture_has_its_numbers_beside_it(games: Path) -> None:
    for section in sections(games):
        if any(isinstance(part, Picture) for part in section.parts):
            assert any(isinstance(part, TableOf) for part in section.parts), section.title


def test_what_cannot_be_reported_is_refused(
    games: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with Ledger(tmp_path / "empty.sqlite"):
        pass
    before = games.read_bytes()
    for arguments, reason in (
        ([tmp_path / "none"], "there is no such file"),
        ([tmp_path / "empty.sqlite"], "no game has been played"),
        ([games, "--html", games], "holds the games"),
        ([games, "--html", tmp_path / "no" / "a.html"], "there is no folder"),
    ):
        assert main([str(one) for one in arguments]) == 2
        [line] = capsys.readouterr().err.splitlines()
        assert line.startswith("eval.report: ")
        assert reason in line
    assert games.read_bytes() == before


def test_games_by_other_rules_stand_in_sections_of_their_own(tmp_path: Path) -> None:
    config = tmp_path / "config.toml"
    for rules, seed in (("short", 0), ("short", 1), ("five_card,target=31", 0)):
        config.write_text(
            f"players = ['greedy', 'expert']\ngames = 20\nrules = '{rules}'\nseed = {seed}\n"
            f"database = '{tmp_path / 'games.sqlite'}'\n"
        )
        assert tournament([str(config)]) == 0
    titles = [section.title for section in sections(tmp_path / "games.sqlite")]
    assert [title for title in titles if title.startswith("Ladder")] == [
        "Ladder (five_card,target=31, seed 0)",
        "Ladder (short, seed 0)",
        "Ladder (short, seed 1)",
    ]


@pytest.mark.skipif(CHROMIUM is None, reason="there is no chromium on the PATH")
@pytest.mark.parametrize("width", [1280, 390])
def test_a_browser_shows_it_without_an_error_and_cuts_nothing_off(
    page: str, tmp_path: Path, width: int
) -> None:
    probed = tmp_path / "page.html"
    probed.write_text(page.replace("</body>", f"{PROBE}</body>"), encoding="utf-8")
    flags = "--headless --no-sandbox --disable-gpu --disable-quic --enable-logging=stderr --v=0"
    command = [str(CHROMIUM), *flags.split(), f"--user-data-dir={tmp_path / 'browser'}"]
    command += [f"--window-size={width},900", "--dump-dom", probed.as_uri()]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=True)
    assert 'data-wide="false"' in done.stdout
    assert 'data-cut="false"' in done.stdout
    assert "CONSOLE" not in done.stderr
