package quota

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"warpboard/models/db"
)

// TaskLimit limits each person's submissions to a task in the last hour or day. Admins have no limits.
type TaskLimit struct {
	Mode           string      `json:"mode"` // mode of the submissions; empty for all modes together
	Period         LimitPeriod `json:"per"`
	MaxSubmissions int         `json:"submissions"` // 0 for any number
	MaxGPUSeconds  int         `json:"gpu_seconds"` // 0 for any time
}

// LimitPeriod is the time window of a limit.
type LimitPeriod string

// LimitPeriods. Each ends at the current time.
const (
	LimitPerHour LimitPeriod = "hour"
	LimitPerDay  LimitPeriod = "day"
)

// Length returns the duration of the period.
func (s LimitPeriod) Length() time.Duration {
	if s == LimitPerDay {
		return 24 * time.Hour
	}
	return time.Hour
}

// String formats the limit, such as "5 ranked submissions and 60 GPU-seconds of ranked submissions an hour".
func (l TaskLimit) String() string {
	var list []string
	if l.MaxSubmissions > 0 {
		list = append(list, fmt.Sprintf("%d %s", l.MaxSubmissions, l.CountText()))
	}
	if l.MaxGPUSeconds > 0 {
		list = append(list, fmt.Sprintf("%d %s", l.MaxGPUSeconds, l.TimeText()))
	}
	per := " an hour"
	if l.Period == LimitPerDay {
		per = " a day"
	}
	return strings.Join(list, " and ") + per
}

// CountText describes the submissions that the limit counts.
func (l TaskLimit) CountText() string {
	if l.Mode == "" {
		return "submissions"
	}
	return l.Mode + " submissions"
}

// TimeText describes the GPU time that the limit counts, such as "GPU-seconds of ranked submissions".
func (l TaskLimit) TimeText() string {
	if l.Mode == "" {
		return "GPU-seconds"
	}
	return "GPU-seconds of " + l.CountText()
}

// LimitModes lists the modes that a limit can select; "" means all modes.
func LimitModes() []string { return []string{"", "test", "benchmark", "ranked", "profile", "sanitize"} }

// LimitPeriods lists the periods that a limit can have.
func LimitPeriods() []LimitPeriod { return []LimitPeriod{LimitPerHour, LimitPerDay} }

// maxTaskLimit is the maximum of TaskLimit.MaxSubmissions and TaskLimit.MaxGPUSeconds, because each use is a row that a
// check of the limit reads.
const maxTaskLimit = 10_000

// CheckLimits returns an error for invalid limits.
func CheckLimits(limits []TaskLimit) error {
	for i, l := range limits {
		same := func(other TaskLimit) bool { return other.Mode == l.Mode && other.Period == l.Period }
		switch {
		case !slices.Contains(LimitModes(), l.Mode):
			return db.Errorf(db.Invalid, "A limit is for the mode test, benchmark, ranked, profile or sanitize, not %q.", l.Mode)
		case !slices.Contains(LimitPeriods(), l.Period):
			return db.Errorf(db.Invalid, "A limit is per hour or day, not %q.", l.Period)
		case min(l.MaxSubmissions, l.MaxGPUSeconds) < 0, max(l.MaxSubmissions, l.MaxGPUSeconds) > maxTaskLimit, l.MaxSubmissions+l.MaxGPUSeconds == 0:
			return db.Errorf(db.Invalid, "A limit is 1 to %d submissions or GPU-seconds.", maxTaskLimit)
		case slices.ContainsFunc(limits[:i], same):
			return db.Errorf(db.Invalid, "There are two limits per %s for the same mode. Keep only one.", l.Period)
		}
	}
	return nil
}
