package devices

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"gorm.io/gorm"

	"warpboard/internal/gpuname"
	"warpboard/models/db"
)

// sortDevices is the setting by which a migration asks for old rows to be sorted; unsortedKey begins the settings with the
// devices that an admin must assign.
const (
	sortDevices = "sort_devices"
	unsortedKey = "unsorted."
)

// unit is the GPU in a run's machine record.
type unit struct {
	Name     string `json:"name"`
	UUIDHash string `json:"uuid_hash"`
}

// sorter collects the records of each old device's GPUs. It exists for one transaction, at the first start of a version with
// labels; other starts find no setting and do nothing.
type sorter struct {
	tx     *gorm.DB
	memory map[string]uint64               // by the hash of a unit that some worker had last
	units  map[string]map[unit]gpuname.GPU // by old device
}

// SortIfAsked moves the runs of devices that were called by their model to the silicon that their machine records name, and
// returns why; empty: nothing asked for it. The boards have to be rebuilt then.
func (s *Devices) SortIfAsked(ctx context.Context) (why string, err error) {
	if why, err = s.db.Setting(ctx, sortDevices); why == "" || err != nil {
		return "", err
	}
	return why, s.db.Write(ctx, func(tx *gorm.DB) error {
		sort := sorter{tx: tx, memory: map[string]uint64{}, units: map[string]map[unit]gpuname.GPU{}}
		if err := sort.readWorkers(); err != nil {
			return err
		}
		if err := sort.readRuns(); err != nil {
			return err
		}
		for device, units := range sort.units {
			if err := sort.device(device, units); err != nil {
				return err
			}
		}
		return tx.Delete(&db.Setting{Key: sortDevices}).Error
	})
}

// readWorkers takes the memory of units from what workers last said of their slots.
func (s *sorter) readWorkers() error {
	var texts []string
	if err := s.tx.Table("workers").Pluck("slots", &texts).Error; err != nil {
		return db.ReadError(err, "workers")
	}
	for _, text := range texts {
		var slots []struct {
			Machine unit   `json:"machine"`
			Memory  uint64 `json:"memory"`
		}
		if err := json.Unmarshal([]byte(text), &slots); err != nil {
			continue // it says nothing then
		}
		for _, slot := range slots {
			// The hash comes from the GPU's UUID, so that a GPU that moved to another machine is still the same.
			s.memory[slot.Machine.UUIDHash] = slot.Memory
		}
	}
	return nil
}

// readRuns collects the units of each device, in one pass over the runs.
func (s *sorter) readRuns() error {
	// Rows are read to the end before anything is written: on SQLite both go through the one connection of the
	// transaction.
	rows, err := s.tx.Table("runs").Select("device, coalesce(machine, '')").Where("device <> ?", gpuname.CPU).Rows()
	if err != nil {
		return fmt.Errorf("reading machine records: %w", err)
	}
	defer rows.Close()
	for rows.Next() {
		var device, text string
		if err := rows.Scan(&device, &text); err != nil {
			return fmt.Errorf("reading a machine record: %w", err)
		}
		if s.units[device] == nil {
			s.units[device] = map[unit]gpuname.GPU{}
		}
		var u unit
		if json.Unmarshal([]byte(text), &u) == nil && u.Name != "" {
			s.units[device][u] = gpuname.Parse(u.Name, s.memory[u.UUIDHash])
		}
	}
	return rows.Err()
}

// device sorts the rows of one old device. Rows without a record follow if all records agree.
func (s *sorter) device(old string, units map[unit]gpuname.GPU) error {
	var labels []string
	sure := len(units) > 0
	for u, is := range units {
		label := is.Label()
		switch {
		// One record that is not sure keeps rows without a record from being moved, since they may be of that unit.
		case !is.Sure() || is.Model != old: // its model is what it was called by
			sure = false
			continue
		case !slices.Contains(labels, label):
			labels = append(labels, label)
		}
		if err := s.note(label, u); err != nil {
			return err
		}
		if err := moveRuns(s.tx, old, label, u); err != nil {
			return err
		}
	}
	if sure && len(labels) == 1 {
		return moveRest(s.tx, old, labels[0])
	}
	if err := s.ask(old); err != nil {
		return err
	}
	return follow(s.tx, old)
}

func (s *sorter) note(label string, u unit) error {
	d := Device{Label: label, Name: db.Sanitize(u.Name), Memory: int64(s.memory[u.UUIDHash]), SeenAt: db.Now()}
	return db.WriteError(s.tx.Where("label = ?", label).FirstOrCreate(&d).Error, "device %s", label)
}

// moveRuns moves the runs of one unit. Their number is that of the runs, and the record is text.
func moveRuns(tx *gorm.DB, old, label string, u unit) error {
	if old == label {
		return nil
	}
	q := tx.Table("runs").Where("device = ?", old)
	for key, value := range map[string]string{"name": u.Name, "uuid_hash": u.UUIDHash} {
		text, err := json.Marshal(value)
		if err != nil {
			return fmt.Errorf("writing a GPU: %w", err)
		}
		// The text is what encoding/json made of the record: key, colon and value without blanks. % and _ in a name would
		// match more; names of GPUs have none.
		q = q.Where("machine like ?", "%\""+key+"\":"+string(text)+"%")
	}
	if err := q.Update("device", label).Error; err != nil {
		return fmt.Errorf("moving runs of %s to %s: %w", old, label, err)
	}
	return nil
}

