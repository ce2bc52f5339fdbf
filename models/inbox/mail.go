package inbox

import (
	"context"
	"fmt"
	"net/mail"
	"strings"
	"time"

	"gorm.io/gorm"

	"warpboard/models/accounts"
	"warpboard/models/db"
	"warpboard/models/quota"
)

// ConfirmAddressMail is the kind of the mail with the link that confirms an address.
const ConfirmAddressMail = "confirm"

const (
	maxMailsPerDay = 20 // limit for one person, not counting those that ask for a confirmation
	// maxCommentMailsPerDay limits mails about comments within the daily limit, so that they do not displace others.
	maxCommentMailsPerDay  = 10
	maxConfirmationsPerDay = 3 // limit to one address, and of one person's requests
	codeLifetime           = 24 * time.Hour
	mailRetention          = 30 * 24 * time.Hour
	maxAddressBytes        = 254 // bytes of an address
)

// mailRetryDelays are the times between tries to send a mail.
var mailRetryDelays = [...]time.Duration{time.Minute, 10 * time.Minute, time.Hour, 4 * time.Hour, 12 * time.Hour, 24 * time.Hour}

// Mail is one e-mail and the state of sending it.
type Mail struct {
	ID        int64
	UserID    int64
	Kind      string // kind of its notice, or ConfirmAddressMail
	Address   string
	Subject   string
	Body      string
	Tries     int
	Error     string // reason why the last try failed
	CreatedAt time.Time
	NextTryAt *time.Time `gorm:"column:next_at"` // time of the next try; nil if there is none
	SentAt    *time.Time
}

// ParseHeaderAddress returns an address that is valid in the header of a mail: printable ASCII, without a name.
func ParseHeaderAddress(address string) (string, error) {
	address = strings.TrimSpace(address)
	parsed, err := mail.ParseAddress(address)
	plain := !strings.ContainsFunc(address, func(r rune) bool { return r <= ' ' || r >= 0x7f || strings.ContainsRune("\"<>(),;:\\", r) })
	if err != nil || parsed.Address != address || !plain || len(address) > maxAddressBytes {
		return "", db.Errorf(db.Invalid, "%.80q is not an e-mail address.", address)
	}
	return address, nil
}

// MailAddress returns the address for a person's mail: the confirmed address, or else the verified address of their
// sign-in (signIn), or "".
func (c NoticeChoices) MailAddress(signIn string) string {
	if c.Address != "" {
		return c.Address
	}
	address, _ := ParseHeaderAddress(signIn)
	return address
}

// SetAddress stores another address for a person's mail. It is used after the person has confirmed it. An empty
// address, and that of the sign-in, need no confirmation.
func (x *Inbox) SetAddress(ctx context.Context, user accounts.User, address string) (asked bool, err error) {
	if address != "" {
		if address, err = ParseHeaderAddress(address); err != nil {
			return false, err
		}
	}
	return asked, x.db.Write(ctx, func(tx *gorm.DB) error {
		choices, err := readChoices(tx, user.ID)
		switch {
		case err != nil || address == choices.MailAddress(user.Email):
			return err
		case address == "" || address == user.Email:
			choices.Address, choices.NewAddress, choices.CodeHash, choices.CodeExpiresAt = "", "", "", nil
			return db.WriteError(tx.Save(&choices).Error, "address")
		case !x.sendsMail:
			return db.Errorf(db.Conflict, "This site sends no e-mail.")
		}
		asked = true
		return x.sendConfirmationLink(tx, user, choices, address)
	})
}

