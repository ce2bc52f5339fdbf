package accounts_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"warpboard/models"
	"warpboard/models/accounts"
	"warpboard/models/catalog"
	"warpboard/models/db"
	"warpboard/models/modelstest"
)

func TestAccountsAreJoinedByProviderAndSubjectOnly(t *testing.T) {
	modelstest.Each(t, func(t *testing.T, s *models.Store) {
		ctx := t.Context()
		ann := modelstest.Got[accounts.User](t)(s.Accounts.SignIn(ctx,
			accounts.ProviderSignIn{Provider: "github", Subject: "1", Name: "Ann", Email: "ann@example.org"}))
		second := modelstest.Got[accounts.User](t)(s.Accounts.SignIn(ctx,
			accounts.ProviderSignIn{Provider: "github", Subject: "1", Name: "Renamed", Email: "new@example.org"}))
		if second.ID != ann.ID || second.Email != "new@example.org" || second.Name != "Ann" {
			t.Errorf("second sign-in gave %+v", second)
		}
		thief := modelstest.Got[accounts.User](t)(s.Accounts.SignIn(ctx,
			accounts.ProviderSignIn{Provider: "gitlab", Subject: "1", Name: "ANN", Email: "new@example.org"}))
		if thief.ID == ann.ID {
			t.Error("the same e-mail address at another provider opened the account")
		}
		if thief.Name != "ANN-2" {
			t.Errorf("the second Ann is called %q", thief.Name)
		}
		modelstest.Check(t, s.Accounts.LinkIdentity(ctx, ann.ID,
			accounts.ProviderSignIn{Provider: "google", Subject: "g", Name: "Ann"}))
		modelstest.WantKind(t, s.Accounts.LinkIdentity(ctx, thief.ID,
			accounts.ProviderSignIn{Provider: "google", Subject: "g", Name: "Ann"}), db.Conflict)
		if u := modelstest.Got[accounts.User](t)(s.Accounts.SignIn(ctx,
			accounts.ProviderSignIn{Provider: "google", Subject: "g"})); u.ID != ann.ID {
			t.Error("a linked identity opens another account")
		}
		if ids, err := s.Accounts.Identities(ctx, ann.ID); err != nil || len(ids) != 2 {
			t.Errorf("Identities: %v, %v", ids, err)
		}
		_, err := s.Accounts.SignIn(ctx, accounts.ProviderSignIn{Provider: "github"})
		modelstest.WantKind(t, err, db.Invalid)
		site, again := modelstest.Got[accounts.User](t)(s.Accounts.OperatorAccount(ctx)),
			modelstest.Got[accounts.User](t)(s.Accounts.OperatorAccount(ctx))
		if site.ID != again.ID || !site.MayCreateTasks() {
			t.Errorf("the site's own account: %+v, then %+v", site, again)
		}
	})
}

func TestNamesAreVisibleAndUnique(t *testing.T) {
	for in, want := range map[string]string{
		"  Ann   B. ": "Ann B.", "\u202eevil\x00": "evil", "\xff": "", "日本": "日本",
		"Ann\u3164": "Ann", "A\ufe0fn\u034fn\u200b": "Ann", "\u115f\u2800\uffa0": "", "Zoe\u0308": "Zoe\u0308",
		"0123456789012345678901234567890123456789": "0123456789012345678901234567890123456789",
		// the ellipsis shows that the name was cut
		"0123456789012345678901234567890123456789xyz": "012345678901234567890123456789012345678…",
	} {
		if got := accounts.CleanName(in); got != want {
			t.Errorf("CleanName(%q) = %q, want %q", in, got, want)
		}
	}
	modelstest.Each(t, func(t *testing.T, s *models.Store) {
		w := modelstest.NewWorld(t, s)
		modelstest.WantKind(t, modelstest.Second(s.RenameUser(t.Context(), w.Ben, w.Ben.ID, "aNN")), db.Conflict)
		modelstest.WantKind(t, modelstest.Second(s.RenameUser(t.Context(), w.Ben, w.Ben.ID, " \n")), db.Invalid)
		modelstest.Check(t, modelstest.Second(s.RenameUser(t.Context(), w.Ben, w.Ben.ID, "100% Ben_")))
		users, err := s.Accounts.Users(t.Context(), w.Admin, "0% ben_", 0, 10)
		if err != nil || len(users) != 1 || users[0].ID != w.Ben.ID {
			t.Errorf("Users: %v, %v", users, err)
		}
		if users, err := s.Accounts.Users(t.Context(), w.Admin, "n%", 0, 10); err != nil || len(users) != 0 {
			t.Errorf("a percent sign in a search matched %v, %v", users, err)
		}
	})
}

