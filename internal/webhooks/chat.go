package webhooks

import (
	"encoding/json"
	"fmt"
	"net/url"
	"strings"

	models "warpboard/models/webhooks"
)

// chat says how the incoming webhooks of a chat want their text; nil for any other address, which gets the body as it is.
func chat(address string) func(text string) any {
	u, err := url.Parse(address)
	switch {
	case err != nil:
		return nil
	case (u.Hostname() == "discord.com" || u.Hostname() == "discordapp.com") && strings.HasPrefix(u.Path, "/api/webhooks/"):
		return func(text string) any { // a person's name mentions no one
			return map[string]any{"content": literal(text), "allowed_mentions": map[string]any{"parse": []string{}}}
		}
	case u.Hostname() == "hooks.slack.com":
		return func(text string) any {
			return map[string]any{"text": strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;").Replace(text)}
		}
	}
	return nil
}

// literal escapes the markup of Discord, so that a person's name is no link with another text. The last of several lines is the
// address of what the text is about.
func literal(text string) string {
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

// body is what the receiver of a delivery is sent: a text if it is a chat.
func (s sender) body(d models.DueDelivery) (string, error) {
	shape := chat(d.URL)
	if shape == nil || s.message == nil {
		return d.Body, nil
	}
	text, err := s.message([]byte(d.Body), d.UserID)
	if err != nil {
		return "", fmt.Errorf("the body cannot be written as a text: %w", err)
	}
	body, err := json.Marshal(shape(text))
	return string(body), err
}
