"""Dead letters as operators meet them: one of them found, and its payload in words."""

from lithify.events import AnyTenant
from lithify.http import NotFound
from lithify.streams import DeadLetters, Letter, LetterId


async def find_letter(letters: DeadLetters, scope: AnyTenant, letter_id: str) -> Letter:
    """Raises Invalid for what is no id, and NotFound if there is no such letter in view."""
    letter = await letters.find(scope, LetterId.parse(letter_id))
    if letter is None:
        raise NotFound(f"id: there is no dead letter {letter_id}; it was redriven or purged, or never was")
    return letter


def payload_of(letter: Letter) -> dict[str, str]:
    """Returns the original payload field by field; bytes that are not UTF-8 appear as \\x escapes."""
    return {
        name.decode(errors="backslashreplace"): value.decode(errors="backslashreplace")
        for name, value in letter.fields.items()
    }
