package budgets

import (
	"strings"
	"time"

	"gorm.io/gorm"

	"warpboard/internal/gpuname"
	"warpboard/models/db"
)

// reservedAgain is when someone may come again whose work that waits and runs takes what is left.
const reservedAgain = 30 * time.Second

// reserved counts the work of a person for GPUs that waits or runs, whatever it was sent with, by what their last twenty of its
// kind held on average; nothing is known of a first one, which counts for nothing.
const reserved = `select coalesce(sum(live * held), 0) from (
	select (select count(*) from runs where user_id = ? and ended_at is null and device <> ? and profile_of is null and mode <> 'baseline') as live,
		(select avg(unit_ns) from (select unit_ns from runs where user_id = ? and unit_ns > 0 and device <> ? order by ended_at desc limit 20) r) as held
	union all
	select (select count(*) from evaluations where user_id = ? and ended_at is null and device <> ?),
		(select avg(unit_ns) from (select unit_ns from evaluations where user_id = ? and unit_ns > 0 and device <> ? order by ended_at desc limit 20) e)
) kinds`

// checkReserved refuses work while waiting and running work already uses up the budget: many tokens or many simultaneous
// runs would otherwise overdraw it.
func checkReserved(tx *gorm.DB, id int64, least limit) error {
	cpu := gpuname.CPU
	var ns float64
	if err := tx.Raw(reserved, id, cpu, id, cpu, id, cpu, id, cpu).Scan(&ns).Error; err != nil {
		return db.ReadError(err, "what waits and runs of person %d", id)
	}
	if time.Duration(ns) < least.left {
		return nil
	}
	tooMany := db.Errorf(db.TooMany, "Judging by your past runs, your waiting and running work needs about %.0f GPU-seconds, and %.0f of today's %d are left (%s). Wait for some of it to end, or cancel it.",
		ns/1e9, least.left.Seconds(), least.seconds, strings.ToLower(least.name[:1])+least.name[1:])
	tooMany.RetryAfter = reservedAgain
	return tooMany
}
