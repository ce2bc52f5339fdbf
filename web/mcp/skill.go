package mcp

import _ "embed"

//go:embed skill.md
var skillText string

// Skill returns the instructions for agents that work on a board.
func Skill() string { return skillText }
