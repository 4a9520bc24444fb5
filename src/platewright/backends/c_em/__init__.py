"""The E and M pass of EM as C."""