func TestOnlyAdminsChangeRolesAndNeverTheirOwn(t *testing.T) {
	modelstest.Each(t, func(t *testing.T, s *models.Store) {
		w, ctx := modelstest.NewWorld(t, s), t.Context()
		modelstest.WantKind(t, s.Accounts.SetRole(ctx, w.Ann, w.Ben.ID, accounts.RoleAdmin), db.Forbidden)
		modelstest.WantKind(t, s.Accounts.SetRole(ctx, w.Admin, w.Admin.ID, accounts.RoleUser), db.Forbidden)
		modelstest.WantKind(t, s.Accounts.SetRole(ctx, w.Admin, w.Ann.ID, "king"), db.Invalid)
		modelstest.WantKind(t, s.Accounts.SetRole(ctx, w.Admin, 999, accounts.RoleCreator), db.NotFound)
		modelstest.Check(t, s.Accounts.SetRole(ctx, w.Admin, w.Ann.ID, accounts.RoleCreator))
		if u := modelstest.Got[accounts.User](t)(s.Accounts.User(ctx, w.Ann.ID)); !u.MayCreateTasks() || u.IsAdmin() {
			t.Errorf("Ann is now %q", u.Role)
		}
		audits, err := s.Accounts.AuditLog(ctx, w.Admin, "", 0, 10)
		if err != nil || len(audits) != 2 || audits[0].ActName != "set role" || audits[0].Detail != "creator" ||
			audits[0].ActorName != "Root" {
			t.Errorf("Audits: %+v, %v", audits, err)
		}
	})
}

func TestWhenASessionEnds(t *testing.T) {
	modelstest.Each(t, func(t *testing.T, s *models.Store) {
		w, ctx := modelstest.NewWorld(t, s), t.Context()
		start := func(life time.Duration) (string, accounts.Session) {
			secret, session, err := s.Accounts.StartSession(ctx,
				accounts.NewSession{UserID: w.Ann.ID, Provider: "github", UserAgent: "x\x00y", Lifetime: life})
			modelstest.Check(t, err)
			return secret, session
		}
		expired, _ := start(-time.Second)
		one, session := start(time.Hour)
		two, kept := start(time.Hour)
		if _, u, err := s.Accounts.SessionUser(ctx, one); err != nil || u.ID != w.Ann.ID {
			t.Errorf("SessionUser: %v, %v", u, err)
		}
		if list, err := s.Accounts.Sessions(ctx, w.Ann.ID); err != nil || len(list) != 2 || list[0].SecretHash == two {
			t.Errorf("Sessions: %v, %v", list, err)
		}
		modelstest.Check(t, s.Accounts.EndSession(ctx, w.Ben.ID, session.ID))
		if _, _, err := s.Accounts.SessionUser(ctx, one); err != nil {
			t.Errorf("someone else ended the session: %v", err)
		}
		modelstest.Check(t, s.Accounts.EndOtherSessions(ctx, w.Ann.ID, kept.ID))
		for _, secret := range []string{expired, one, "", "no secret"} {
			_, _, err := s.Accounts.SessionUser(ctx, secret)
			modelstest.WantKind(t, err, db.NotFound)
		}
		modelstest.Check(t, s.Accounts.SetBlocked(ctx, w.Admin, w.Ann.ID, true))
		_, _, err := s.Accounts.SessionUser(ctx, two)
		modelstest.WantKind(t, err, db.NotFound)
		_, err = s.Accounts.SignIn(ctx, accounts.ProviderSignIn{Provider: "test", Subject: "Ann"})
		modelstest.WantKind(t, err, db.Forbidden)
		modelstest.Check(t, s.Accounts.SetBlocked(ctx, w.Admin, w.Ann.ID, false))
		if _, _, err := s.Accounts.SessionUser(ctx, two); err != nil {
			t.Errorf("allowed again, but: %v", err)
		}
	})
}

