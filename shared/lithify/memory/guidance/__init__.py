"""Tells standing instructions, which hold from now on, from commands for once, small talk and stories."""

from lithify.memory.guidance.detector import is_general_instruction, is_standing_instruction
from lithify.memory.guidance.topics import name_claims, read_instructions, read_statement

__all__ = ["is_general_instruction", "is_standing_instruction", "name_claims", "read_instructions", "read_statement"]
