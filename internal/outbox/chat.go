package outbox

import (
	"encoding/json"
	"fmt"
	"net/url"
	"strings"

	"warpboard/models/webhooks"
)

// chatBodyFormat returns a function that converts a text to the body for an incoming webhook of a chat; nil for any
// other address, which receives the body unchanged.
func chatBodyFormat(address string) func(text string) any {
	u, err := url.Parse(address)
	switch {
	case err != nil:
		return nil
	case (u.Hostname() == "discord.com" || u.Hostname() == "discordapp.com") && strings.HasPrefix(u.Path, "/api/webhooks/"):
		return func(text string) any { // allow no mentions, because the text may contain names such as @everyone
			return map[string]any{"content": escapeDiscord(text), "allowed_mentions": map[string]any{"parse": []string{}}}
		}
	case u.Hostname() == "hooks.slack.com":
		return func(text string) any {
			return map[string]any{"text": strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;").Replace(text)}
		}
	}
	return nil
}

// escapeDiscord escapes the markup of Discord, so that the name of a person cannot become a link. The last of several
// lines is an address and stays a link.
func escapeDiscord(text string) string {
	address := ""
	if i := strings.LastIndex(text, "\n"); i >= 0 {
		text, address = text[:i], text[i:]
	}
	var escaped strings.Builder
	for _, r := range text {
		if strings.ContainsRune("\\`*_~|<>[]()#:@-", r) {
			escaped.WriteByte('\\')
		}
		escaped.WriteRune(r)
	}
	return escaped.String() + address
}

// requestBody returns the request body of a delivery; for a chat it is a text.
func (s webhookSender) requestBody(d webhooks.DueDelivery) (string, error) {
	shape := chatBodyFormat(d.URL)
	if shape == nil || s.chatMessage == nil {
		return d.Body, nil
	}
	text, err := s.chatMessage([]byte(d.Body), d.UserID)
	if err != nil {
		return "", fmt.Errorf("the body cannot be written as a text: %w", err)
	}
	body, err := json.Marshal(shape(text))
	return string(body), err
}
