package fleet

import (
	"context"
	"strings"

	"gorm.io/gorm"

	"warpboard/models/accounts"
	"warpboard/models/devices"
)

// Unsorted lists the old devices whose runs have no record of their GPU. Admins only.
func (s *Fleet) Unsorted(ctx context.Context, actor accounts.User) ([]devices.Unsorted, error) {
	if err := actor.Check(accounts.ManageDevices, accounts.Of{}); err != nil {
		return nil, err
	}
	return devices.ListUnsorted(s.db.Read(ctx))
}

// AssignDevice moves the runs of an unsorted device to a device. The boards have to be rebuilt then. Admins only.
func (s *Fleet) AssignDevice(ctx context.Context, actor accounts.User, old, label string) error {
	if err := actor.Check(accounts.ManageDevices, accounts.Of{}); err != nil {
		return err
	}
	label = strings.TrimSpace(label)
	return s.db.Write(ctx, func(tx *gorm.DB) error {
		if done, err := devices.Assign(tx, old, label); err != nil || !done {
			return err
		}
		return accounts.WriteAudit(tx, actor, "assign device", "device "+old, label)
	})
}
