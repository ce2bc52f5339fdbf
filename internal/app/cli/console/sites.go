package console

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

// Sites is the file that warpboard login writes: sites by name, each with a token. login and logout replace the whole
// file; if two run at the same time, the change of one is lost.
type Sites struct {
	DefaultSite string                  `toml:"default"` // name of the default site
	Sites       map[string]SignedInSite `toml:"sites"`
}

// SignedInSite is a site that a person has signed in to.
type SignedInSite struct {
	Server string `toml:"server"`
	Token  string `toml:"token"`
}

// SitesFile returns the path of the file: WARPBOARD_SITES, or warpboard/sites.toml below XDG_CONFIG_HOME or ~/.config;
// "" without a home directory.
func SitesFile(getenv func(string) string) string {
	if path := getenv("WARPBOARD_SITES"); path != "" {
		return path
	}
	base := getenv("XDG_CONFIG_HOME")
	if base == "" {
		home := getenv("HOME")
		if home == "" {
			return ""
		}
		base = filepath.Join(home, ".config")
	}
	return filepath.Join(base, "warpboard", "sites.toml")
}

// ReadSites reads the file; a missing file is like an empty one. It refuses a file that other users may read, because
// it contains tokens.
func ReadSites(getenv func(string) string) (cfg Sites, err error) {
	path := SitesFile(getenv)
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
	// The permissions are not corrected: others may have read the file, and its owner should know.
	if info.Mode().Perm()&0o077 != 0 {
		return cfg, fmt.Errorf("others can read the tokens in %s: run chmod 600 %s", path, path)
	}
	if _, err := toml.DecodeFile(path, &cfg); err != nil {
		return cfg, fmt.Errorf("reading %s: %w", path, removeFileLine(err))
	}
	return cfg, nil
}

// removeFileLine returns the error of the TOML parser with its position, but without the quoted line, which may contain
// a token.
func removeFileLine(err error) error {
	var wrong toml.ParseError
	if errors.As(err, &wrong) {
		return fmt.Errorf("line %d is not valid TOML", wrong.Position.Line)
	}
	return errors.New("a key has a value that does not fit")
}

// SiteAt returns the site at an address, with its token if the file has one. Addresses are compared as text: with
// another spelling of the same address (a port, capital letters) there is no token, which is safe.
func (c Sites) SiteAt(server string) SignedInSite {
	for _, k := range c.Sites {
		if strings.TrimSuffix(k.Server, "/") == strings.TrimSuffix(server, "/") {
			return k
		}
	}
	return SignedInSite{Server: server}
}

// Save writes the file, readable only by its owner.
func (c Sites) Save(getenv func(string) string) (path string, err error) {
	if path = SitesFile(getenv); path == "" {
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
