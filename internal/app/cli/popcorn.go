package cli

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/google/renameio/v2"
)

// configurePopcorn writes the token of the site to popcorn-cli's file, and prints the other settings that popcorn-cli
// needs.
func (c *connection) configurePopcorn() error {
	line, home := "cli_id: "+c.chosenSite.Token, c.env.Getenv("HOME")
	path := filepath.Join(home, ".popcorn.yaml")
	ours, err := isPopcornFileReplaceable(path)
	switch {
	case home == "":
		fmt.Fprintf(c.env.Stdout, "There is no home directory to write to. For popcorn-cli, write this line into ~/.popcorn.yaml\n  %s\nand run\n", line)
	case err != nil:
		return fmt.Errorf("reading popcorn-cli's file: %w", err)
	case !ours:
		fmt.Fprintf(c.env.Stdout, "%s holds another registration, so it was not changed. To use popcorn-cli with this site, replace it with\n  %s\nand run\n", path, line)
	default:
		if err := writePrivateFile(path, line+"\n"); err != nil {
			return fmt.Errorf("writing popcorn-cli's file: %w", err)
		}
		fmt.Fprintf(c.env.Stdout, "The token is also in %s, for popcorn-cli. To point it to this site, run\n", path)
	}
	fmt.Fprintf(c.env.Stdout, "  export POPCORN_API_URL=%s/popcorn\n", c.chosenSite.Server)
	return nil
}

// isPopcornFileReplaceable reports whether the file of popcorn-cli may be replaced: it is missing, empty, or has only a
// token of a Warpboard site. A registration with GPU MODE is not replaced.
func isPopcornFileReplaceable(path string) (bool, error) {
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return true, nil
	}
	if err != nil {
		return false, err
	}
	kept := strings.TrimSpace(string(text))
	id, ok := strings.CutPrefix(kept, "cli_id:")
	return kept == "" || ok && strings.HasPrefix(strings.Trim(id, ` "'`), "wb_") && !strings.Contains(kept, "\n"), nil
}

// writePrivateFile replaces a file by one that only its owner can read; the old permissions do not matter.
func writePrivateFile(path, text string) error {
	f, err := renameio.NewPendingFile(path, renameio.WithStaticPermissions(0o600), renameio.WithTempDir(filepath.Dir(path)))
	if err != nil {
		return err
	}
	defer f.Cleanup()
	if _, err := f.WriteString(text); err != nil {
		return err
	}
	return f.CloseAtomicallyReplace()
}
