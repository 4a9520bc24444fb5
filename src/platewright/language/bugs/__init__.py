"""The BUGS reader: text of either dialect and its data files become an ordinary model with plates."""
