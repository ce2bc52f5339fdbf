package outbox

import (
	"errors"
	"testing"

	models "warpboard/models/webhooks"
)

// TestChatsGetATextInTheirForm checks the formats of chats, and that all other receivers get the unchanged body.
func TestChatsGetATextInTheirForm(t *testing.T) {
	s := webhookSender{chatMessage: func(body []byte, reader int64) (string, error) {
		if reader != 7 || string(body) != "{}" {
			return "", errors.New("another delivery")
		}
		return "1st & <b>\" by [me](https://a.example)\nhttps://site/submissions/1_2", nil
	}}
	for address, want := range map[string]string{
		"https://hooks.slack.com/services/a/b":             `{"text":"1st \u0026amp; \u0026lt;b\u0026gt;\" by [me](https://a.example)\nhttps://site/submissions/1_2"}`,
		"https://discord.com/api/webhooks/1/secret":        `{"allowed_mentions":{"parse":[]},"content":"1st \u0026 \\\u003cb\\\u003e\" by \\[me\\]\\(https\\://a.example\\)\nhttps://site/submissions/1_2"}`,
		"https://example.org/api/webhooks/1/secret":        "{}",
		"https://hooks.slack.com.example.org/services/a/b": "{}",
		"https://discord.com/channels/1":                   "{}",
	} {
		d := models.DueDelivery{UserID: 7, URL: address}
		d.Body = "{}"
		if got, err := s.requestBody(d); err != nil || got != want {
			t.Errorf("%s gets %s, %v; want %s", address, got, err, want)
		}
	}
}
