"""Whether a record is as the published schema says; the schema is read and checked once."""

import functools

import jsonschema

from sordino.session.release import Release


@functools.cache
def _validator():
    schema = Release.schema()
    kind = jsonschema.validators.validator_for(schema)
    kind.check_schema(schema)
    return kind(schema)


def valid(record):
    """Raise what is wrong with a record of a release."""
    _validator().validate(record)
