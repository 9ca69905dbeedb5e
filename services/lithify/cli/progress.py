"""The bars of long commands: on stderr, and silent where nobody watches."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial

from rich.progress import BarColumn, MofNCompleteColumn, Progress, TaskID, TextColumn, TimeRemainingColumn

from lithify.cli.console import talk


class StageBars(Progress):
    """One bar for each stage of the work, made when it is first heard of."""

    def __init__(self) -> None:
        columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
        super().__init__(*columns, console=talk, disable=not talk.is_terminal)
        self._stages: dict[str, TaskID] = {}

    def show(self, stage: str, done: int, total: int) -> None:
        """Draws how far a stage is; the callback that long work is given."""
        if stage not in self._stages:
            self._stages[stage] = self.add_task(stage)
        self.update(self._stages[stage], completed=done, total=total)


@contextmanager
def count_items(what: str, total: int, done: int = 0) -> Iterator[Callable[[int], None]]:
    """Shows one bar, and yields the function that is called with how many more are done."""
    with StageBars() as bars:
        yield partial(bars.advance, bars.add_task(what, total=total, completed=done))
