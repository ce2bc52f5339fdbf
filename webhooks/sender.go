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
	"strconv"
	"strings"
	"time"

	models "warpboard/models/webhooks"
)

const (
	// answerIn bounds a try as a whole, however slowly the receiver reads and answers, unless Config says otherwise.
	answerIn    = 10 * time.Second
	largestHead = 16 << 10
	// readAtMost of an answer: nobody reads it, and the connection is closed after it.
	readAtMost = 4 << 10
)

// sender makes the one request of a try.
type sender struct {
	client *http.Client
	agent  string
}

func newSender(allowed []netip.Prefix, version string, timeout time.Duration) sender {
	dialer := &net.Dialer{Timeout: timeout, Control: guard{allowed, net.InterfaceAddrs}.check}
	return sender{agent: "Warpboard/" + version, client: &http.Client{
		Timeout: timeout,
		Transport: &http.Transport{
			Proxy:       nil, // a proxy would dial what is refused here
			DialContext: dialer.DialContext, DisableKeepAlives: true, MaxResponseHeaderBytes: largestHead, TLSHandshakeTimeout: timeout,
		},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}
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
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, d.URL, strings.NewReader(d.Body))
	if err != nil {
		return 0, errors.New("the address of the webhook cannot be read")
	}
	signature, err := Sign(d.Secret, d.MessageID, at, []byte(d.Body))
	if err != nil {
		return 0, err
	}
	for name, value := range map[string]string{"Content-Type": "application/json", "User-Agent": s.agent,
		"webhook-id": d.MessageID, "webhook-timestamp": strconv.FormatInt(at.Unix(), 10), "webhook-signature": signature} {
		request.Header.Set(name, value)
	}
	response, err := s.client.Do(request)
	if err != nil {
		return 0, s.plainly(err)
	}
	defer response.Body.Close()
	_, _ = io.CopyN(io.Discard, response.Body, readAtMost) // its status is the answer
	switch code := response.StatusCode; {
	case code >= 300 && code < 400:
		return code, fmt.Errorf("the receiver answered %d: redirects are not followed, enter the address that it leads to", code)
	case code < 200 || code >= 300:
		return code, fmt.Errorf("the receiver answered %d", code)
	}
	return response.StatusCode, nil
}

// plainly says why a request failed without the address, which may hold a secret.
func (s sender) plainly(err error) error {
	var wrapped *url.Error
	if errors.As(err, &wrapped) {
		if wrapped.Timeout() {
			return fmt.Errorf("no answer within %s", s.client.Timeout)
		}
		err = wrapped.Err
	}
	var dial *net.OpError
	if errors.As(err, &dial) {
		err = dial.Err
	}
	var name *net.DNSError
	if errors.As(err, &name) {
		return errors.New("the receiver's name cannot be resolved")
	}
	return err
}

// Sign makes the header webhook-signature: HMAC-SHA256 over id, time and body.
func Sign(secret, id string, at time.Time, body []byte) (string, error) {
	key, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(secret, "whsec_"))
	if err != nil {
		return "", errors.New("the secret of the webhook cannot be read")
	}
	mac := hmac.New(sha256.New, key)
	mac.Write(bytes.Join([][]byte{[]byte(id), strconv.AppendInt(nil, at.Unix(), 10), body}, []byte(".")))
	return "v1," + base64.StdEncoding.EncodeToString(mac.Sum(nil)), nil
}
