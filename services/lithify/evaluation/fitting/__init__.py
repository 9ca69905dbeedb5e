"""Finds the weights of the relevance signals from questions with known evidence."""

from lithify.evaluation.fitting.crossing import Fit, fit_across
from lithify.evaluation.fitting.examples import Example, gather_examples
from lithify.evaluation.fitting.run import fit_profile

__all__ = ["Example", "Fit", "fit_across", "fit_profile", "gather_examples"]
