// Package python holds the Python client, and makes the wheel of it that a site offers to pip.
//
// Read wheel.go. What is in pyproject.toml and warpboard/version.py is said there alone. The wheel is made without Python, and
// of the same bytes on every machine: nothing in it is compressed, and nothing has a date.
package python
