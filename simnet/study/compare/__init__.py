"""A prediction beside what was measured afterwards on a real host."""
