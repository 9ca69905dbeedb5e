"""Names that the best hit brings in."""

import numpy as np

from lithify.memory.ranking.second_hop import link_by_names

TALK = ["My sister Mia is visiting.", "Today Mia has a job at the harbour.", "The harbour is closed.", "So tired."]


def test_a_name_of_the_best_hit_leads_to_where_else_it_is_said() -> None:
    assert link_by_names("Where does my sister work?", TALK, np.array([0.9, 0.2, 0.5, 0.1])) == [0.0, 1.0, 0.0, 0.0]


def test_a_name_that_was_asked_for_leads_nowhere() -> None:
    assert link_by_names("Where does mia work?", TALK, np.array([0.9, 0.2, 0.5, 0.1])) == [0.0] * 4


def test_a_name_that_all_say_leads_nowhere() -> None:
    talk = [*TALK, *(f"Then Mia said {number}." for number in range(20))]
    assert not any(link_by_names("Where does my sister work?", talk, np.linspace(1.0, 0.0, len(talk))))


def test_without_records_there_is_nothing_to_link() -> None:
    assert link_by_names("Where?", [], np.zeros(0)) == []
