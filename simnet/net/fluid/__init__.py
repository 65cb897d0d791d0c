"""Long messages as rates: links that flows share, without packets."""
