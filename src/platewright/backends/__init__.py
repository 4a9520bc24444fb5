"""Print a program in a target language, one language a file."""
