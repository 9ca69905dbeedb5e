"""English words as a lexical search sees them: those without evidence, and forms that no stemmer unites."""

from lithify.memory.languages import ENGLISH, load_languages

STOP_WORDS = load_languages()[ENGLISH].stop_words
BASE_FORMS = load_languages()[ENGLISH].forms
