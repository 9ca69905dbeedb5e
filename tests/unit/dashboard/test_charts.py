"""The charts are drawn inside their frames, and the budget bar adds up."""

from hypothesis import given
from hypothesis import strategies as st

from lithify.dashboard.charts import HEIGHT, SLOTS, WIDTH, budget_bar, polyline, round_top

amounts = st.floats(0, 1e6, allow_nan=False)


@given(st.lists(amounts, max_size=2 * SLOTS))
def test_a_line_stays_inside_its_frame_and_ends_at_the_right_edge(values: list[float]) -> None:
    points = [tuple(map(float, pair.split(","))) for pair in polyline(values, round_top(values)).split()]
    assert len(points) == min(len(values), SLOTS)
    assert all(0 <= x <= WIDTH and 0 <= y <= HEIGHT for x, y in points)
    assert not points or points[-1][0] == WIDTH


@given(st.lists(amounts, min_size=1))
def test_the_scale_holds_every_value_and_is_not_far_above(values: list[float]) -> None:
    top = round_top(values)
    assert max(values) <= top
    assert top <= max(1.0, 2.5 * max(values))


def test_a_higher_value_is_drawn_higher() -> None:
    low, high = (float(pair.split(",")[1]) for pair in polyline([1, 2], 2).split())
    assert high < low


def test_the_bar_shows_parts_frames_and_leaves_the_rest_empty() -> None:
    bar = budget_bar({"hard_rules": 10, "recalled": 40}, tokens=60, budget=100)
    assert [(part.name, part.tokens, part.x, part.width) for part in bar] == [
        ("hard_rules", 10, 0, 10),
        ("recalled", 40, 10, 40),
        ("frames", 10, 50, 10),
    ]


def test_an_overrun_budget_fills_the_bar_and_does_not_burst_it() -> None:
    bar = budget_bar({"hard_rules": 300}, tokens=300, budget=100)
    assert bar[-1].x + bar[-1].width == 100
    assert budget_bar({}, tokens=0, budget=0)[-1].width == 0
