// Package python contains the Python client, and builds its wheel, which the site offers to pip.
//
// Read wheel.go. pyproject.toml and warpboard/version.py are the only sources of the metadata. Building needs no Python
// and is reproducible: the wheel is uncompressed and has no dates.
package python