func TestWhenATokenEnds(t *testing.T) {
	modelstest.Each(t, func(t *testing.T, s *models.Store) {
		w, ctx := modelstest.NewWorld(t, s), t.Context()
		secret, token, err := s.Accounts.CreateToken(ctx, w.Ann.ID, "laptop", 0)
		modelstest.Check(t, err)
		old, _, err := s.Accounts.CreateToken(ctx, w.Ann.ID, "old", time.Nanosecond)
		modelstest.Check(t, err)
		_, _, err = s.Accounts.CreateToken(ctx, w.Ann.ID, " ", 0)
		modelstest.WantKind(t, err, db.Invalid)
		_, _, err = s.Accounts.TokenUser(ctx, old)
		modelstest.WantKind(t, err, db.NotFound)
		got, user, err := s.Accounts.TokenUser(ctx, secret)
		if err != nil || user.ID != w.Ann.ID || got.ID != token.ID || got.UsedAt == nil {
			t.Errorf("TokenUser: %+v, %v, %v", got, user, err)
		}
		if diff := cmp.Diff(secret[:9], got.Prefix); diff != "" {
			t.Error(diff)
		}
		modelstest.Check(t, s.Accounts.SetBlocked(ctx, w.Admin, w.Ann.ID, true))
		modelstest.WantKind(t, modelstest.Third(s.Accounts.TokenUser(ctx, secret)), db.NotFound)
		modelstest.Check(t, s.Accounts.SetBlocked(ctx, w.Admin, w.Ann.ID, false))
		modelstest.Check(t, modelstest.Third(s.Accounts.TokenUser(ctx, secret)))
		modelstest.WantKind(t, s.Accounts.RevokeToken(ctx, w.Ben.ID, token.ID), db.NotFound)
		modelstest.Check(t, s.Accounts.RevokeToken(ctx, w.Ann.ID, token.ID))
		_, _, err = s.Accounts.TokenUser(ctx, secret)
		modelstest.WantKind(t, err, db.NotFound)
		if list, err := s.Accounts.Tokens(ctx, w.Ann.ID); err != nil || len(list) != 2 || list[1].RevokedAt == nil {
			t.Errorf("Tokens: %+v, %v", list, err)
		}
	})
}

func TestAPersonHasSoManyTokens(t *testing.T) {
	modelstest.Each(t, func(t *testing.T, s *models.Store) {
		person := modelstest.Person(t, s, "ada", accounts.RoleUser)
		made := 0
		fill := func() (err error) {
			for made < 1000 && err == nil {
				if _, _, err = s.Accounts.CreateToken(t.Context(), person.ID, "t", 0); err == nil {
					made++
				}
			}
			return err
		}
		modelstest.WantKind(t, fill(), db.Conflict)
		if made != 50 {
			t.Errorf("%d tokens of one person work", made)
		}
		tokens := modelstest.Got[[]accounts.Token](t)(s.Accounts.Tokens(t.Context(), person.ID))
		modelstest.Check(t, s.Accounts.RevokeToken(t.Context(), person.ID, tokens[0].ID))
		if modelstest.WantKind(t, fill(), db.Conflict); made != 51 {
			t.Errorf("after one was revoked %d were made", made)
		}
		for made < 100 { // revoked tokens still count toward the limit of 100 per day
			tokens := modelstest.Got[[]accounts.Token](t)(s.Accounts.Tokens(t.Context(), person.ID))
			modelstest.Check(t, s.Accounts.RevokeToken(t.Context(), person.ID, tokens[0].ID))
			fill()
		}
		tokens = modelstest.Got[[]accounts.Token](t)(s.Accounts.Tokens(t.Context(), person.ID))
		modelstest.Check(t, s.Accounts.RevokeToken(t.Context(), person.ID, tokens[0].ID))
		if modelstest.WantKind(t, fill(), db.TooMany); made != 100 {
			t.Errorf("%d were made in a day", made)
		}
		modelstest.Check(t, modelstest.Third(s.Accounts.CreateToken(t.Context(),
			modelstest.Person(t, s, "bob", accounts.RoleUser).ID, "t", 0)))
	})
}

