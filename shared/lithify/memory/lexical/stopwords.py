"""English function words that carry no evidence in a lexical search."""

import re

# Written for conversation: question words, pronouns, auxiliaries with their contractions, and the small change of
# chat. Words that date, count or negate an event ("before", "first", "never", "last") stay searchable.
STOP_WORDS = frozenset(
    re.findall(
        r"\S+",
        """
        a an the this that these those
        i me my mine myself you your yours yourself yourselves he him his himself she her hers herself it its itself
        we us our ours ourselves they them their theirs themselves one someone something anyone anything everyone
        who whom whose which what when where why how whoever whatever
        am is are was were be been being do does did doing done have has had having
        can could might must shall should will would ought
        and or but nor so yet if then else than as because while although though unless until whether
        of in on at to from by with about into onto upon over under for off out up down through via
        not no
        there here too very just also only even still quite really
        some any each every both either neither such same other another own
        i'm i've i'd i'll you're you've you'd you'll he's he'd he'll she's she'd she'll it's it'd it'll
        we're we've we'd we'll they're they've they'd they'll that's that'd that'll there's here's what's who's
        where's when's how's why's let's
        isn't aren't wasn't weren't don't doesn't didn't haven't hasn't hadn't can't cannot couldn't won't wouldn't
        shouldn't mustn't ain't
        im ive dont didnt doesnt cant wont isnt thats
        oh hey hi hello ok okay yeah yes wow
        """,
    )
)
