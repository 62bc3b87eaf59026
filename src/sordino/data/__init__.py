"""Where data come from. Each file owns one kind of source; what they answer is set by `sordino.source`."""