// TestLoginsOfOneNetworkLockNoOneOut fills the list of waiting logins from one network and checks that a person in
// another network can still sign in.
func TestLoginsOfOneNetworkLockNoOneOut(t *testing.T) {
	modelstest.Each(t, func(t *testing.T, s *models.Store) {
		ctx, begun := t.Context(), time.Now().UTC()
		const full = 2000
		var rows []string
		for i := range full {
			rows = append(rows, fmt.Sprintf("('hash %d', 'CODE%d', 'x', '198.51.100.%d', $1, $2)", i, i, i%100))
		}
		_, err := s.SQL().ExecContext(ctx,
			"insert into logins (secret_hash, code, host, address, created_at, expires_at) values "+
				strings.Join(rows, ", "), begun, begun.Add(time.Hour))
		modelstest.Check(t, err)
		secrets := map[string]string{}
		// The third address is in the network that filled the list.
		for _, address := range []string{"203.0.113.7", "2001:db8::1", "198.51.100.200"} {
			secrets[address], _, err = s.Accounts.BeginLogin(ctx, "laptop", address)
			modelstest.Check(t, err)
		}
		modelstest.WantKind(t, modelstest.Third(s.Accounts.BeginLogin(ctx, "laptop", "198.51.100.99")), db.TooMany)
		for range 10 {
			modelstest.Check(t, modelstest.Third(s.Accounts.BeginLogin(ctx, "laptop", "198.51.100.201")))
		}
		for address, secret := range secrets {
			if _, _, err := s.Accounts.RedeemLogin(ctx, secret); err != nil {
				t.Errorf("the login of %s no longer waits: %v", address, err)
			}
		}
		var waiting int
		modelstest.Check(t, s.SQL().QueryRowContext(ctx, "select count(*) from logins").Scan(&waiting))
		if waiting != full {
			t.Errorf("%d logins wait, want %d", waiting, full)
		}
	})
}

// TestChangesOfACreatorAreBounded checks the hourly limit of a creator's changes, each of which adds a permanent entry
// to the audit log.
func TestChangesOfACreatorAreBounded(t *testing.T) {
	modelstest.Each(t, func(t *testing.T, s *models.Store) {
		admin, creator := modelstest.Person(t, s, "Root", accounts.RoleAdmin),
			modelstest.Person(t, s, "Ann", accounts.RoleCreator)
		task := modelstest.Task(t, s, creator, "sort", "CPU")
		change := func(actor accounts.User) error {
			return modelstest.Second(s.Catalog.UpdateTask(t.Context(), actor, task.ID,
				catalog.TaskSettings{Devices: task.Devices}))
		}
		note := func(actor accounts.User, at time.Time) {
			row := fmt.Sprintf("(%d, 'x', 'update', 'task sort', $1)", actor.ID)
			rows := strings.Join(slices.Repeat([]string{row}, 1000), ", ")
			modelstest.Check(t, modelstest.Second(s.SQL().ExecContext(t.Context(),
				"insert into audits (actor_id, actor_name, act, subject, created_at) values "+rows, at.UTC())))
		}
		note(creator, time.Now().Add(-2*time.Hour))
		note(admin, time.Now())
		modelstest.Check(t, change(creator))
		note(creator, time.Now())
		modelstest.WantKind(t, change(creator), db.TooMany)
		modelstest.Check(t, change(admin))
	})
}
