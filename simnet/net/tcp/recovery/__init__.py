"""Loss recovery: what is on its way, what is lost, and what is sent again."""
