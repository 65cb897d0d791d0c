"""Answers in the formats of other tools: of monitoring, and of what sets up machines."""
