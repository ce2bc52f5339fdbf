package cli

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/BurntSushi/toml"
	"github.com/google/renameio/v2"
)

// config is the file of warpboard login: sites by a name, each with a token.
// The file is written whole by login and logout: two at once lose one's entry, and never half a file.
type config struct {
	Default string           `toml:"default"` // name of the site that is asked when nothing names one
	Sites   map[string]known `toml:"sites"`
}

// known is a site that somebody has signed in to.
type known struct {
	Server string `toml:"server"`
	Token  string `toml:"token"`
}

// configPath is WARPBOARD_SITES, else warpboard/sites.toml below XDG_CONFIG_HOME or ~/.config; empty: there is no home.
func configPath(env Environment) string {
	if path := env.Getenv("WARPBOARD_SITES"); path != "" {
		return path
	}
	base := env.Getenv("XDG_CONFIG_HOME")
	if base == "" {
		home := env.Getenv("HOME")
		if home == "" {
			return ""
		}
		base = filepath.Join(home, ".config")
	}
	return filepath.Join(base, "warpboard", "sites.toml")
}

// readConfig reads the file; one that is not there is empty. One that others may read is refused: it holds tokens.
func readConfig(env Environment) (cfg config, err error) {
	path := configPath(env)
	if path == "" {
		return cfg, nil
	}
	info, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return cfg, nil
	}
	if err != nil {
		return cfg, fmt.Errorf("reading the config file: %w", err)
	}
	// Refused rather than repaired: others may have read it, and its owner should know.
	if info.Mode().Perm()&0o077 != 0 {
		return cfg, fmt.Errorf("others can read the tokens in %s: run chmod 600 %s", path, path)
	}
	if _, err := toml.DecodeFile(path, &cfg); err != nil {
		return cfg, fmt.Errorf("reading %s: %w", path, withoutSource(err))
	}
	return cfg, nil
}

// withoutSource keeps the place of a mistake and leaves out the line, which may hold a token.
func withoutSource(err error) error {
	var wrong toml.ParseError
	if errors.As(err, &wrong) {
		return fmt.Errorf("line %d is not valid TOML", wrong.Position.Line)
	}
	return errors.New("a key has a value that does not fit")
}

// at is the site at an address, with the token of the file if it has one.
// Compared as text: another spelling of the same address (a port, capital letters) has no token, which is the safe side.
func (c config) at(server string) known {
	for _, k := range c.Sites {
		if strings.TrimSuffix(k.Server, "/") == strings.TrimSuffix(server, "/") {
			return k
		}
	}
	return known{Server: server}
}

// KeptToken is the token of warpboard login for the site at an address; empty: there is none.
func KeptToken(env Environment, server string) (string, error) {
	cfg, err := readConfig(env)
	return cfg.at(server).Token, err
}

// save writes the whole file anew, for its owner alone.
func (c config) save(env Environment) (path string, err error) {
	if path = configPath(env); path == "" {
		return "", errors.New("there is no home directory to keep the token in: set WARPBOARD_SITES to a file")
	}
	var text bytes.Buffer
	if err := toml.NewEncoder(&text).Encode(c); err != nil {
		return path, fmt.Errorf("writing %s: %w", path, err)
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return path, fmt.Errorf("writing the config file: %w", err)
	}
	if err := renameio.WriteFile(path, text.Bytes(), 0o600, renameio.WithStaticPermissions(0o600), renameio.WithTempDir(filepath.Dir(path))); err != nil {
		return path, fmt.Errorf("writing the config file: %w", err)
	}
	return path, nil
}
