package mcp

import (
	"context"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// progress sends progress messages for one call, if the client requested them.
type progress struct {
	session *sdk.ServerSession
	token   any
	began   time.Time
}

func newProgress(r *sdk.CallToolRequest) *progress {
	return &progress{session: r.Session, token: r.Params.GetProgressToken(), began: time.Now()}
}

func (p *progress) isRequested() bool { return p.token != nil }

func (p *progress) elapsed() time.Duration { return time.Since(p.began) }

// report sends a progress message. If the client has disconnected, the context of the call ends.
func (p *progress) report(ctx context.Context, message string) {
	if !p.isRequested() {
		return
	}
	_ = p.session.NotifyProgress(ctx, &sdk.ProgressNotificationParams{
		ProgressToken: p.token, Progress: p.elapsed().Seconds(), Message: message,
	})
}
