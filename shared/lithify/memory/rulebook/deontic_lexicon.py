"""The words of `deontic-v1`; any change here or in the rules needs a new version (spec 06 §4)."""

# X31: the broad rule set is kept as a versioned lexicon; it makes no claim of logical consistency.
LEXICON_VERSION = "deontic-v1"

OBLIGATION = 2
FORBIDDEN = 4
PERMITTED = 8

_IMPERATIVES = """
    act answer ask avoid be bypass build change check cite compromise consult create delete deny design eliminate
    ensure escalate follow format ground implement include inspect keep leak maintain mark modify pitch prefer
    preserve prioritize promise read rebuild reduce refactor refer reference reject republish rerun retreat return
    reveal rewrite run signal skip structure suggest treat trust update use validate verify weaken wipe write
"""
IMPERATIVES = frozenset(_IMPERATIVES.split())

STRONG_MODALS = frozenset({"must", "shall", "required"})
MODALS = STRONG_MODALS | {"should"}
FANCIES = frozenset({"imagine", "picture", "envision", "suppose"})  # "you must imagine" tells, it does not order

IDENTITY_VERBS = frozenset({"are", "speak", "reference", "ask"})
EMPHASES = frozenset({"always", "please", "strictly"})
PROHIBITIONS = frozenset({"prohibited", "forbidden"})
COMMAND_LABELS = frozenset({"build", "test", "lint", "benchmarks", "production", "development"})
POLICY_LABELS = frozenset(
    {
        ("alloc", "strategy"),
        ("concurrency", "model"),
        ("performance", "target"),
        ("anti", "vm"),
        ("sandbox", "aware"),
        ("ebpf", "monitoring"),
    },
)
SUBJECTS = (("the", "system"), ("all", "work"), ("functions",), ("code",), ("logic",), ("tests",), ("work",))
DESIGN_AIMS = (("the", "design", "goal", "is"), ("the", "design", "purpose", "is"))
SETUP_PHRASES = (("to", "get"), ("if", "you", "need"), ("if", "you", "hit"), ("the", "tests", "are"))
