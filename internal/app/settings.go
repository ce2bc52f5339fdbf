package app

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/BurntSushi/toml"
	"github.com/spf13/pflag"

	"warpboard/internal/app/cli/console"
)

// settingsFileFlag names the settings file.
const settingsFileFlag = "config"

// settingSourceNames are the sources of settings by flag name: "flag", "default", the name of a variable, or the path
// of a file.
type settingSourceNames map[string]string

// settingSources are the environment and the settings file, which set flags that the command line does not.
type settingSources struct {
	getenv func(string) string
	path   string            // path of the settings file; may be empty
	file   map[string]string // values in the settings file, by flag name
}

// readSettingsFile reads the settings file. Its keys are names of flags; its values are text, numbers, booleans, or
// lists of text. One file may be for several commands, so the keys of all commands are allowed.
func readSettingsFile(path string) (map[string]string, error) {
	if path == "" {
		return nil, nil
	}
	var raw map[string]any
	if _, err := toml.DecodeFile(path, &raw); err != nil {
		return nil, fmt.Errorf("settings file %s: %w", path, err)
	}
	known := flagNames()
	values, wrong := map[string]string{}, []error{}
	for _, key := range slices.Sorted(maps.Keys(raw)) {
		name := strings.ReplaceAll(key, "_", "-")
		text, err := settingText(raw[key])
		switch {
		case name == settingsFileFlag || !known[name]:
			wrong = append(wrong, fmt.Errorf("settings file %s: %s is not a setting; warpboard serve --help lists them", path, key))
		case err != nil:
			wrong = append(wrong, fmt.Errorf("settings file %s: %s: %w", path, key, err))
		default:
			values[name] = text
		}
	}
	return values, errors.Join(wrong...)
}

// settingText formats a value from the settings file as the value of a flag.
func settingText(value any) (string, error) {
	switch v := value.(type) {
	case string:
		return v, nil
	case int64, float64, bool:
		return fmt.Sprint(v), nil
	case []any:
		parts := make([]string, len(v))
		for i, part := range v {
			text, ok := part.(string)
			if !ok || strings.Contains(text, ",") {
				return "", fmt.Errorf("expected a list of strings without commas, got %v", part)
			}
			parts[i] = text
		}
		return strings.Join(parts, ","), nil
	}
	return "", fmt.Errorf("expected a string, number, boolean, or list of strings, got %v", value)
}

// lookupSetting returns the value of a setting and its source; from is "" if it is not set. An empty variable counts as
// not set, so it cannot replace a value in the file by an empty one.
func (s settingSources) lookupSetting(name string) (value, from string, err error) {
	env := envName(name)
	value, path := s.getenv(env), ""
	if name != settingsFileFlag { // not for the settings file itself: WARPBOARD_CONFIG_FILE would be ambiguous
		path = s.getenv(env + "_FILE")
	}
	switch {
	case value != "" && path != "":
		return "", "", fmt.Errorf("%s and %s_FILE are both set: unset one", env, env)
	case value != "":
		return value, env, nil
	case path != "":
		content, err := os.ReadFile(path)
		if err != nil {
			return "", "", fmt.Errorf("%s_FILE: %w", env, err)
		}
		// Editors add a newline at the end of a file, and secrets have none.
		return strings.TrimRight(string(content), "\r\n"), env + "_FILE", nil
	}
	if value, ok := s.file[name]; ok {
		return value, s.path, nil
	}
	return "", "", nil
}

// fillFlags sets every flag that the command line did not set, and returns the source of each setting.
func (s settingSources) fillFlags(fs *pflag.FlagSet) (settingSourceNames, []error) {
	from, wrong := settingSourceNames{}, []error{}
	visitSettingFlags(fs, func(f *pflag.Flag) {
		if f.Changed {
			from[f.Name] = "flag"
			return
		}
		value, origin, err := s.lookupSetting(f.Name)
		if err == nil && origin != "" {
			if err = f.Value.Set(value); err != nil {
				err = fmt.Errorf("%s: %w", settingName(f.Name, origin), console.InvalidFlagValue(f, displayValue(f.Name, value), err))
			}
		}
		if err != nil {
			wrong = append(wrong, err)
		}
		from[f.Name] = origin
	})
	return from, wrong
}

// settingName returns the name of a setting for messages: that of a flag, a variable, or a key, according to its
// source.
func settingName(flagName, origin string) string {
	if strings.HasPrefix(origin, "WARPBOARD_") {
		return origin
	}
	return fmt.Sprintf("%s: %s", origin, flagName)
}

// displayValue returns a setting's value for printing; secrets are hidden.
func displayValue(flagName, value string) string {
	if value != "" && isSecret(flagName) {
		return "(secret)"
	}
	return value
}

// isSecret reports whether a setting must not be printed. The addresses of a database and of an object store contain
// passwords.
func isSecret(flagName string) bool {
	return strings.HasSuffix(flagName, "-secret") || strings.HasSuffix(flagName, "-token") || strings.HasSuffix(flagName, "-password") || flagName == "database-url" || flagName == "signing-key" || flagName == "nats-account-seed" || flagName == "join" || flagName == "artifacts" || flagName == "nats-url"
}

// flagNames returns the settings of all commands.
func flagNames() map[string]bool {
	known := map[string]bool{}
	for _, command := range []string{"serve", "work"} {
		fs := pflag.NewFlagSet(command, pflag.ContinueOnError)
		declareSettings(fs, command, &Config{})
		fs.VisitAll(func(f *pflag.Flag) { known[f.Name] = true })
	}
	return known
}
