package e2e

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"warpboard/internal/test/tier"
)

// completions has a script for each shell. It loads the output of `warpboard completion`, and prints the completion of
// "warpboard boa". zsh completes only in a terminal, so its script prints the registered function, and calls the
// command that this function calls.
var completions = map[string]string{
	"bash": `_get_comp_words_by_ref() { words=("${COMP_WORDS[@]}"); cword=$COMP_CWORD; cur=${words[cword]}; prev=${words[cword-1]}; } # of the package bash-completion
		source <(warpboard completion bash)
		COMP_WORDS=(warpboard boa) COMP_CWORD=1 COMP_LINE="warpboard boa" COMP_POINT=13 COMP_TYPE=9
		compopt() { :; } # only inside of a completion
		__start_warpboard; echo "${COMPREPLY[0]}"`,
	"zsh": `autoload -U compinit; compinit -u -D; source <(warpboard completion zsh)
		[ "$_comps[warpboard]" = _warpboard ] && warpboard __complete boa 2>/dev/null | head -1`,
	"fish": `warpboard completion fish | source; complete -C "warpboard boa"`,
}

func TestEachShellCompletesCommands(t *testing.T) {
	tier.Needs(t, tier.Faults)
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	if err := os.Symlink(exe, filepath.Join(dir, "warpboard")); err != nil {
		t.Fatal(err)
	}
	for shell, script := range completions {
		cmd := exec.CommandContext(t.Context(), shell, "-c", script)
		cmd.Env = append(os.Environ(), asProgram+"=1", "HOME="+dir, "PATH="+dir+":"+os.Getenv("PATH"))
		out, err := cmd.CombinedOutput()
		if err != nil || !strings.HasPrefix(string(out), "board") {
			t.Errorf("%s (scripts/setup installs it): %v, it completes \"warpboard boa\" as %q", shell, err, out)
		}
	}
}
