"""Which accepted events must live and which must be gone, by their places in the stream and the lines drawn there."""

from collections import defaultdict
from collections.abc import Iterable, Iterator
from itertools import pairwise

from lithify.streams.progress import StreamId
from tests.chaos.forgetting import Erasure, Subject, Target
from tests.chaos.ledger import Acceptance, Ledger, Mark, Name
from tests.chaos.observation import Kept


def subject_of(one: Acceptance | Kept) -> Subject:
    return Subject(*one.name, one.facts.user, one.facts.session, one.facts.source_ref)


class Lives:
    """Everything that was accepted, told or not, with the last word on each: alive or dead."""

    def __init__(self, ledger: Ledger, erasures: Iterable[Erasure], archived: Iterable[Kept]) -> None:
        self._erasures: defaultdict[Target, list[Erasure]] = defaultdict(list)
        for erasure in erasures:
            for target in erasure.targets:
                self._erasures[target].append(erasure)
        self._lives = {name: dict(lives) for name, lives in ledger.lives.items()}
        self.adopted = self._adopt(ledger.uncertain, archived)
        self.alive = dict(self._find_alive())
        self.known_marks = frozenset(mark for one in self.acceptances for mark in one.marks)
        self.alive_marks = frozenset(mark for one in self.alive.values() for mark in one.marks)

    @property
    def acceptances(self) -> Iterator[Acceptance]:
        return (one for lives in self._lives.values() for one in lives.values())

    def erasures_of(self, subject: Subject) -> list[Erasure]:
        return [erasure for target in subject.targets() for erasure in self._erasures.get(target, ())]

    def is_dead(self, subject: Subject, stream_id: StreamId) -> bool:
        return any(erasure.reaches(stream_id) for erasure in self.erasures_of(subject))

    def was_accepted(self, name: Name) -> bool:
        return name in self._lives

    def dead_marks(self, marks: Iterable[Mark]) -> set[Mark]:
        return {mark for mark in marks if mark in self.known_marks and mark not in self.alive_marks}

    def find_touched(self) -> set[tuple[str, str, str]]:
        """Returns the conversations of which something was forgotten."""
        return {one.facts.conversation for one in self.acceptances if self.erasures_of(subject_of(one))}

    def find_doubled(self) -> set[Name]:
        """Returns events that were accepted a second time though nothing between had them forgotten."""
        doubled = set()
        for name, lives in self._lives.items():
            for earlier, later in pairwise(lives[stream_id] for stream_id in sorted(lives)):
                erasures = self.erasures_of(subject_of(earlier))
                if not any(e.reaches(earlier.stream_id) and not e.reaches(later.stream_id) for e in erasures):
                    doubled.add(name)
        return doubled

    def count_hidden(self, uncertain: Iterable[Name]) -> int:
        """Returns how many events may have had a life nobody was told of: accepted unanswered, then forgotten."""
        lives = (next(iter(self._lives[name].values())) for name in uncertain if name in self._lives)
        return sum(bool(self.erasures_of(subject_of(one))) for one in lives)

    def _find_alive(self) -> Iterator[tuple[Name, Acceptance]]:
        for name, lives in self._lives.items():
            living = [one for one in lives.values() if not self.is_dead(subject_of(one), one.stream_id)]
            if living:
                yield name, max(living, key=lambda one: one.stream_id)

    def _adopt(self, uncertain: set[Name], archived: Iterable[Kept]) -> int:
        """Counts as accepted what came late: a request that was given up, and reached the gateway after a forgetting.

        Its content was accepted before, its event was forgotten, and only the archive tells its new place.
        """
        adopted = 0
        for line in archived:
            lives = self._lives.get(line.name, {})
            if line.name not in uncertain or line.stream_id is None or line.stream_id in lives:
                continue
            same = next((one for one in lives.values() if one.facts == line.facts), None)
            subject = subject_of(line)
            if same and self.erasures_of(subject) and not self.is_dead(subject, line.stream_id):
                lives[line.stream_id] = Acceptance(
                    line.name, line.facts, line.marks, line.stream_id, line.seq or 0, float("-inf"), float("inf")
                )
                adopted += 1
        return adopted
