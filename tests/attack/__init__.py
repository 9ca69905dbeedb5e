"""What an attacker, a clumsy host or a bad day may send. `LITHIFY_ATTACK_URL` points the suite at a running service."""
