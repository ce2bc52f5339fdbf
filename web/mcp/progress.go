package mcp

import (
	"context"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// progressReporter sends progress messages for one call, if the client requested them.
type progressReporter struct {
	session   *sdk.ServerSession
	token     any
	startedAt time.Time
}

func newProgress(r *sdk.CallToolRequest) *progressReporter {
	return &progressReporter{session: r.Session, token: r.Params.GetProgressToken(), startedAt: time.Now()}
}

func (p *progressReporter) isRequested() bool { return p.token != nil }

func (p *progressReporter) elapsed() time.Duration { return time.Since(p.startedAt) }

// report sends a progress message. If the client has disconnected, the context of the call ends.
func (p *progressReporter) report(ctx context.Context, message string) {
	if !p.isRequested() {
		return
	}
	_ = p.session.NotifyProgress(ctx, &sdk.ProgressNotificationParams{
		ProgressToken: p.token, Progress: p.elapsed().Seconds(), Message: message,
	})
}
