"""Tells standing instructions, which hold from now on, from commands for once, small talk and stories."""

from lithify.memory.guidance.detector import find_instructions, is_standing_instruction
from lithify.memory.guidance.topics import name_claims, read_instructions, read_statement

__all__ = ["find_instructions", "is_standing_instruction", "name_claims", "read_instructions", "read_statement"]
