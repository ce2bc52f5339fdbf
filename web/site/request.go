package site

import (
	"context"
	"crypto/rand"
	"crypto/subtle"
	"encoding/base64"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/gofiber/fiber/v2"

	"warpboard/models"
	"warpboard/views"
	"warpboard/web/conns"
)

// Keys of the local values of a request.
const (
	LocalRequestID  = "request-id"
	LocalNonce      = "nonce"
	localViewer     = "viewer"
	localSession    = "session"
	localProvider   = "provider"
	localBearer     = "bearer"
	LocalSenderKeys = "share"
	localBody       = "body"
	// context of a request that this server sends to itself; it ends when the original client disconnects
	LocalInternalContext = "inside"
	problemDocumentsKey  = "problems"
)

// RequestTimeout limits the time of one request.
const RequestTimeout = 30 * time.Second

// ProbeTimeout limits the ping of the database in probes.
const ProbeTimeout = 2 * time.Second

// cspNonce returns the nonce of the page's Content-Security-Policy, which inline styles must have.
func cspNonce(c *fiber.Ctx) string {
	text, _ := c.Locals(LocalNonce).(string)
	return text
}

// senderKeys returns the names under which limits count the address of a request.
func senderKeys(c *fiber.Ctx) conns.SenderKeys {
	who, _ := c.Locals(LocalSenderKeys).(conns.SenderKeys)
	return who
}

// IsInternal reports whether this server sent the request to itself, on behalf of another request.
func IsInternal(c *fiber.Ctx) bool {
	_, inside := c.Context().UserValue(LocalInternalContext).(context.Context)
	return inside
}

// OnDisconnect calls fn if the sender of a request disconnects before stop is called. Until then nothing else may read
// from the connection.
func OnDisconnect(c *fiber.Ctx, fn func()) (stop func()) {
	if outer, inside := c.Context().UserValue(LocalInternalContext).(context.Context); inside {
		unused := context.AfterFunc(outer, fn)
		return func() { unused() }
	}
	return conns.OnDisconnect(c.Context().Conn(), fn)
}

// HasBearerToken reports whether the request contains a personal token.
func HasBearerToken(c *fiber.Ctx) bool {
	bearer, _ := c.Locals(localBearer).(bool)
	return bearer
}

// WantsFragment reports whether htmx requests a fragment of a page.
func WantsFragment(c *fiber.Ctx) bool { return c.Get("HX-Request") == "true" }

// maxPageNumber limits page numbers. It exceeds the last page of any list, and its multiples do not overflow.
const maxPageNumber = 1 << 20

// PageNumber returns the requested page number of a list, at least 1.
func PageNumber(c *fiber.Ctx, name string) int {
	return min(max(c.QueryInt(name, 1), 1), maxPageNumber)
}

// ReadSuiteQuery reads the device and the baseline of a suite from the query.
func ReadSuiteQuery(c *fiber.Ctx) models.SuiteQuery {
	return models.SuiteQuery{Device: c.Query("device"), BaselineName: c.Query("baseline")}
}

// LinkNextPage adds a Link header with the URL of the next page, for programs.
func (s *Site) LinkNextPage(c *fiber.Ctx) {
	query := url.Values{}
	for key, value := range c.Queries() {
		query.Set(key, value)
	}
	query.Set("page", strconv.Itoa(PageNumber(c, "page")+1))
	c.Set(fiber.HeaderLink, "<"+s.Settings.BaseURL+c.Path()+"?"+query.Encode()+`>; rel="next"`)
}

// QueryTime parses an RFC 3339 time in the query. It returns the zero time if the parameter is absent.
func QueryTime(c *fiber.Ctx, name string) (time.Time, error) {
	text := c.Query(name)
	if text == "" {
		return time.Time{}, nil
	}
	at, err := time.Parse(time.RFC3339, text)
	if err != nil {
		return at, Invalid(name, "%s=%.40q is not a time like 2030-01-31T18:00:00Z.", name, text)
	}
	return at.UTC(), nil
}

// RandomText returns n random bytes, encoded as URL-safe base64.
func RandomText(n int) string {
	b := make([]byte, n)
	rand.Read(b) // crypto/rand.Read never returns an error
	return base64.RawURLEncoding.EncodeToString(b)
}

// EqualSecrets reports whether two secrets are equal and not empty, in constant time.
func EqualSecrets(a, b string) bool {
	return a != "" && subtle.ConstantTimeCompare([]byte(a), []byte(b)) == 1
}

// LoggedPath returns the path of a request for the log, without invite codes and tokens of mails. It recognizes such
// paths in any case and with escapes, because routes do.
func LoggedPath(c *fiber.Ctx) string {
	plain := c.Path()
	for range 3 {
		if next, err := url.PathUnescape(plain); err == nil {
			plain = next
		}
	}
	plain = strings.ToLower(plain)
	for _, secret := range []string{views.JoinPath + "/", "/inbox/off/", "/inbox/confirm/"} {
		if before, _, found := strings.Cut(plain, secret); found {
			return before + secret + "…"
		}
	}
	return c.Path()
}
