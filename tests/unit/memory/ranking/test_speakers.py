"""Names that turns open with."""

from lithify.memory.ranking.speakers import find_speakers


def test_whoever_opens_several_turns_is_a_speaker() -> None:
    assert find_speakers(["Ada: hello", "Bo: hi", "Ada: how are you?", "Bo: fine"]) == ["ada", "bo", "ada", "bo"]


def test_a_heading_is_no_speaker() -> None:
    talk = ["The big ones: milk, eggs and wheat", "Note: this is new", "plain", "Ada: hello", "Ada: bye"]
    assert find_speakers(talk) == [None, None, None, "ada", "ada"]
