package accounts_test

import (
	"slices"
	"testing"

	"warpboard/models/accounts"
)

// TestRights checks the table of rights: for each action, the people who may perform it on another person's object, on
// their own object, and on an object of a task that they own.
func TestRights(t *testing.T) {
	const mine, others = 1, 2
	who := map[string]struct {
		role accounts.Role
		id   int64
		of   accounts.OwnerIDs
	}{
		"visitor":        {accounts.RoleVisitor, 0, accounts.OwnerIDs{OwnerID: others, AuthorID: others}},
		"visitor on 0":   {accounts.RoleVisitor, 0, accounts.OwnerIDs{}},
		"user":           {accounts.RoleUser, mine, accounts.OwnerIDs{OwnerID: others, AuthorID: others}},
		"owner":          {accounts.RoleUser, mine, accounts.OwnerIDs{OwnerID: mine, AuthorID: others}},
		"creator":        {accounts.RoleCreator, mine, accounts.OwnerIDs{OwnerID: others, AuthorID: others}},
		"author":         {accounts.RoleCreator, mine, accounts.OwnerIDs{OwnerID: others, AuthorID: mine}},
		"author, own":    {accounts.RoleCreator, mine, accounts.OwnerIDs{OwnerID: mine, AuthorID: mine}},
		"demoted author": {accounts.RoleUser, mine, accounts.OwnerIDs{OwnerID: others, AuthorID: mine}},
		"admin":          {accounts.RoleAdmin, mine, accounts.OwnerIDs{OwnerID: others, AuthorID: others}},
		"admin, own":     {accounts.RoleAdmin, mine, accounts.OwnerIDs{OwnerID: mine, AuthorID: others}},
		"operator":       {accounts.RoleAdmin, 0, accounts.OwnerIDs{}},
	}
	admins := []string{"admin", "admin, own", "operator"}
	creators := append([]string{"author", "author, own", "creator"}, admins...)
	authors := append([]string{"author", "author, own"}, admins...)
	owners := append([]string{"owner", "author, own"}, admins...)
	for act, may := range map[accounts.Action][]string{
		accounts.CreateTask:       creators,
		accounts.EditTask:         authors,
		accounts.ReportRun:        {"user", "creator", "author", "demoted author", "admin", "operator"},
		accounts.ReviewRun:        authors,
		accounts.DisqualifyRun:    authors,
		accounts.ReinstateRun:     owners,
		accounts.RemoveRunNote:    authors,
		accounts.RerunTask:        authors,
		accounts.ValidateTask:     authors,
		accounts.CancelRun:        owners,
		accounts.DeleteSubmission: owners,
		accounts.RenameUser:       owners,
		accounts.SetRole:          {"admin", "operator"},
		accounts.BlockUser:        {"admin", "operator"},
		accounts.ListPeople:       admins,
		accounts.ReadAuditLog:     admins,
		accounts.ManageDevices:    admins,
		accounts.ManageWorkers:    admins,
		accounts.ManageWebhook:    owners,
		"something unknown":       nil,
	} {
		for name, w := range who {
			user := accounts.User{ID: w.id, Role: w.role}
			if got, want := user.CanPerform(act, w.of), slices.Contains(may, name); got != want {
				t.Errorf("%s by %s: %v, want %v", act, name, got, want)
			}
			if (user.CheckPermission(act, w.of) == nil) != slices.Contains(may, name) {
				t.Errorf("%s by %s: Check says something else than May", act, name)
			}
		}
	}
}
