package quota

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"gorm.io/gorm"

	"warpboard/models/accounts"
	"warpboard/models/db"
)

// The names of what can be off, beside Task's.
const (
	SubmissionsSwitch = "submissions"
	EvaluationsSwitch = "evaluations"
)

// TaskSwitch is the name of one task's switch.
func TaskSwitch(id int64) string { return "task." + strconv.FormatInt(id, 10) }

// SwitchPrefix begins the settings that hold what is off; its name follows.
const SwitchPrefix = "off."

// longestWhy keeps the sentence one.
const longestWhy = 300

// Switch is one thing that is off.
type Switch struct {
	What  string    `json:"-"`
	Why   string    `json:"why"`
	By    string    `json:"by"`
	Since time.Time `json:"since"`
}

// Sentence returns the sentence for people, with the reason.
func (o Switch) Sentence() string {
	switch o.What {
	case SubmissionsSwitch:
		return "The site accepts no submissions for now. " + o.Why
	case EvaluationsSwitch:
		return "The site accepts no evaluations for now. " + o.Why
	}
	return "This task accepts no submissions for now. " + o.Why
}

// SwitchSentence returns the sentence for the first of these names that is off, or "".
func SwitchSentence(off []Switch, names ...string) string {
	for _, name := range names {
		if i := slices.IndexFunc(off, func(o Switch) bool { return o.What == name }); i >= 0 {
			return off[i].Sentence()
		}
	}
	return ""
}

// ParseSwitch reads a setting, for queries that read it with other rows.
func ParseSwitch(key, value string) (off Switch, err error) {
	if err = json.Unmarshal([]byte(value), &off); err != nil {
		err = fmt.Errorf("reading setting %s: %w", key, err)
	}
	off.What = strings.TrimPrefix(key, SwitchPrefix)
	return off, err
}

// SwitchOff keeps something off until SwitchOn. Admins only.
func (q *Quotas) SwitchOff(ctx context.Context, actor accounts.User, what, why string) error {
	if err := actor.Check(accounts.ManageDevices, accounts.Owners{}); err != nil {
		return err
	}
	if !isSwitch(what) {
		return db.Errorf(db.Invalid, "There is no switch %.40q.", what)
	}
	why = strings.TrimSpace(db.Sanitize(why))
	if why == "" || len(why) > longestWhy {
		return db.Errorf(db.Invalid, "Give a reason of up to %d characters: people whose work is refused read it.", longestWhy)
	}
	return q.db.Write(ctx, func(tx *gorm.DB) error {
		if err := db.PutJSON(tx, SwitchPrefix+what, Switch{Why: why, By: actor.Name, Since: db.Now()}); err != nil {
			return err
		}
		return accounts.WriteAudit(tx, actor, "switch off", what, why)
	})
}

func isSwitch(what string) bool {
	id, isTask := strings.CutPrefix(what, "task.")
	_, err := strconv.ParseInt(id, 10, 64)
	return what == SubmissionsSwitch || what == EvaluationsSwitch || isTask && err == nil
}

// SwitchOn ends that. Admins only.
func (q *Quotas) SwitchOn(ctx context.Context, actor accounts.User, what string) error {
	if err := actor.Check(accounts.ManageDevices, accounts.Owners{}); err != nil {
		return err
	}
	return q.db.Write(ctx, func(tx *gorm.DB) error {
		if was, err := db.DeleteSetting(tx, SwitchPrefix+what); err != nil || !was {
			return err
		}
		return accounts.WriteAudit(tx, actor, "switch on", what, "")
	})
}

// SwitchedOff lists the switches that are off.
func (q *Quotas) SwitchedOff(ctx context.Context) ([]Switch, error) {
	return readSwitches(q.db.Read(ctx).Where("key like ?", SwitchPrefix+"%"))
}

// SwitchSentence returns the sentence for the first of these names that is off, or "".
func (q *Quotas) SwitchSentence(ctx context.Context, names ...string) (string, error) {
	return switchSentence(q.db.Read(ctx), names)
}

// CheckSwitches refuses if one of these is off, with the admin's sentence.
func CheckSwitches(tx *gorm.DB, names ...string) error {
	why, err := switchSentence(tx, names)
	if err == nil && why != "" {
		err = db.Errorf(db.Forbidden, "%s", why)
	}
	return err
}

func switchSentence(q *gorm.DB, names []string) (string, error) {
	keys := make([]string, len(names))
	for i, name := range names {
		keys[i] = SwitchPrefix + name
	}
	off, err := readSwitches(q.Where("key in ?", keys))
	return SwitchSentence(off, names...), err
}

func readSwitches(q *gorm.DB) ([]Switch, error) {
	found, err := db.JSONSettings[Switch](q, SwitchPrefix)
	var list []Switch
	for _, what := range slices.Sorted(maps.Keys(found)) {
		off := found[what]
		off.What = what
		list = append(list, off)
	}
	return list, err
}
