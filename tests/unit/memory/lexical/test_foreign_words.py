"""A text is found by the words of its own language, however short or bare of accents the question is."""

import pytest

from lithify.memory.lexical.analyser import LexicalAnalyser, searchable_text, token_index

analyser = LexicalAnalyser()


def dimensions(text: str, ts: int | None = None) -> set[int]:
    return set(analyser.document_vector(text if ts is None else searchable_text(text, ts), 17.0)[0])


def meets(question: str, text: str) -> bool:
    return bool(dimensions(text) & set(analyser.query_vector(question)[0]))


@pytest.mark.parametrize(
    ("question", "text"),
    [
        ("Welche Wohnungen haben wir gesehen?", "Ich habe gestern eine Wohnung in Köln gefunden."),
        ("wo wohnt Ada?", "Meine Freundin Ada wohnt in der Nähe vom Bahnhof."),
        ("Wohnungen?", "Ich suche Wohnungen für meine Schwester."),
        ("Umzug nach Koln", "Wir sind im Herbst nach Köln gezogen."),
        ("¿Qué libros leímos?", "Mi hermana me ha dejado un libro muy bueno."),
        ("mi cancion", "Siempre escucho la misma canción."),
        ("Quels chevaux avons-nous vus ?", "Nous avons un cheval dans le jardin."),
        ("Che città abbiamo visitato?", "La mia città preferita è Torino, perché ci vivo."),
        ("Onde ficam as casas?", "Comprei uma casa perto da praia."),
        ("Welke fietsen hebben we?", "Ik heb een nieuwe fiets gekocht."),
        ("Какие книги я читал?", "Я купил новую книгу о поездах."),
        ("ما هي الكتب؟", "اشتريت كتاب جديد عن القطارات، وهذه الكتب جميلة"),
        ("المدرسة", "مَدرسة"),
        ("मेरी किताबें कहाँ हैं?", "मैंने एक नई किताब खरीदी।"),
    ],
)
def test_inflected_or_bare_words_meet(question: str, text: str) -> None:
    assert meets(question, text)


def test_a_question_does_not_meet_a_text_by_function_words() -> None:
    assert not meets("Wo ist mein Schlüssel?", "Wir sind mit dem Zug nach Köln gefahren.")


@pytest.mark.parametrize(
    "question",
    [
        "Was war im Mai 2023?",
        "¿Qué hice en mayo de 2023?",
        "Что было в мае?",
        "2023年5月に何をしましたか",
        "ماذا حدث في مايو؟",
    ],
)
def test_a_question_names_the_month_in_its_own_language(question: str) -> None:
    dated = dimensions("x", 1_683_554_160_000)
    assert token_index("may") in dated
    assert token_index("may") in analyser.query_vector(question)[0]


@pytest.mark.parametrize("text", ["Wir haben uns gestern getroffen.", "Мы встретились вчера.", "我们昨天见面了"])
def test_a_foreign_turn_is_found_by_the_day_it_was_said(text: str) -> None:
    assert set(map(token_index, analyser.tokens("8 January 2023"))) <= dimensions(text, 1_673_136_000_000)


def test_other_spellings_do_not_make_a_text_longer() -> None:
    bare = analyser.document_vector("Ich habe den Schlüssel verloren.", 17.0)
    weights = dict(zip(*bare, strict=True))
    stems = analyser.tokens("Ich habe den Schlüssel verloren.")
    one = 1.9 / (1 + 0.9 * (1 - 0.3 + 0.3 * len(stems) / 17.0))
    assert weights[token_index(stems[0])] == pytest.approx(one)


def test_english_tokens_are_as_they_ever_were() -> None:
    assert analyser.tokens("I moved to Lisbon last week and I love the small bakery around the corner.") == [
        *("move", "lisbon", "last", "week", "love", "small", "bakeri", "around", "corner")
    ]
    assert analyser.tokens("When did Melanie's children go camping in Yosemite?") == [
        *("melani", "child", "go", "camp", "yosemit")
    ]
    assert analyser.tokens("The café's résumé parser broke again") == ["café", "résumé", "parser", "break", "again"]


def test_an_english_text_is_found_without_its_accents() -> None:
    assert meets("which cafe?", "We had lunch at the café.")