// sendConfirmationLink queues the mail with the link that confirms an address. The limit per address counts the mails
// requested by all people, so that many accounts cannot flood a mailbox.
func (x *Inbox) sendConfirmationLink(tx *gorm.DB, user accounts.User, choices NoticeChoices, address string) error {
	rate := quota.RateLimit{
		Max:         maxConfirmationsPerDay,
		Window:      24 * time.Hour,
		RefusalText: fmt.Sprintf("At most %d confirmations a day are sent.", maxConfirmationsPerDay),
	}
	sent := tx.Model(&Mail{}).Where("kind = ? and (user_id = ? or lower(address) = ?)", ConfirmAddressMail, user.ID, strings.ToLower(address))
	if err := rate.Check(sent, "created_at"); err != nil {
		return err
	}
	code, until := db.NewSecret(), db.NormalizeTime(db.Now().Add(codeLifetime))
	choices.NewAddress, choices.CodeHash, choices.CodeExpiresAt = address, db.HashSecret(code), &until
	if err := tx.Save(&choices).Error; err != nil {
		return db.WriteError(err, "address")
	}
	// The body contains no name of a person; otherwise anyone could send their own text to any address.
	body := fmt.Sprintf("Someone with an account at %s wants to get notices at this address.\n\nIf this was you, sign in and open this link within a day:\n%s/inbox/confirm/%s\n\nOtherwise, ignore this e-mail.\n",
		x.siteURL, x.siteURL, code)
	return queueMail(tx, Mail{
		UserID:  user.ID,
		Kind:    ConfirmAddressMail,
		Address: address,
		Subject: "Confirm your address",
		Body:    body,
	})
}

// ConfirmAddress confirms the address to which the code was sent. Mail to the person goes there from then on.
func (x *Inbox) ConfirmAddress(ctx context.Context, user accounts.User, code string) error {
	return x.db.Write(ctx, func(tx *gorm.DB) error {
		choices, err := readChoices(tx, user.ID)
		if err != nil {
			return err
		}
		if choices.CodeExpiresAt == nil || db.Now().After(*choices.CodeExpiresAt) || choices.CodeHash != db.HashSecret(code) {
			return db.Errorf(db.NotFound, "This link belongs to another account, was already used, or is older than a day. To get a new link, save the address again.")
		}
		choices.Address, choices.NewAddress, choices.CodeHash, choices.CodeExpiresAt = choices.NewAddress, "", "", nil
		return db.WriteError(tx.Save(&choices).Error, "address")
	})
}

// readChoices reads a person's settings for changing them.
func readChoices(tx *gorm.DB, userID int64) (c NoticeChoices, err error) {
	err = tx.Where("user_id = ?", userID).Limit(1).Find(&c).Error
	c.UserID = userID
	if c.OffKinds == nil {
		c.OffKinds = []NoticeKind{}
	}
	if c.MailKinds == nil {
		c.MailKinds = []NoticeKind{}
	}
	return c, db.ReadError(err, "choices of person %d", userID)
}

// queueMail adds a mail to the queue.
func queueMail(tx *gorm.DB, m Mail) error {
	m.CreatedAt = db.Now()
	m.NextTryAt = &m.CreatedAt
	return db.WriteError(tx.Create(&m).Error, "mail")
}

// queueNoticeMails queues mails for the notices whose recipients want them by e-mail, up to their daily limits.
func (x *Inbox) queueNoticeMails(tx *gorm.DB, list []NamedNotice) error {
	want := map[int64]NamedNotice{}
	ids := make([]int64, 0, len(list))
	for _, n := range list {
		want[n.UserID] = n
		ids = append(ids, n.UserID)
	}
	var rows []struct {
		NoticeChoices
		Email           string
		Today, Comments int
	}
	day := db.NormalizeTime(db.Now().Add(-24 * time.Hour))
	err := tx.Table("inbox_choices c").Select(`c.*, u.email, (select count(*) from mails m where m.user_id = c.user_id and m.kind <> ? and m.created_at > ?) as today,
		(select count(*) from mails m where m.user_id = c.user_id and m.kind = ? and m.created_at > ?) as comments`, ConfirmAddressMail, day, CommentAdded, day).Joins("join users u on u.id = c.user_id").Where("c.user_id in ? and c.mail_kinds <> '[]'", ids).Scan(&rows).Error
	if err != nil {
		return db.ReadError(err, "choices")
	}
	for _, row := range rows {
		n, address := want[row.UserID], row.MailAddress(row.Email)
		used := row.Today >= maxMailsPerDay || n.Kind == CommentAdded && row.Comments >= maxCommentMailsPerDay
		if !row.IsMailed(n.Kind) || address == "" || used {
			continue
		}
		body := n.Text() + "\n" + x.siteURL + n.Path() + "\n"
		if err := queueMail(tx, Mail{UserID: n.UserID, Kind: string(n.Kind), Address: address, Subject: n.Text(), Body: body}); err != nil {
			return err
		}
	}
	return nil
}
