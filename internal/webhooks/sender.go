package webhooks

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"warpboard/internal/publicnet"
	models "warpboard/models/webhooks"
)

const (
	// answerIn bounds a try as a whole, however slowly the receiver reads and answers, unless Config says otherwise.
	answerIn = 10 * time.Second
	// readAtMost bounds the read part of an answer, which may be of any length: the content is not used, and the connection
	// is closed after it.
	readAtMost = 4 << 10
)

// sender makes the one request of a try.
type sender struct {
	site, people *http.Client // of the site's webhooks, which may reach more, and of people's
	agent        string
	message      func(body []byte, reader int64) (string, error)
}

func newSender(cfg Config) sender {
	return sender{newClient(cfg, slices.Concat(cfg.Allowed, cfg.OfAll)), newClient(cfg, cfg.OfAll), "Warpboard/" + cfg.Version, cfg.Message}
}

func newClient(cfg Config, allowed []netip.Prefix) *http.Client {
	client := publicnet.Client(cfg.Answer, allowed, cfg.Roots)
	client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return client
}

// send tries a delivery once.
func (s sender) send(ctx context.Context, d models.DueDelivery, at time.Time) models.Tried {
	began := time.Now()
	status, err := s.post(ctx, d, at)
	t := models.Tried{At: at, Took: time.Since(began), Status: status, Gone: status == http.StatusGone}
	if err != nil {
		t.Problem = err.Error()
	}
	return t
}

func (s sender) post(ctx context.Context, d models.DueDelivery, at time.Time) (status int, err error) {
	body, err := s.body(d)
	if err != nil {
		return 0, err
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, d.URL, strings.NewReader(body))
	if err != nil {
		return 0, errors.New("the address of the webhook cannot be read")
	}
	signature, err := Sign(d.Secret, d.MessageID, at, []byte(body))
	if err != nil {
		return 0, err
	}
	// The headers are those of the Standard Webhooks specification, so that receivers can use its libraries. The time is
	// signed, which lets them refuse what is replayed later; the id is the same in each try.
	for name, value := range map[string]string{"Content-Type": "application/json", "User-Agent": s.agent,
		"webhook-id": d.MessageID, "webhook-timestamp": strconv.FormatInt(at.Unix(), 10), "webhook-signature": signature} {
		request.Header.Set(name, value)
	}
	client := s.people
	switch {
	case d.UserID == 0:
		client = s.site
	case request.URL.Scheme != "https": // made when people's could be so
		return 0, errors.New("the address of the webhook does not begin with https://: delete the webhook, and create it again")
	}
	response, err := client.Do(request)
	if err != nil {
		return 0, plainly(err, client.Timeout)
	}
	defer response.Body.Close()
	_, _ = io.CopyN(io.Discard, response.Body, readAtMost) // its status is the answer
	switch code := response.StatusCode; {
	case code >= 300 && code < 400:
		return code, fmt.Errorf("the receiver answered %d: redirects are not followed, so enter the final address", code)
	case code < 200 || code >= 300:
		return code, fmt.Errorf("the receiver answered %d", code)
	}
	return response.StatusCode, nil
}

// errRefused is one sentence for a name that cannot be resolved and for every address that is refused: the person who made the webhook
// would learn otherwise which names the operator's network has, and what they point to.
var errRefused = errors.New("the receiver's name cannot be resolved, or its address is refused: webhooks reach only public addresses at HTTP ports, and the site's own webhooks also the networks of --webhook-allow")

// plainly says why a request failed without the address, which may hold a secret.
// Errors of the TLS handshake pass as they are: a certificate says nothing of the operator's network that its receiver
// did not choose.
func plainly(err error, timeout time.Duration) error {
	var name *net.DNSError
	if errors.As(err, &name) || errors.Is(err, publicnet.ErrRefused) {
		return errRefused
	}
	var wrapped *url.Error
	if errors.As(err, &wrapped) {
		if wrapped.Timeout() {
			return fmt.Errorf("no answer within %g s", timeout.Seconds())
		}
		err = wrapped.Err
	}
	var dial *net.OpError
	if errors.As(err, &dial) {
		err = dial.Err
	}
	return err
}

// Sign makes the header webhook-signature: HMAC-SHA256 over id, time and body.
func Sign(secret, id string, at time.Time, body []byte) (string, error) {
	// The site makes secrets; an unreadable one means a damaged row.
	key, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(secret, "whsec_"))
	if err != nil {
		return "", errors.New("the secret of the webhook cannot be read")
	}
	mac := hmac.New(sha256.New, key)
	mac.Write(bytes.Join([][]byte{[]byte(id), strconv.AppendInt(nil, at.Unix(), 10), body}, []byte(".")))
	return "v1," + base64.StdEncoding.EncodeToString(mac.Sum(nil)), nil
}
