"""English forms no stemmer unites: a question asks what somebody bought with the word "buy"."""

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
