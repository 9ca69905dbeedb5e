"""English words as a lexical search sees them: those without evidence, and forms that no stemmer unites."""

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

# Base form first, then the forms that mean the same. Forms that are common words of their own ("left", "saw", "felt")
# are meant here as verbs: in conversation they nearly always are.
_FAMILIES = """
become became / begin began begun / bend bent / bite bit bitten / blow blew blown / break broke broken
bring brought / build built / buy bought / catch caught / choose chose chosen / come came / creep crept
deal dealt / dig dug / draw drew drawn / dream dreamt / drink drank drunk / drive drove driven / eat ate eaten
fall fell fallen / feed fed / feel felt / fight fought / find found / flee fled / fly flew flown
forget forgot forgotten / forgive forgave forgiven / freeze froze frozen / get got gotten / give gave given
go went gone / grow grew grown / hang hung / hear heard / hide hid hidden / hold held / keep kept / kneel knelt
know knew known / lead led / learn learnt / leave left / lend lent / lose lost / make made / mean meant / meet met
pay paid / ride rode ridden / ring rang rung / rise rose risen / run ran / say said / see saw seen / seek sought
sell sold / send sent / shake shook shaken / shine shone / shoot shot / show shown / shrink shrank shrunk
sing sang sung / sink sank sunk / sit sat / sleep slept / slide slid / speak spoke spoken / spend spent / spin spun
stand stood / steal stole stolen / stick stuck / strike struck / swear swore sworn / sweep swept / swim swam swum
swing swung / take took taken / teach taught / tear tore torn / tell told / think thought / throw threw thrown
understand understood / wake woke woken / wear wore worn / weave wove woven / weep wept / win won
write wrote written
child children / foot feet / goose geese / knife knives / leaf leaves / life lives / man men / mouse mice
person people / shelf shelves / tooth teeth / wife wives / wolf wolves / woman women
"""

BASE_FORMS = {
    form: base
    for line in _FAMILIES.strip().splitlines()
    for base, *forms in map(str.split, line.split("/"))
    for form in forms
}
