"""fio: its jobs, their files, and what they count."""
