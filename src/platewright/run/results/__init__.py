"""Tables, reports, files and other forms of results."""
