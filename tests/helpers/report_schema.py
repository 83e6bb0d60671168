"""The JSON Schema of a report's JSON record. Programs that read reports depend on it."""


def assert_follows(record, schema):
    """Raise jsonschema.ValidationError if a record does not follow a schema."""
    import jsonschema  # here, because this import takes a second, and most test runs do not need it

    jsonschema.validate(record, schema)


CHECK = {
    "type": "object",
    "additionalProperties": False,
    "required": [
        "id",
        "facet",
        "title",
        "outcome",
        "device",
        "dtype",
        "visibility",
        "message",
        "expected",
        "got",
        "where",
        "policy",
    ],
    "properties": {
        "id": {"type": "string", "minLength": 1},
        "facet": {
            "enum": [
                "shapes",
                "values",
                "masking",
                "gradients",
                "modes",
                "purity",
                "weights",
                "device",
                "precision",
                "pruning",
                "defaults",
            ]
        },
        "title": {"type": "string", "minLength": 1},
        "outcome": {"enum": ["passed", "failed", "advice", "skipped", "could_not_grade"]},
        "device": {"type": "string"},
        "dtype": {"type": "string"},
        "visibility": {"enum": ["public", "hidden"]},
        "message": {"type": "string"},
        "expected": {"type": ["string", "null"]},
        "got": {"type": ["string", "null"]},
        "where": {"type": "string"},
        "policy": {"type": "string"},
    },
    "allOf": [
        {
            "if": {"properties": {"outcome": {"const": "advice"}}},
            "then": {"properties": {"policy": {"minLength": 1}, "message": {"minLength": 1}}},
        },
        {
            "if": {"properties": {"outcome": {"const": "failed"}}},
            "then": {"properties": {"policy": {"const": ""}}},
        },
        {
            "if": {"properties": {"visibility": {"const": "hidden"}}},
            "then": {"properties": {"expected": {"type": "null"}, "got": {"type": "null"}}},
        },
        {
            "if": {"properties": {"outcome": {"const": "failed"}}},
            "then": {"properties": {"message": {"minLength": 1}}},
        },
    ],
}

ADVICE = {
    "type": "object",
    "additionalProperties": False,
    "required": ["policy", "says", "asks", "reason", "where", "mistakes", "checks"],
    "properties": {
        "policy": {"type": "string", "minLength": 1},
        "says": {"type": "string"},
        "asks": {"type": "string"},
        "reason": {"type": "string", "minLength": 1},
        "where": {"type": "string"},
        "mistakes": {"type": "array", "items": {"type": "string"}},
        "checks": {"type": "array", "items": {"type": "string"}, "minItems": 1},
    },
}

TEXTS = {"type": "array", "items": {"type": "string"}}
PICTURE = {
    "type": "object",
    "additionalProperties": False,
    "required": ["title", "notes", "words"],
    "properties": {
        "title": {"type": "string", "minLength": 1},
        "grids": {"type": "object", "required": ["row", "rows", "column", "columns", "panels"]},
        "chain": {"type": "object", "required": ["links"]},
        "bars": {"type": "object", "required": ["columns", "rows"]},
        "notes": TEXTS,
        "words": {**TEXTS, "minItems": 2},
    },
    "oneOf": [
        {"required": ["grids"]},
        {"required": ["chain"]},
        {"required": ["bars"]},
    ],
}
CODE = {
    "type": "object",
    "additionalProperties": False,
    "required": ["file", "first", "lines", "marked", "entry"],
    "properties": {
        "file": {"type": "string", "minLength": 1},
        "entry": {"type": "array", "prefixItems": [{"type": "string"}, {"type": "integer", "minimum": 0}]},
        "first": {"type": "integer", "minimum": 1},
        "lines": {**TEXTS, "minItems": 1},
        "marked": {"type": "array", "items": {"type": "integer", "minimum": 1}},
    },
}

LINE = {
    "type": "object",
    "additionalProperties": False,
    "required": ["file", "line", "text", "certainty"],
    "properties": {
        "file": {"type": "string", "minLength": 1},
        "line": {"type": "integer", "minimum": 1},
        "text": {"type": "string"},
        "certainty": {"enum": ["repaired", "suspected"]},
    },
}

EXERCISE = {
    "type": "object",
    "additionalProperties": False,
    "required": [
        "name",
        "assignment",
        "outcome",
        "score",
        "points",
        "message",
        "checks",
        "diagnosis",
        "advice",
        "remarks",
        "fix_first",
        "seconds",
    ],
    "properties": {
        "name": {"type": "string"},
        "assignment": {"type": "string", "pattern": "^[0-9]{2}_"},
        "outcome": {
            "enum": ["passed", "failed", "not_started", "blocked", "other_interface", "could_not_grade"]
        },
        "score": {"type": ["number", "null"], "minimum": 0},
        "points": {"type": "number", "exclusiveMinimum": 0},
        "message": {"type": "string"},
        "checks": {"type": "array", "items": CHECK},
        "diagnosis": {
            "type": "object",
            "additionalProperties": False,
            "required": ["kind", "alternatives", "says", "asks", "lines"],
            "properties": {
                "kind": {"enum": ["exact", "one_of", "different", "unknown", "none"]},
                "alternatives": {
                    "type": "array",
                    "items": {"type": "array", "items": {"type": "string"}, "minItems": 1},
                },
                "says": {"type": "string"},
                "asks": {"type": "string"},
                "lines": {"type": "array", "items": LINE, "maxItems": 3},
            },
        },
        "advice": {"type": "array", "items": ADVICE},
        "remarks": {"type": "array", "items": {"type": "string"}},
        "fix_first": {"type": "array", "items": {"type": "string"}},
        "seconds": {"type": "number", "minimum": 0},
        "picture": PICTURE,
        "printed": {"type": "string", "minLength": 1},
        "code": CODE,
    },
    "allOf": [
        {
            "if": {"properties": {"outcome": {"const": "could_not_grade"}}},
            "then": {"properties": {"score": {"type": "null"}}},
            "else": {"properties": {"score": {"type": "number"}}},
        },
        {
            "if": {"properties": {"outcome": {"const": "other_interface"}}},
            "then": {"properties": {"checks": {"maxItems": 0}, "score": {"const": 0}}},
        },
        {
            "if": {"properties": {"outcome": {"enum": ["blocked", "other_interface", "could_not_grade"]}}},
            "then": {"properties": {"message": {"minLength": 1}}},
        },
    ],
}

REPORT = {
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "type": "object",
    "additionalProperties": False,
    "required": ["schema", "grader", "torch", "seed", "sandbox", "score", "points", "exercises", "remarks"],
    "properties": {
        "schema": {"const": 1},
        "grader": {"type": "string"},
        "torch": {"type": "string"},
        "seed": {"enum": ["public", "hidden"]},
        "sandbox": {"enum": ["strict", "landlock", "basic"]},
        "score": {"type": "number", "minimum": 0},
        "points": {"type": "number", "minimum": 0},
        "exercises": {"type": "array", "items": EXERCISE, "minItems": 1},
        "remarks": {"type": "array", "items": {"type": "string"}},
        "student": {"type": "string"},
        "submission": {"type": "string"},
        "content": {"type": "string"},
    },
}