// moveRest moves the remaining runs of a device, and the rows that depend on them.
func moveRest(tx *gorm.DB, old, label string) error {
	if err := tx.Where("key = ?", unsortedKey+old).Delete(&db.Setting{}).Error; err != nil {
		return fmt.Errorf("closing the question about %s: %w", old, err)
	}
	if old == label {
		return nil
	}
	for _, table := range []string{"runs", "evaluations"} {
		if err := tx.Table(table).Where("device = ?", old).Update("device", label).Error; err != nil {
			return fmt.Errorf("moving the %s of %s to %s: %w", table, old, label, err)
		}
	}
	return follow(tx, old)
}

// ask stores a question for the admins if runs without a known device remain.
func (s *sorter) ask(old string) error {
	var stay int64
	err := s.tx.Table("runs").Where("device = ? and (score_ns is not null or ended_at is null)", old).Count(&stay).Error
	if is := gpuname.Parse(old, 0); err != nil || stay == 0 || is.Sure() && is.Label() == old {
		return db.ReadError(err, "runs of %s", old)
	}
	var names []string
	for u := range s.units[old] {
		if !slices.Contains(names, u.Name) {
			names = append(names, u.Name)
		}
	}
	slices.Sort(names)
	row := db.Setting{Key: unsortedKey + old, Value: strings.Join(names, ", ")}
	return db.WriteError(s.tx.Save(&row).Error, "question about %s", old)
}

// follow moves everything that names a board to the new device of its runs, deletes what a rebuild makes, and requests the
// rebuild.
func follow(tx *gorm.DB, old string) error {
	for _, statement := range []string{
		"update run_events set device = (select r.device from runs r where r.id = run_id) where device = ?",
		`update confirmations set ended_at = coalesce(ended_at, created_at), outcome = case when ended_at is null then
			'The board was split by silicon.' else outcome end, device = (select r.device from runs r where r.id = challenger_id) where device = ?`,
		// Bests stay here: RebuildEntries, which follow asks for, deletes and makes all of them.
		"delete from entries where device = ?", "delete from records where device = ?", "delete from bands where device = ?",
		"delete from boards where device = ?",
	} {
		if err := tx.Exec(statement, old).Error; err != nil {
			return fmt.Errorf("moving what hangs on %s: %w", old, err)
		}
	}
	known, err := Known(tx)
	if err != nil {
		return err
	}
	if err := movePause(tx, old, gpuname.Choose(old, known)); err != nil {
		return err
	}
	if err := resolveTasks(tx, known); err != nil {
		return err
	}
	rebuild := db.Setting{Key: "rebuild_boards", Value: "silicon"}
	return db.WriteError(tx.Save(&rebuild).Error, "setting")
}

// movePause moves a pause to the new name of its device.
func movePause(tx *gorm.DB, old string, labels []string) error {
	var row db.Setting
	res := tx.Where("key = ?", "paused."+old).Limit(1).Find(&row)
	if res.Error != nil || res.RowsAffected == 0 {
		return db.ReadError(res.Error, "pause of %s", old)
	}
	for _, label := range labels {
		pause := db.Setting{Key: "paused." + label, Value: row.Value}
		if err := tx.Save(&pause).Error; err != nil {
			return db.WriteError(err, "pause of %s", label)
		}
	}
	return nil
}

// Unsorted is an old device whose runs have no record of their GPU.
type Unsorted struct {
	Device  string
	Names   string // names of the recorded GPUs, from the driver; empty if there are none
	Runs    int64
	Choices []string `gorm:"-"` // known silicon of that family
}

// Asks reports whether an admin is asked about old devices, as this process last read it in NoteAsked.
func (s *Devices) Asks() bool { return s.asks.Load() }

// NoteAsked reads it again: at a start, and where the answers are given.
func (s *Devices) NoteAsked(ctx context.Context) error {
	var asked int64
	err := s.db.Read(ctx).Model(&db.Setting{}).Where("key like ?", unsortedKey+"%").Count(&asked).Error
	s.asks.Store(asked > 0)
	return db.ReadError(err, "unsorted devices")
}

// ListUnsorted lists the old devices that an admin is asked about.
func ListUnsorted(read *gorm.DB) (list []Unsorted, err error) {
	err = read.Table("settings s").Where("s.key like ?", unsortedKey+"%").
		Select("substr(s.key, ?) as device, s.value as names, (select count(*) from runs r where r.device = substr(s.key, ?)) as runs", len(unsortedKey)+1, len(unsortedKey)+1).
		Order("s.key").Scan(&list).Error
	if err != nil {
		return nil, db.ReadError(err, "unsorted devices")
	}
	known, err := Known(read)
	for i, u := range list {
		list[i].Choices = slices.DeleteFunc(slices.Clone(known), func(label string) bool {
			return label != u.Device && !strings.HasPrefix(label, u.Device+"-")
		})
	}
	return list, err
}

// Assign moves the runs of an unsorted device to a device of its family, unless the question was answered already. The
// boards have to be rebuilt then. The caller rebuilds the boards in the same or a later transaction: until then the old
// board is gone, and the new one is not there.
func Assign(tx *gorm.DB, old, label string) (done bool, err error) {
	if !db.IsName(label) || label != old && !strings.HasPrefix(label, old+"-") {
		return false, db.Errorf(db.Invalid, "%q is not a device of %s: write its label, as %s-PCIe or %s-80GB.", label, old, old, old)
	}
	var asked int64
	if err := tx.Model(&db.Setting{}).Where("key = ?", unsortedKey+old).Count(&asked).Error; err != nil || asked == 0 {
		return false, db.ReadError(err, "question about %s", old)
	}
	d := Device{Label: label, SeenAt: db.Now()}
	if err := tx.Where("label = ?", label).FirstOrCreate(&d).Error; err != nil {
		return false, db.WriteError(err, "device %s", label)
	}
	return true, moveRest(tx, old, label)
}
