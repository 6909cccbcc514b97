"""README.md and all pages: the example runs, links lead somewhere, nothing is left open."""

import doctest
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PAGES = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")])


def test_the_example_of_the_readme_runs_and_prints_what_it_says() -> None:
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    examples = "\n".join(re.findall(r"```python\n(.*?)```", text, re.DOTALL))
    assert examples.count(">>>") > 5
    test = doctest.DocTestParser().get_doctest(examples, {}, "README.md", None, 0)
    said: list[str] = []
    doctest.DocTestRunner(verbose=False).run(test, out=said.append)
    assert not said, "".join(said)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_every_link_leads_to_a_file_that_is_there(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    for target in re.findall(r"\]\(([^)#]+)[^)]*\)", text):
        if "://" not in target:
            assert (page.parent / target).exists(), f"{page.name}: {target}"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_no_page_has_a_placeholder(page: Path) -> None:
    assert not re.findall(
        r"\b[A-Z]+_(?:TABLE|FIGURE)\b|TODO:|TBD|XXX", page.read_text(encoding="utf-8")
    )
