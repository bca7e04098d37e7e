"""A record's fields -> the text an engine reads, through a sandboxed Jinja2 template.

The names in a template are the record's fields, and nothing else; `record["First name"]` reaches
those that are no identifiers. Values that are no strings are shown as Python shows them. A text
that comes out empty, or as blanks alone, is rejected: no engine says anything useful about it.
"""

from collections.abc import Mapping
from typing import Any, Final

from jinja2 import StrictUndefined, TemplateSyntaxError, UndefinedError, meta, nodes
from jinja2.sandbox import ImmutableSandboxedEnvironment

from gristmill.contract.errors import ConfigError
from gristmill.contract.record import Rejected, RejectionClass, Stage

WHOLE: Final = "record"
"""Name of the variable that holds all fields, unless a field is called so."""


_Piece = tuple[str | None, str]

_RENDERING: Final = (Exception,)
"""A template may do anything with odd values: divide by zero, index a number, recurse."""


class Template:
    """One template of the blueprint, compiled once."""

    def __init__(self, text: str, path: str) -> None:
        """`path` is where the blueprint has it, as in input.format.text.

        Raises ConfigError.
        """
        self._path = path
        try:
            tree = _ENVIRONMENT.parse(text)
            self._render = _ENVIRONMENT.from_string(text).render
        except TemplateSyntaxError as error:
            raise ConfigError(
                f"{path}: line {error.lineno} is not a valid template: {error.message}"
            ) from None
        self.names = frozenset(meta.find_undeclared_variables(tree))
        """Every field that it may look at; WHOLE stands for all."""
        self.required = frozenset(_printed(tree))
        """Fields without which it never succeeds."""
        self._pieces = _pieces(tree)
        self.plain = _lone_field(self._pieces)
        """The one field whose value is the text, when the template is no more than that."""

    def render(self, fields: Mapping[str, Any]) -> str | Rejected:
        """The text, or why there is none."""
        text = self._fill(fields) if self._pieces is None else self._join(self._pieces, fields)
        if isinstance(text, Rejected):
            return text
        if not text or text.isspace():
            return Rejected(
                RejectionClass.MISSING_FIELD,
                Stage.READ,
                f"the text is empty: {self._path} gives nothing but blanks",
            )
        return text

    def _join(self, pieces: list[_Piece], fields: Mapping[str, Any]) -> str | Rejected:
        """What Jinja would give for fields and text in between alone, several times as fast."""
        texts = []
        for name, literal in pieces:
            if name is not None:
                value = fields.get(name)
                if value is None:
                    return self._absent(fields)
                texts.append(value if type(value) is str else str(value))
            texts.append(literal)
        return "".join(texts)

    def _fill(self, fields: Mapping[str, Any]) -> str | Rejected:
        given = fields if WHOLE in fields else {WHOLE: fields, **fields}
        try:
            return self._render(given)
        except _NullError:
            return self._absent(fields)
        except UndefinedError as error:
            return self._absent(fields, str(error))
        except _RENDERING as error:
            return Rejected(
                RejectionClass.WRONG_TYPE,
                Stage.READ,
                f"{self._path} can't be filled from this record: "
                f"{type(error).__name__}: {str(error)[:120]}",
            )

    def _absent(self, fields: Mapping[str, Any], detail: str = "") -> Rejected:
        wanted = sorted(self.names - {WHOLE})
        missing = [name for name in wanted if name not in fields]
        null = [name for name in wanted if fields.get(name, "") is None]
        if missing:
            message = (
                f"the record has no field {_quoted(missing)}, which {self._path} needs; "
                f"it has {_quoted(fields) if fields else 'none at all'}"
            )
        elif null:
            message = f"field {_quoted(null)} is null, and {self._path} needs a value"
        else:
            message = f"{self._path} needs a value that the record lacks, or that is null"
            message += f": {detail[:120]}" if detail else ""
        return Rejected(RejectionClass.MISSING_FIELD, Stage.READ, message)


class _NullError(Exception):
    """A null was about to be printed."""


def _not_null(value: object) -> object:
    if value is None:
        raise _NullError
    return value


def _environment() -> ImmutableSandboxedEnvironment:
    environment = ImmutableSandboxedEnvironment(
        undefined=StrictUndefined, autoescape=False, loader=None, finalize=_not_null
    )
    # A missing field named `range` must not print Jinja's own.
    environment.globals.clear()
    return environment


_ENVIRONMENT: Final = _environment()


def _printed(tree: nodes.Template) -> list[str]:
    """Names printed unconditionally and bare."""
    return [
        node.name
        for output in tree.body
        if isinstance(output, nodes.Output)
        for node in output.nodes
        if isinstance(node, nodes.Name) and node.name != WHOLE
    ]


def _pieces(tree: nodes.Template) -> list[_Piece] | None:
    """The template as (field, text after it), when it is no more than that."""
    if not all(isinstance(node, nodes.Output) for node in tree.body):
        return None
    pieces: list[_Piece] = []
    for node in (inner for output in tree.body for inner in output.iter_child_nodes()):
        if isinstance(node, nodes.Name) and node.name != WHOLE:
            pieces.append((node.name, ""))
        elif isinstance(node, nodes.TemplateData):
            name, before = pieces.pop() if pieces else (None, "")
            pieces.append((name, before + node.data))
        else:
            return None
    return pieces


def _lone_field(pieces: list[_Piece] | None) -> str | None:
    match pieces:
        case [(name, "")]:
            return name
        case _:
            return None


def _quoted(names: Any) -> str:
    listed = [f"`{name if len(name) <= 40 else name[:37] + '...'}`" for name in names]
    more = f" and {len(listed) - 10} more" if len(listed) > 10 else ""
    return ", ".join(listed[:10]) + more
