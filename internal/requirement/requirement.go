package requirement

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// Limits of requirements and packages.
const (
	MaxRequirements     = 20  // number for one task or request
	MaxRequirementBytes = 200 // bytes of one requirement
	MaxNameBytes        = 100 // bytes of a package's name
	MaxVersionBytes     = 50  // bytes of a version
)

// Packages are the installed packages: versions by normalized name.
type Packages map[string]string

// Requirement is a package with conditions on its version.
type Requirement struct {
	Name       string // normalized name of the package (PEP 503)
	conditions []condition
}

// condition is an operator and a version, such as >=4.
type condition struct {
	operator, versionText string // as written, without spaces
	version               version
	matchesPrefix         bool // versionText ends in ".*"
}

var (
	requirementPattern = regexp.MustCompile(`^\s*([A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?)\s*(.*?)\s*$`)
	conditionPattern   = regexp.MustCompile(`^\s*(===|==|!=|>=|<=|~=|>|<)\s*([^\s<>=!~]\S*?)(\.\*)?\s*$`)
	nameSeparators     = regexp.MustCompile(`[-_.]+`)
)

// NormalizeName returns the normalized name of a package (PEP 503).
func NormalizeName(name string) string {
	return strings.ToLower(nameSeparators.ReplaceAllString(name, "-"))
}

// Parse parses a requirement. Its error suggests what to write.
func Parse(text string) (r Requirement, err error) {
	if len(text) > MaxRequirementBytes {
		return r, fmt.Errorf("a requirement has at most %d bytes, and this one has %d", MaxRequirementBytes, len(text))
	}
	parts := requirementPattern.FindStringSubmatch(text)
	if parts == nil || strings.ContainsAny(text, "\n\r") {
		return r, fmt.Errorf(`%q is not a requirement: write the name of a package, and perhaps versions, as in "triton>=3.2"`, text)
	}
	if r.Name = NormalizeName(parts[1]); len(r.Name) > MaxNameBytes {
		return r, fmt.Errorf("the name of a package has at most %d bytes", MaxNameBytes)
	}
	rest := parts[2]
	switch {
	case rest == "":
		return r, nil
	case strings.HasPrefix(rest, "["):
		return r, fmt.Errorf("%q has extras, which say nothing of a worker: require the packages themselves", text)
	case strings.HasPrefix(rest, "@"):
		return r, fmt.Errorf("%q has an address: a requirement names versions, as in \"triton>=3.2\"", text)
	case strings.Contains(rest, ";"):
		return r, fmt.Errorf("%q has a condition on the environment (;): a requirement has a name and versions only", text)
	}
	for one := range strings.SplitSeq(rest, ",") {
		c, err := parseCondition(one)
		if err != nil {
			return r, fmt.Errorf("%q: %w", text, err)
		}
		r.conditions = append(r.conditions, c)
	}
	return r, nil
}

func parseCondition(text string) (c condition, err error) {
	parts := conditionPattern.FindStringSubmatch(text)
	if parts == nil || parts[1] == "===" {
		return c, fmt.Errorf("%q is not a condition on a version: it is one of ==, !=, >=, <=, >, <, ~= and a version", strings.TrimSpace(text))
	}
	c = condition{operator: parts[1], versionText: parts[1] + parts[2] + parts[3], matchesPrefix: parts[3] != ""}
	var ok bool
	if c.version, ok = parseVersion(parts[2]); !ok {
		return c, fmt.Errorf("%q is not a version of a Python package", parts[2])
	}
	equality := c.operator == "==" || c.operator == "!="
	switch {
	case c.matchesPrefix && (!equality || !c.version.isFinalRelease()):
		return c, fmt.Errorf("%q: .* stands only behind == or != and numbers", c.versionText)
	case c.version.localLabel != "" && !equality:
		return c, fmt.Errorf("%q: a version with + can only be equal, or not", c.versionText)
	case c.operator == "~=" && len(c.version.release) < 2:
		return c, fmt.Errorf("%q: ~= needs two numbers, as in ~=2.0", c.versionText)
	}
	return c, nil
}

// String returns the shortest text of the requirement, without spaces.
func (r Requirement) String() string {
	texts := make([]string, len(r.conditions))
	for i, c := range r.conditions {
		texts[i] = c.versionText
	}
	return r.Name + strings.Join(texts, ",")
}

