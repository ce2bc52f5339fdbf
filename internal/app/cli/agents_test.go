package cli

import (
	"strings"
	"testing"

	"warpboard/internal/app/cli/console"
)

// TestAgentsFindTheSkillByItsFrontMatter checks the lines between two "---" from which coding agents read the name and
// the description of a skill.
func TestAgentsFindTheSkillByItsFrontMatter(t *testing.T) {
	var out strings.Builder
	cmd := skillCommand(console.Environment{Stdout: &out})
	cmd.SetArgs([]string{"--to", "-"})
	if err := cmd.ExecuteContext(t.Context()); err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(out.String(), "\n")
	if len(lines) < 4 || lines[0] != "---" || lines[1] != "name: warpboard" ||
		!strings.HasPrefix(lines[2], "description: ") || lines[3] != "---" {
		t.Errorf("the skill begins with\n%s", strings.Join(lines[:min(len(lines), 4)], "\n"))
	}
}
