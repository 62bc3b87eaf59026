"""Keys that nobody lists beforehand: which of them may be shown, by one draw per key."""
