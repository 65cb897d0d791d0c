"""IP over InfiniBand."""
