"""Stan texts read: a program becomes the statements of a graphical model, and nothing in it is executed."""
