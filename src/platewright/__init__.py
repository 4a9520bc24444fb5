"""Platewright: graphical models with plates, turned into exact learning algorithms and their source."""

from __future__ import annotations

__version__ = "0.1.0"
