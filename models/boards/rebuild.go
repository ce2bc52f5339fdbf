package boards

import (
	"context"
	"fmt"

	"gorm.io/gorm"

	"warpboard/models/db"
)

// RebuildSettingKey is the key of a setting with which a migration requests a rebuild of scores and boards, because it
// changed runs, samples, or a rule. The value is the reason. The setting remains if the process is killed, so that the
// next start repeats the rebuild.
const RebuildSettingKey = "rebuild_boards"

// RebuildEntries rebuilds entries, records, best runs, bands, and boards from the runs, and raises every change number.
// It takes seconds per million runs and blocks other writers.
func (s *Boards) RebuildEntries(ctx context.Context) error {
	return s.db.Write(ctx, func(tx *gorm.DB) error {
		for _, statement := range []string{
			`delete from entries`,
			`insert into entries (version_id, device, user_id, run_id, submission_id, age, score_ns, std_ns, err_ns, clock, interval_low, interval_high, processes, noisy, roof, pooled, disturbed, achieved_at)
				select version_id, device, user_id, id, submission_id, -epoch_id, score_ns, std_ns, err_ns, clock, interval_low, interval_high, processes, noisy, roof, pooled, disturbed, scored_at from (
					select *, row_number() over (partition by version_id, device, user_id order by ` + bestFirstOrder + `) as place
					from runs where ` + MayBeEntrySQL + `
				) ranked where place = 1`,
			`delete from records`,
			fmt.Sprintf(insertRecordsSQL, MayBeEntrySQL),
			`delete from bests`,
			fmt.Sprintf(insertBestsSQL, ValidRunSQL),
		} {
			if err := tx.Exec(statement).Error; err != nil {
				return fmt.Errorf("rebuilding the boards: %w", err)
			}
		}
		if err := rebuildBands(tx); err != nil {
			return err
		}
		var boards []Board
		err := tx.Raw("select version_id, device from entries union select version_id, device from boards").Scan(&boards).Error
		if err != nil {
			return fmt.Errorf("listing the boards: %w", err)
		}
		for _, b := range boards {
			if _, err := IncrementChangeNumber(tx, b.VersionID, b.Device); err != nil {
				return err
			}
		}
		return tx.Delete(&db.Setting{Key: RebuildSettingKey}).Error
	})
}
