"""Tables of public cells: margins that add up, and large tables most of whose cells are empty."""
