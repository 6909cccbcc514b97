"""Rules as one word of a command line or a configuration: a preset, fields, or both.

``three_player``, ``target=61``, ``five_card,target=31``: a preset's name, six_card where none
stands first, and after it the fields that differ.
"""

from __future__ import annotations

from dataclasses import fields, replace
from typing import Annotated, Any

from tyro.constructors import PrimitiveConstructorSpec

from crib_env.rules import PRESETS, Rules

_DEFAULTS = {field.name: field.default for field in fields(Rules)}


def rules_from_text(text: str) -> Rules:
    """Returns the rules that a text names.

    Raises:
        ValueError: If it names none, or those that cannot be, in one line.
    """
    first, *changes = text.split(",")
    if "=" in first:
        first, changes = "six_card", [first, *changes]
    if first not in PRESETS:
        raise ValueError(
            f"rules {text!r}: allowed are {', '.join(PRESETS)}, and fields such as target=61"
        )
    values = {}
    for word in changes:
        name, equals, value = word.partition("=")
        if name not in _DEFAULTS or not equals:
            known = ", ".join(f"{one}=" for one in _DEFAULTS)
            raise ValueError(f"rules {text!r}: {word!r}: allowed after a comma are {known}")
        values[name] = _value(value, _DEFAULTS[name])
    try:
        return replace(PRESETS[first], **values)
    except ValueError as error:
        raise ValueError(f"rules {text!r}: {error}") from None


def _value(text: str, default: Any) -> Any:
    """Returns a field's value of the type of its default; the text itself, for `Rules` to refuse.

    Args:
        text: What stands behind the equals sign.
        default: The field's default.
    """
    if isinstance(default, bool):
        return {"true": True, "false": False}.get(text.lower(), text)
    if isinstance(default, int):
        try:
            return int(text)
        except ValueError:
            return text
    return text


def rules_text(rules: Rules) -> str:
    """Returns the text that `rules_from_text` makes these rules of, a preset's name if it can."""
    for name, preset in PRESETS.items():
        if preset == rules:
            return name
    dealt = (rules.players, rules.cards_dealt)
    base, preset = next(
        (name, one) for name, one in PRESETS.items() if (one.players, one.cards_dealt) == dealt
    )
    words = [base]
    for name in _DEFAULTS:
        value = getattr(rules, name)
        if value != getattr(preset, name):
            words.append(f"{name}={str(value).lower()}")
    return ",".join(words)


class RulesRefused(Exception):  # noqa: N818  # not an error of the program but of what was asked
    """Rules on a command line that are none.

    No ValueError: that would tyro show in a box of many lines.
    """


def _from_words(words: list[str]) -> Rules:
    """Returns the rules of a flag's one word.

    Raises:
        RulesRefused: If it names none.
    """
    try:
        return rules_from_text(words[0])
    except ValueError as error:
        raise RulesRefused(str(error)) from None


RulesFlag = Annotated[
    Rules,
    PrimitiveConstructorSpec(
        nargs=1,
        metavar="RULES",
        instance_from_str=_from_words,
        is_instance=lambda value: isinstance(value, Rules),
        str_from_instance=lambda rules: [rules_text(rules)],
    ),
]
"""The type of ``--rules``."""
