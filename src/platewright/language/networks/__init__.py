"""Readers of networks in the formats of others: BIF and UAI."""
