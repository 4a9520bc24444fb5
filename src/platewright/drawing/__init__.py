"""The drawing room: plate pictures as SVG, and derivations as a page of pictures before and after."""
