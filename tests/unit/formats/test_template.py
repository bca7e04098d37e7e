from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jinja2.sandbox import ImmutableSandboxedEnvironment

from gristmill.contract.errors import ConfigError
from gristmill.contract.record import Rejected, RejectionClass
from gristmill.formats.template import Template

PATH = "input.format.text"


def render(text: str, **fields: Any) -> str | Rejected:
    return Template(text, PATH).render(fields)


def rejection(text: str, **fields: Any) -> Rejected:
    result = render(text, **fields)
    assert isinstance(result, Rejected)
    return result


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("{{ a }}", "x"),
        ("{{a}}\n{{ b }}", "x\n5"),
        ("query: {{ a }}!\n", "query: x!"),
        ("{{ a | upper }}", "X"),
        ("{% if b > 3 %}big {% endif %}{{ a }}", "big x"),
        ("{{ a or b }}", "x"),
        ("{{ missing | default('none') }}", "none"),
        ("{{ nested.inner[0] }}", "deep"),
        ("{{ record['First name'] }}", "Ada"),
        ("{% for k in nested %}{{ k }}{% endfor %}", "inner"),
        ("<{{ a }}&>", "<x&>"),
        ("only words", "only words"),
    ],
)
def test_a_template_fills_in_fields(text: str, expected: str) -> None:
    fields = {"a": "x", "b": 5, "nested": {"inner": ["deep"]}, "First name": "Ada"}
    assert render(text, **fields) == expected


@given(
    st.lists(st.sampled_from(["{{ a }}", "{{b}}", "{{- a }}", "x ", "\n", "{# c #}", "\r\n"])),
    st.text(),
    st.none() | st.integers() | st.booleans() | st.floats(),
)
def test_the_fast_path_gives_what_jinja_gives(pieces: list[str], a: str, b: Any) -> None:
    text = "".join(pieces)
    result = render(text, a=a, b=b)
    expected = ImmutableSandboxedEnvironment().from_string(text).render(a=a, b=b)
    if (b is None and "{{b}}" in text) or not expected.strip():
        assert isinstance(result, Rejected)
    else:
        assert result == expected


@pytest.mark.parametrize("text", ["{{ body }}", "{{ title }}: {{ body }}", "{{ body | upper }}"])
def test_a_missing_field_is_named_with_those_there(text: str) -> None:
    rejected = rejection(text, title="t", n=1)
    assert rejected.reason is RejectionClass.MISSING_FIELD
    assert rejected.message == (
        "the record has no field `body`, which input.format.text needs; it has `title`, `n`"
    )


@pytest.mark.parametrize(
    "text", ["{{ body }}", "{{ title }}: {{ body }}", "{{ body | trim }}x{{ body }}"]
)
def test_a_null_field_is_named(text: str) -> None:
    rejected = rejection(text, title="t", body=None)
    assert rejected.reason is RejectionClass.MISSING_FIELD
    assert rejected.message == "field `body` is null, and input.format.text needs a value"


def test_a_key_missing_deeper_is_said() -> None:
    rejected = rejection("{{ a.b.c }}", a={})
    assert rejected.reason is RejectionClass.MISSING_FIELD
    assert "input.format.text needs a value that the record lacks" in rejected.message


@pytest.mark.parametrize("text", ["{{ a }}", "{{ a }}{{ a }}", "{{ a | trim }}"])
@pytest.mark.parametrize("value", ["", "  \n\t "])
def test_an_empty_text_is_rejected(text: str, value: str) -> None:
    assert rejection(text, a=value).message == (
        "the text is empty: input.format.text gives nothing but blanks"
    )


@pytest.mark.parametrize(
    "text", ["{{ 1 / a }}", "{{ a + 'x' }}", "{{ a.__class__.__mro__ }}", "{{ range(10) }}"]
)
def test_a_template_that_fails_on_a_record_rejects_it_alone(text: str) -> None:
    assert rejection(text, a=0).reason in (
        RejectionClass.WRONG_TYPE,
        RejectionClass.MISSING_FIELD,
    )


def test_a_template_cannot_change_the_record() -> None:
    fields = {"a": ["x"]}
    Template("{{ a.append('y') }}", PATH).render(fields)
    assert fields == {"a": ["x"]}


@pytest.mark.parametrize("text", ["{{ a", "{% if %}x", "{{ a | nofilter }}", "x\n{% end %}"])
def test_a_template_that_is_none_is_refused_with_its_line(text: str) -> None:
    line = text.count("\n") + 1
    with pytest.raises(ConfigError, match=rf"input\.format\.text: line {line} is not a valid"):
        Template(text, PATH)


def test_a_template_knows_the_fields_it_needs() -> None:
    template = Template("{{ a }} {{ b | default('') }}{% if c %}{{ d }}{% endif %}", PATH)
    assert template.names == {"a", "b", "c", "d"}
    assert template.required == {"a"}
