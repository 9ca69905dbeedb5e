"""LongMemEval as its authors publish it: a JSON list of questions, each with its own haystack of sessions."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from lithify.errors import Invalid
from lithify.evaluation.datasets.dataset import Dataset, SourceQuestion, SourceTurn, build_dataset
from lithify.evaluation.datasets.files import FileRow, digest, only_file, read_date, read_list

# The official retrieval score leaves these out: the right answer is that nothing is known.
ABSTENTION = "_abs"


class LongMemEvalMessage(FileRow):
    role: str
    content: str
    has_answer: bool = False


class Instance(FileRow):
    question_id: str
    question_type: str
    question: str
    question_date: str
    haystack_session_ids: tuple[str, ...]
    haystack_dates: tuple[str, ...]
    haystack_sessions: tuple[tuple[LongMemEvalMessage, ...], ...]
    answer_session_ids: tuple[str, ...]

    def sessions(self) -> Iterator[tuple[str, str, tuple[LongMemEvalMessage, ...]]]:
        return zip(self.haystack_session_ids, self.haystack_dates, self.haystack_sessions, strict=True)


def is_longmemeval(value: Any) -> bool:
    return isinstance(value, list) and bool(value) and isinstance(value[0], dict) and "haystack_sessions" in value[0]


def load_longmemeval(source: Path) -> Dataset:
    path = only_file(source, is_longmemeval)
    instances = read_list(path, Instance)
    for item in instances:
        refuse_uneven(item, path)
    wanted = [item for item in instances if ABSTENTION not in item.question_id]
    lines = {item.question_id: list(spoken_lines(item)) for item in wanted}
    return build_dataset("longmemeval", digest([path]), lines, [question_of(item) for item in wanted])


def refuse_uneven(item: Instance, path: Path) -> None:
    sizes = {len(item.haystack_session_ids), len(item.haystack_dates), len(item.haystack_sessions)}
    if len(sizes) > 1:
        raise Invalid(f"{path} question {item.question_id}: sessions, their ids and their dates differ in number")


def spoken_lines(item: Instance) -> Iterator[SourceTurn]:
    for session, date, messages in item.sessions():
        for number, message in enumerate(messages):
            yield SourceTurn(
                id=turn_name(session, number),
                session=session,
                speaker=message.role,
                text=message.content,
                at=read_date(date),
            )


def question_of(item: Instance) -> SourceQuestion:
    evidence = [
        turn_name(session, number)
        for session, _, messages in item.sessions()
        for number, message in enumerate(messages)
        if message.has_answer
    ]
    return SourceQuestion(
        id=item.question_id,
        conversation=item.question_id,
        text=item.question,
        category=item.question_type,
        evidence=evidence,
        sessions=item.answer_session_ids,
        at=read_date(item.question_date),
    )


def turn_name(session: str, number: int) -> str:
    return f"{session}_{number + 1}"
