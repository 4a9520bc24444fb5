"""EM and mean field: hidden variables expected, parameters updated."""