// IsMetBy reports whether an installed version meets the requirement; "" means not installed. A version that PEP 440
// does not define meets no condition.
func (r Requirement) IsMetBy(installed string) bool {
	if installed == "" || len(r.conditions) == 0 {
		return installed != ""
	}
	v, ok := parseVersion(installed)
	return ok && !slices.ContainsFunc(r.conditions, func(c condition) bool { return !c.isMetBy(v) })
}

// isMetBy reports whether a version meets the condition, according to PEP 440.
func (c condition) isMetBy(v version) bool {
	public := v
	public.localLabel = ""
	order := public.compare(c.version)
	switch c.operator {
	case "==", "!=":
		equal := order == 0
		if c.matchesPrefix {
			equal = v.hasReleasePrefix(c.version)
		} else if c.version.localLabel != "" {
			equal = v.compare(c.version) == 0
		}
		return equal == (c.operator == "==")
	case ">=":
		return order >= 0
	case "<=":
		return order <= 0
	case "~=":
		series := c.version
		series.release = series.release[:len(series.release)-1]
		return order >= 0 && v.hasReleasePrefix(series)
	case "<": // PEP 440: <2.0 does not match 2.0rc1
		return order < 0 && (!v.isPrerelease() || c.version.isPrerelease() || !v.sameRelease(c.version))
	}
	return order > 0 && (v.postReleaseNumber == 0 || c.version.postReleaseNumber > 0 ||
		!v.sameRelease(c.version)) // PEP 440: >2.0 does not match 2.0.post1
}

// List is a list of requirements, as texts without spaces.
type List []string

// ParseList parses requirements. at is the index of a text with an error, or -1 if there are too many texts.
func ParseList(texts []string) (list List, at int, err error) {
	if len(texts) > MaxRequirements {
		return nil, -1, fmt.Errorf("at most %d packages can be required, and these are %d", MaxRequirements, len(texts))
	}
	for i, text := range texts {
		r, err := Parse(text)
		if err != nil {
			return nil, i, err
		}
		list = append(list, r.String())
	}
	return list, 0, nil
}

// String joins the list with spaces; strings.Fields splits it again.
func (l List) String() string { return strings.Join(l, " ") }

// Requirements returns the parsed requirements of the list, without invalid texts.
func (l List) Requirements() (list []Requirement) {
	for _, text := range l {
		if r, err := Parse(text); err == nil {
			list = append(list, r)
		}
	}
	return list
}

// MeetAll reports whether the packages meet all requirements.
func (p Packages) MeetAll(list []Requirement) bool {
	return !slices.ContainsFunc(list, func(r Requirement) bool { return !r.IsMetBy(p[r.Name]) })
}

// maxNamedVersions limits the versions in one sentence.
const maxNamedVersions = 3

// MissingWorkerText returns the end of a sentence that begins with "It waits for" about requirements that no machine
// meets, such as "a worker that has nvidia-cutlass-dsl>=4; H100's workers have nvidia-cutlass-dsl 3.9"; "" if one meets
// them.
func MissingWorkerText(list []Requirement, device string, machines []Packages) string {
	if len(list) == 0 || slices.ContainsFunc(machines, func(p Packages) bool { return p.MeetAll(list) }) {
		return ""
	}
	var all, wanted, found []string
	for _, r := range list {
		var versions []string
		for _, p := range machines {
			if version := p[r.Name]; version != "" && !slices.Contains(versions, version) {
				versions = append(versions, version)
			}
		}
		all = append(all, r.String())
		if slices.ContainsFunc(versions, r.IsMetBy) {
			continue
		}
		wanted = append(wanted, r.String())
		slices.Sort(versions)
		if has := strings.Join(versions[:min(len(versions), maxNamedVersions)], " and "); has != "" {
			found = append(found, r.Name+" "+has)
		} else {
			found = append(found, "no "+r.Name)
		}
	}
	have := device + "'s workers have " + strings.Join(found, ", ")
	switch {
	case len(machines) == 0:
		have = "no worker serves " + device + " at the moment"
	case len(wanted) == 0:
		wanted, have = all, "each of "+device+"'s workers has only some of these"
	}
	return "a worker that has " + strings.Join(wanted, " and ") + "; " + have
}
