package mcp

import _ "embed"

//go:embed skill.md
var skill string

// Skill is what an agent should know before it works on a board, as a file of instructions.
func Skill() string { return skill }
