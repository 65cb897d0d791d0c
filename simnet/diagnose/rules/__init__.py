"""What facts mean, a module a subject: each has `RULES`."""
