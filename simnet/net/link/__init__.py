"""Links: frames on a wire, a switch, and a path that loses some of them."""
