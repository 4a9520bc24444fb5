"""An interpreter of the C that samplers are written in, for models whose chains end before a compiler would."""
