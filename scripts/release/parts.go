package main

import (
	"bytes"
	"debug/buildinfo"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
)

// sbomPart is one component in the CycloneDX format.
type sbomPart struct {
	Type    string `json:"type"`
	Name    string `json:"name"`
	Version string `json:"version"`
	PURL    string `json:"purl"`
}

// writeLicenses writes the licenses of all parts of the program, and the list of the parts.
func writeLicenses(src, out, binary string) error {
	info, err := buildinfo.ReadFile(binary)
	if err != nil {
		return fmt.Errorf("reading %s: %w", binary, err)
	}
	var notices bytes.Buffer
	parts := []sbomPart{{"framework", "std", strings.TrimPrefix(runtime.Version(), "go"), "pkg:golang/std@" + strings.TrimPrefix(runtime.Version(), "go")}}
	root, err := commandOutput(src, nil, "go", "env", "GOROOT")
	if err != nil {
		return err
	}
	if err := addNotices(&notices, "Go "+runtime.Version(), string(bytes.TrimSpace(root))); err != nil {
		return err
	}
	for _, dep := range info.Deps {
		if dep.Replace != nil {
			dep = dep.Replace
		}
		dir, err := commandOutput(src, nil, "go", "list", "-m", "-f", "{{.Dir}}", dep.Path+"@"+dep.Version)
		if err != nil {
			return err
		}
		if err := addNotices(&notices, dep.Path+" "+dep.Version, string(bytes.TrimSpace(dir))); err != nil {
			return err
		}
		parts = append(parts, sbomPart{"library", dep.Path, dep.Version, "pkg:golang/" + dep.Path + "@" + dep.Version})
	}
	web, err := npmParts(src)
	if err != nil {
		return err
	}
	pages, err := os.ReadFile(filepath.Join(src, "static", "LICENSES.txt"))
	if err != nil {
		return err
	}
	fmt.Fprintf(&notices, "\n==== what pages use ====\n\n%s", pages)
	bom := map[string]any{"bomFormat": "CycloneDX", "specVersion": "1.5", "version": 1, "components": append(parts, web...),
		"metadata": map[string]any{"component": sbomPart{"application", "warpboard", info.Main.Version, "pkg:golang/warpboard@" + info.Main.Version}}}
	text, err := json.MarshalIndent(bom, "", " ")
	if err != nil {
		return err
	}
	return wrapErrors(os.WriteFile(filepath.Join(out, "sbom.cdx.json"), append(text, '\n'), 0o644),
		os.WriteFile(filepath.Join(out, "THIRD-PARTY-NOTICES.txt"), notices.Bytes(), 0o644))
}

// addNotices adds the license of one part. A part without a license must not be published, so it returns an error.
func addNotices(to *bytes.Buffer, name, dir string) error {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	found := 0
	for _, entry := range entries {
		upper := strings.ToUpper(entry.Name())
		if entry.IsDir() || !slices.ContainsFunc([]string{"LICENSE", "LICENCE", "COPYING", "NOTICE"}, func(p string) bool { return strings.HasPrefix(upper, p) }) {
			continue
		}
		text, err := os.ReadFile(filepath.Join(dir, entry.Name()))
		if err != nil {
			return err
		}
		found++
		fmt.Fprintf(to, "\n==== %s: %s ====\n\n%s\n", name, entry.Name(), text)
	}
	if found == 0 {
		return fmt.Errorf("%s has no licence in %s", name, dir)
	}
	return nil
}

// npmBuildTools are npm packages that build or test the files in static/ without becoming a part of them.
var npmBuildTools = []string{"@tailwindcss/cli", "axe-core", "esbuild"}

// npmParts returns the npm packages that are part of static/.
func npmParts(src string) (list []sbomPart, err error) {
	text, err := os.ReadFile(filepath.Join(src, "package.json"))
	if err != nil {
		return nil, err
	}
	var manifest struct {
		DevDependencies map[string]string `json:"devDependencies"`
	}
	if err := json.Unmarshal(text, &manifest); err != nil {
		return nil, fmt.Errorf("package.json: %w", err)
	}
	for _, name := range slices.Sorted(maps.Keys(manifest.DevDependencies)) {
		if version := manifest.DevDependencies[name]; !slices.Contains(npmBuildTools, name) {
			list = append(list, sbomPart{"library", name, version, "pkg:npm/" + strings.Replace(name, "@", "%40", 1) + "@" + version})
		}
	}
	return list, nil
}
