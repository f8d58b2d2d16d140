"""The codes a parser says: defects (a client could not dispatch the call) and notes (tolerated oddities)."""

from enum import StrEnum


class DefectCode(StrEnum):
    """Why a client that keeps to the contract could not dispatch what came."""

    # markup
    UNCLOSED_BLOCK = "unclosed_block"
    STRAY_CLOSE = "stray_close"
    NESTED_OPEN = "nested_open"
    EMPTY_BLOCK = "empty_block"
    WRONG_DIALECT = "wrong_dialect"
    MALFORMED_MARKUP = "malformed_markup"
    TEXT_BETWEEN_MARKUP = "text_between_markup"
    AMBIGUOUS_VALUE = "ambiguous_value"
    UNCLOSED_REASONING = "unclosed_reasoning"
    CALL_IN_REASONING = "call_in_reasoning"
    MARKUP_IN_CONTENT = "markup_in_content"
    MARKUP_IN_NAME = "markup_in_name"
    MARKUP_IN_ARGUMENTS = "markup_in_arguments"
    # JSON
    TRUNCATED_JSON = "truncated_json"
    INVALID_JSON = "invalid_json"
    TRAILING_DATA = "trailing_data"
    DUPLICATE_KEY = "duplicate_key"
    NOT_AN_OBJECT = "not_an_object"
    UNKNOWN_MEMBER = "unknown_member"
    # name
    MISSING_NAME = "missing_name"
    NAME_NOT_STRING = "name_not_string"
    NAME_IS_EXPRESSION = "name_is_expression"
    INVALID_NAME = "invalid_name"
    UNDECLARED_FUNCTION = "undeclared_function"
    # arguments
    MISSING_ARGUMENTS = "missing_arguments"
    ARGUMENTS_NOT_OBJECT = "arguments_not_object"
    ARGUMENTS_EMPTY_STRING = "arguments_empty_string"
    ARGUMENTS_DOUBLE_ENCODED = "arguments_double_encoded"
    DUPLICATE_PARAMETER = "duplicate_parameter"
    SCHEMA_MISSING_REQUIRED = "schema_missing_required"
    SCHEMA_UNEXPECTED = "schema_unexpected"
    SCHEMA_TYPE = "schema_type"
    SCHEMA_ENUM = "schema_enum"
    SCHEMA_OTHER = "schema_other"
    # what a server's own parser did to the text
    SERVER_PARSE_FAILURE = "server_parse_failure"
    LOST_OUTPUT = "lost_output"

    @property
    def is_contract(self) -> bool:
        """True for class `contract` (undeclared function, schema); False for class `syntax`."""
        return self is DefectCode.UNDECLARED_FUNCTION or self.is_schema

    @property
    def is_schema(self) -> bool:
        """True where the arguments are not what the function declares."""
        return self.value.startswith("schema_")


class NoteCode(StrEnum):
    """Spellings that the grammar or the chat template tolerates, and finger-prints worth a look."""

    TOKEN_DUPLICATION = "token_duplication"
    PYTHON_SPELLING = "python_spelling"
    INTEGER_AS_FLOAT = "integer_as_float"
    MISSING_NEWLINE = "missing_newline"
    EXTRA_WHITESPACE = "extra_whitespace"
    EXTRA_MEMBER = "extra_member"
    JOINED_CALLS = "joined_calls"
    ODD_SPACING = "odd_spacing"
    ARGUMENTS_AS_OBJECT = "arguments_as_object"
    MISSING_ID = "missing_id"
    DUPLICATE_ID = "duplicate_id"
    FINISH_MISMATCH = "finish_mismatch"
