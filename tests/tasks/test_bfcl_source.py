"""Java and JavaScript literals: what the benchmark's converters were seen to make of them."""

import pytest
from draftproof.tasks.bfcl_source import source_literal, source_value
from draftproof.tasks.bfcl_terms import Declared, Language
from hypothesis import given
from hypothesis import strategies as st

JAVA, JAVASCRIPT = Language.JAVA, Language.JAVASCRIPT


@pytest.mark.parametrize(
    ("declared", "text", "value"),
    [
        (Declared("integer"), "-5", -5),
        (Declared("integer"), "+5", "+5"),
        (Declared("integer"), "5L", "5L"),
        (Declared("long"), "5", "5"),
        (Declared("long"), "-5l", -5),
        (Declared("float"), "5.0", "5.0"),
        (Declared("float"), "1e5f", 1e5),
        (Declared("double"), "5", 5.0),
        (Declared("double"), ".5", ".5"),
        (Declared("boolean"), "true", True),
        (Declared("boolean"), "True", "True"),
        (Declared("char"), "'a'", "'a'"),
        (Declared("String"), '"abc"', '"abc"'),
        (Declared("any"), "5", "5"),
        (Declared("Array", "integer"), "new int[]{1, 2}", [1, 2]),
        (Declared("Array", "integer"), "new int[]{}", []),
        (Declared("Array", "integer"), "{1}", "{1}"),
        (Declared("Array", "String"), 'new String[]{"a"}', ['"a"']),
        (Declared("ArrayList", "String"), 'new ArrayList<>(Arrays.asList("a", "b"))', ["a", "b"]),
        (Declared("ArrayList", "long"), "new ArrayList<Long>(Arrays.asList(1L, 2L))", [1, 2]),
        (Declared("ArrayList", "integer"), "new ArrayList<>() {{ add(1); add(2); }}", [1, 2]),
        (Declared("ArrayList", "any"), "new ArrayList<>(Arrays.asList(42, true))", ["42", "true"]),
        (Declared("ArrayList", "integer"), "new ArrayList<>()", []),
        (Declared("ArrayList", "integer"), "Arrays.asList(1)", "Arrays.asList(1)"),
        (
            Declared("HashMap"),
            'new HashMap<String, Object>() {{ put("a", "b"); put("c", 5); }}',
            {"a": "b", "c": 5},
        ),
        (Declared("HashMap"), 'new HashMap<>() {{ put("a", 5L); put("b", true); }}', {"a": 5, "b": True}),
        (Declared("HashMap"), "new HashMap<>()", {}),
        (Declared("HashMap"), 'Map.of("a", 1)', 'Map.of("a", 1)'),
    ],
)
def test_java(declared, text, value):
    read = source_value(text, declared, JAVA)
    assert (read, type(read)) == (value, type(value))


@pytest.mark.parametrize(
    ("declared", "text", "value"),
    [
        (Declared("String"), '"abc"', "abc"),
        (Declared("String"), "'abc'", "abc"),
        (Declared("String"), "`abc`", "`abc`"),
        (Declared("integer"), "5.0", "5.0"),
        (Declared("float"), "5", 5.0),
        (Declared("float"), "1e5", "1e5"),
        (Declared("Bigint"), "5n", 5),
        (Declared("Boolean"), "false", False),
        (Declared("any"), "'abc'", "'abc'"),
        (Declared("array", "String"), '["a", "b"]', ["a", "b"]),
        (Declared("array", "float"), "[1.5, 2];", [1.5, 2.0]),
        (Declared("array", "String"), 'new Array("a")', ["a"]),
        (Declared("array", "dict"), '[{"a": 1}, {"a": 2}]', [{"a": 1}, {"a": 2}]),
        (Declared("array", "array"), "[[1, 2], [3]]", [[1, 2], [3]]),
        (Declared("array", "String"), "[]", []),
        (Declared("dict"), "{a: 1, 'b': \"c\"}", {"a": 1, "b": "c"}),
        (Declared("dict"), '{"a": ["x", 2], "b": true}', {"a": ["x", 2], "b": True}),
        (Declared("dict"), '{"a": "x, y:z"}', {"a": "x, y:z"}),
        (Declared("dict"), '{"a": {"b": 1}}', '{"a": {"b": 1}}'),
        (Declared("dict"), "new Map()", "new Map()"),
    ],
)
def test_javascript(declared, text, value):
    read = source_value(text, declared, JAVASCRIPT)
    assert (read, type(read)) == (value, type(value))


WORD = st.text("abcxyz", min_size=1, max_size=5)
SCALARS = {
    "integer": st.integers(-(10**6), 10**6),
    "float": st.integers(-1000, 1000).map(float),
    "boolean": st.booleans(),
    "String": WORD,
}


@given(
    st.sampled_from(["integer", "float", "boolean", "String"]).flatmap(
        lambda w: st.tuples(st.just(w), SCALARS[w])
    )
)
def test_a_written_literal_is_read_back(pair):
    word, value = pair
    assert source_value(source_literal(value, Declared(word), JAVA), Declared(word), JAVA) == value
    declared = Declared("Boolean" if word == "boolean" else word)
    assert source_value(source_literal(value, declared, JAVASCRIPT), declared, JAVASCRIPT) == value


@given(
    st.lists(WORD, max_size=3), st.dictionaries(WORD, WORD | st.integers(0, 9) | st.booleans(), max_size=3)
)
def test_a_written_list_or_object_is_read_back(items, members):
    for declared, value, language in (
        (Declared("ArrayList", "String"), items, JAVA),
        (Declared("HashMap"), members, JAVA),
        (Declared("array", "String"), items, JAVASCRIPT),
        (Declared("dict"), members, JAVASCRIPT),
    ):
        assert source_value(source_literal(value, declared, language), declared, language) == value


@given(
    st.text("[]{}(),:\"' \nab1-.newArryHshMpt<>", max_size=60),
    st.sampled_from(["array", "dict", "HashMap", "ArrayList"]),
)
def test_any_text_is_read_without_an_exception(text, word):
    language = JAVA if word[0] in "HA" else JAVASCRIPT
    source_value(text, Declared(word, "String"), language)


@pytest.mark.parametrize(
    "text", ["[" + "a   , " * 3000, "{" + "a: b   , " * 3000 + "(", "[[" + "1   ,  " * 3000 + "]x"]
)
def test_a_long_broken_literal_takes_no_time(text):
    assert source_value(text, Declared("array", "dict"), JAVASCRIPT) is not None
    assert source_value(text, Declared("dict"), JAVASCRIPT) == text.strip()
