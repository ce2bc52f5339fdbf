package outbox

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

	"warpboard/models/webhooks"
)

const (
	// answerTimeout limits the duration of a try, even if the receiver reads and responds slowly, unless the
	// configuration sets another limit.
	answerTimeout = 10 * time.Second
	// maxAnswerRead limits the bytes of a response that are read. They are not used, and the connection is closed.
	maxAnswerRead = 4 << 10
)

// webhookSender sends the request of a try.
type webhookSender struct {
	// for the site's webhooks, which may reach more networks, and for people's
	clientForSite, clientForPeople *http.Client
	userAgent                      string
	chatMessage                    func(body []byte, reader int64) (string, error)
}

func newSender(cfg WebhookConfig) webhookSender {
	return webhookSender{newClient(cfg, slices.Concat(cfg.AllowedForSite, cfg.AllowedForPeople)), newClient(cfg, cfg.AllowedForPeople), "Warpboard/" + cfg.Version, cfg.ChatMessage}
}

func newClient(cfg WebhookConfig, allowed []netip.Prefix) *http.Client {
	client := webhooks.NewClient(cfg.AnswerTimeout, allowed, cfg.RootCAs)
	client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return client
}

// send makes one try of a delivery.
func (s webhookSender) send(ctx context.Context, d webhooks.DueDelivery, at time.Time) webhooks.TryResult {
	began := time.Now()
	status, err := s.post(ctx, d, at)
	t := webhooks.TryResult{
		At:           at,
		Duration:     time.Since(began),
		Status:       status,
		ReceiverGone: status == http.StatusGone,
	}
	if err != nil {
		t.Problem = err.Error()
	}
	return t
}

func (s webhookSender) post(ctx context.Context, d webhooks.DueDelivery, at time.Time) (status int, err error) {
	body, err := s.requestBody(d)
	if err != nil {
		return 0, err
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, d.URL, strings.NewReader(body))
	if err != nil {
		return 0, errors.New("the address of the webhook cannot be read")
	}
	signature, err := SignatureHeader(d.Secret, d.MessageID, at, []byte(body))
	if err != nil {
		return 0, err
	}
	// The headers follow the Standard Webhooks specification, for which receivers can use libraries. The time is
	// signed, so that receivers can refuse old messages; each try has the same ID.
	for name, value := range map[string]string{"Content-Type": "application/json", "User-Agent": s.userAgent,
		"webhook-id": d.MessageID, "webhook-timestamp": strconv.FormatInt(at.Unix(), 10), "webhook-signature": signature} {
		request.Header.Set(name, value)
	}
	client := s.clientForPeople
	switch {
	case d.UserID == 0:
		client = s.clientForSite
	case request.URL.Scheme != "https": // an old webhook, from when http was allowed
		return 0, errors.New("the address of the webhook does not begin with https://: delete the webhook, and create it again")
	}
	response, err := client.Do(request)
	if err != nil {
		return 0, errorWithoutAddress(err, client.Timeout)
	}
	defer response.Body.Close()
	_, _ = io.CopyN(io.Discard, response.Body, maxAnswerRead) // the response body is ignored
	switch code := response.StatusCode; {
	case code >= 300 && code < 400:
		return code, fmt.Errorf("the receiver answered %d: redirects are not followed, so enter the final address", code)
	case code < 200 || code >= 300:
		return code, fmt.Errorf("the receiver answered %d", code)
	}
	return response.StatusCode, nil
}

// errReceiverAddress is the error for both an unknown host name and a refused address. Different errors would reveal
// host names and addresses in the operator's network to the person who created the webhook.
var errReceiverAddress = errors.New("the receiver's name cannot be resolved, or its address is refused: webhooks reach only public addresses at HTTP ports, and the site's own webhooks also the networks of --webhook-allow")

// errorWithoutAddress returns an error with the reason why a request failed, without the request's address, which may
// contain a secret. TLS errors are unchanged: a certificate reveals nothing about the network of the operator.
func errorWithoutAddress(err error, timeout time.Duration) error {
	var name *net.DNSError
	if errors.As(err, &name) || errors.Is(err, webhooks.ErrRefused) {
		return errReceiverAddress
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

// SignatureHeader returns the value of the header webhook-signature: the HMAC-SHA256 of ID, time, and body.
func SignatureHeader(secret, id string, at time.Time, body []byte) (string, error) {
	// The site creates secrets, so an invalid one means a damaged row.
	key, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(secret, "whsec_"))
	if err != nil {
		return "", errors.New("the secret of the webhook cannot be read")
	}
	mac := hmac.New(sha256.New, key)
	mac.Write(bytes.Join([][]byte{[]byte(id), strconv.AppendInt(nil, at.Unix(), 10), body}, []byte(".")))
	return "v1," + base64.StdEncoding.EncodeToString(mac.Sum(nil)), nil
}
