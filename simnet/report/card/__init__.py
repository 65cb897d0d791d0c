"""An answer that fits one screen, to show to others."""
