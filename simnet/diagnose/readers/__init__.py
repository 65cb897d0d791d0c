"""What makes facts of text. A module has `SIGN`, which its text holds, and `read`."""
