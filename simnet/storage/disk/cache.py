"""A disk's buffer for what is written and not yet on the medium."""


class WriteBuffer:
    """Written sectors that are not on the medium, as ranges.

    Args:
        capacity: in sectors.
    """

    def __init__(self, capacity: int) -> None:
        self.capacity = capacity
        self.used = 0
        self.extents: list[tuple[int, int]] = []

    def room(self, sectors: int) -> bool:
        """Whether so many sectors fit."""
        return self.used + sectors <= self.capacity

    def put(self, sector: int, sectors: int) -> None:
        """Take written sectors; a range that ends where they begin grows."""
        self.used += sectors
        for position, (first, last) in enumerate(self.extents):
            if last == sector:
                self.extents[position] = (first, sector + sectors)
                return
        self.extents.append((sector, sector + sectors))

    def hold(self, sector: int, end: int) -> bool:
        """Whether one range holds all these sectors."""
        return any(first <= sector and end <= last for first, last in self.extents)

    def take(self, position: int) -> tuple[int, int]:
        """Take a range out, to be written; `used` counts it until `written`."""
        return self.extents.pop(position)

    def written(self, sectors: int) -> None:
        """So many sectors are on the medium."""
        self.used -= sectors
