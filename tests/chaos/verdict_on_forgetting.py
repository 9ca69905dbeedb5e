"""The promises of forgetting: what came before it is gone everywhere, and what came after it is not touched."""

from collections import defaultdict

from tests.chaos.forgetting import Erasure, Target
from tests.chaos.ledger import Acceptance, Forgetting, Ledger
from tests.chaos.lives import Lives, subject_of
from tests.chaos.observation import Kept, Observation
from tests.chaos.verdict_words import Breach, Found


def forgetting_findings(ledger: Ledger, lives: Lives, seen: Observation) -> Found:
    jobs = {erasure.job_id: erasure for erasure in seen.erasures}
    ended = {job_id for job_id, job in jobs.items() if job.status == "finished" and job.verified}
    asked = {forgetting.job_id for forgetting in ledger.forgettings}
    yield Breach.OTHER, "every forgetting ends, verified", (asked | jobs.keys()) - ended
    wanted = {forgetting.target for forgetting in ledger.forgettings}
    strangers = {job.job_id for job in jobs.values() if not wanted.issuperset(job.targets)}
    yield Breach.LOST, "nobody forgets what was not asked for", strangers
    early, late = find_misplaced(ledger, jobs, lives)
    yield Breach.RESURRECTED, "a forgetting takes what was accepted before it was asked for", early
    yield Breach.LOST, "a forgetting leaves what is sent after its answer", late
    undead = {f"{one.name} in {one.where}" for one in (*seen.streamed, *seen.lettered) if is_undead(one, lives)}
    yield Breach.RESURRECTED, "nothing forgotten is in a stream", undead
    receipts = {name for name in seen.receipts if lives.was_accepted(name) and name not in lives.alive}
    yield Breach.RESURRECTED, "no receipt tells of what was forgotten", receipts
    mentions = {(r.facts.tenant, event) for r in seen.records for event in r.mentions}
    gone = {name for name in mentions if lives.was_accepted(name) and name not in lives.alive}
    yield Breach.RESURRECTED, "no memory names what was forgotten", gone
    yield Breach.RESURRECTED, "no answer tells of what was forgotten", ledger.recalled_answers
    yield Breach.CROSSED, "no answer tells of another tenant", ledger.crossed_answers


def is_undead(one: Kept, lives: Lives) -> bool:
    """Tells whether an entry is of an earlier life; one of `stored` knows its position only."""
    subject = subject_of(one)
    if one.stream_id is not None:
        return lives.is_dead(subject, one.stream_id)
    if not lives.was_accepted(one.name):
        return False
    living = lives.alive.get(one.name)
    return living is None or (living.seq, living.facts) != (one.seq, one.facts)


def find_misplaced(
    ledger: Ledger, jobs: dict[str, Erasure], lives: Lives
) -> tuple[set[tuple[str, object]], set[tuple[str, object]]]:
    """Returns what was told before a forgetting and lies behind its line, and what was sent after and lies before."""
    by_target: defaultdict[Target, list[Forgetting]] = defaultdict(list)
    for forgetting in ledger.forgettings:
        by_target[forgetting.target].append(forgetting)
    early: set[tuple[str, object]] = set()
    late: set[tuple[str, object]] = set()
    for one in lives.acceptances:
        for forgetting in [f for target in subject_of(one).targets() for f in by_target.get(target, ())]:
            job = jobs.get(forgetting.job_id)
            if job is None:
                continue
            if is_earlier(one, forgetting) and not job.reaches(one.stream_id):
                early.add((job.job_id, one.name))
            if one.sent_at > forgetting.told_at and job.reaches(one.stream_id):
                late.add((job.job_id, one.name))
    return early, late


def is_earlier(one: Acceptance, forgetting: Forgetting) -> bool:
    return one.told_at < forgetting.sent_at
