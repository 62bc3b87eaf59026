"""The commands of `sordino geo`, one file each."""
