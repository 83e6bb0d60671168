"""The JSON Schema of a report's JSON record. Programs that read reports depend on it."""

from __future__ import annotations

import dataclasses
from typing import Any, get_args

from grader.bundle.model import FACETS
from grader.report.model import Advice, Certainty, CheckOutcome, CheckResult, Code, Kind, Outcome


def assert_follows(record, schema):
    """Raise jsonschema.ValidationError if a record does not follow a schema."""
    import jsonschema  # here, because this import takes a second, and most test runs do not need it

    jsonschema.validate(record, schema)


def fields(
    optional: dict[str, Any] | None = None, /, rules: list[Any] | None = None, **required: Any
) -> dict:
    """Return the schema of an object with these fields and no others."""
    properties = {**required, **(optional or {})}
    found = {
        "type": "object",
        "additionalProperties": False,
        "required": [*required],
        "properties": properties,
    }
    return found | ({"allOf": rules} if rules else {})


def rule(key: str, values: list[str], then: dict, otherwise: dict | None = None) -> dict:
    """Return a rule: if the field has one of the values, the fields of `then` must follow their schemas."""
    found = {"if": {"properties": {key: {"enum": values}}}, "then": {"properties": then}}
    return found | ({"else": {"properties": otherwise}} if otherwise else {})


def several(items: dict, **more: int) -> dict:
    return {"type": "array", "items": items, **more}


TEXT, FULL, NULL = {"type": "string"}, {"type": "string", "minLength": 1}, {"type": "null"}
TEXT_OR_NULL = {"type": ["string", "null"]}
NUMBER, LINE_NUMBER = {"type": "number", "minimum": 0}, {"type": "integer", "minimum": 1}


def of(record: type, rules: list[Any] | None = None, **schemas: Any) -> dict:
    """Return the schema of a dataclass; its fields are text, except those with another schema."""
    names = [field.name for field in dataclasses.fields(record)]
    assert set(schemas) <= set(names)
    return fields(rules=rules, **{name: schemas.get(name, TEXT) for name in names})


CHECK = of(
    CheckResult,
    id=FULL,
    title=FULL,
    facet={"enum": [*FACETS]},
    outcome={"enum": [*get_args(CheckOutcome)]},
    visibility={"enum": ["public", "hidden"]},
    expected=TEXT_OR_NULL,
    got=TEXT_OR_NULL,
    rules=[
        rule("outcome", ["advice"], {"policy": FULL, "message": FULL}),
        rule("outcome", ["failed"], {"policy": {"const": ""}, "message": FULL}),
        rule("visibility", ["hidden"], {"expected": NULL, "got": NULL}),
    ],
)
ADVICE = of(Advice, policy=FULL, reason=FULL, mistakes=several(TEXT), checks=several(TEXT, minItems=1))
FORMS = {
    "grids": {"type": "object", "required": ["row", "rows", "column", "columns", "panels"]},
    "chain": {"type": "object", "required": ["links"]},
    "bars": {"type": "object", "required": ["columns", "rows"]},
}
PICTURE = fields(FORMS, title=FULL, notes=several(TEXT), words=several(TEXT, minItems=2)) | {
    "oneOf": [{"required": [form]} for form in FORMS]
}
ENTRY = {"type": "array", "prefixItems": [TEXT, {"type": "integer", "minimum": 0}]}
CODE = of(
    Code,
    file=FULL,
    first=LINE_NUMBER,
    lines=several(TEXT, minItems=1),
    marked=several(LINE_NUMBER),
    entry=ENTRY,
)
LINE = fields(file=FULL, line=LINE_NUMBER, text=TEXT, certainty={"enum": [*get_args(Certainty)]})
EXERCISE = fields(
    {"picture": PICTURE, "printed": FULL, "code": CODE},
    name=TEXT,
    assignment={"type": "string", "pattern": "^[0-9]{2}_"},
    outcome={"enum": [*get_args(Outcome)]},
    score={"type": ["number", "null"], "minimum": 0},
    points={"type": "number", "exclusiveMinimum": 0},
    message=TEXT,
    checks=several(CHECK),
    diagnosis=fields(
        kind={"enum": [*get_args(Kind)]},
        alternatives=several(several(TEXT, minItems=1)),
        says=TEXT,
        asks=TEXT,
        lines=several(LINE, maxItems=3),
    ),
    advice=several(ADVICE),
    remarks=several(TEXT),
    fix_first=several(TEXT),
    seconds=NUMBER,
    rules=[
        rule("outcome", ["could_not_grade"], {"score": NULL}, {"score": NUMBER}),
        rule("outcome", ["other_interface"], {"checks": {"maxItems": 0}, "score": {"const": 0}}),
        rule("outcome", ["blocked", "other_interface", "could_not_grade"], {"message": FULL}),
    ],
)
REPORT = fields(
    {"student": TEXT, "submission": TEXT, "content": TEXT},
    schema={"const": 1},
    grader=TEXT,
    torch=TEXT,
    seed={"enum": ["public", "hidden"]},
    sandbox={"enum": ["strict", "landlock", "basic"]},
    score=NUMBER,
    points=NUMBER,
    exercises=several(EXERCISE, minItems=1),
    remarks=several(TEXT),
) | {"$schema": "https://json-schema.org/draft/2020-12/schema"}
