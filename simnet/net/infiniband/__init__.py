"""IP over InfiniBand: the fabric, its routes, and the driver."""
