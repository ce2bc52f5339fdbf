package evalapi

import (
	"encoding/json"
	"errors"
	"net/http"
	"time"

	"github.com/gofiber/fiber/v2"

	"warpboard/evaluator/kernelrun"
	"warpboard/models/work"
	"warpboard/web/conns"
	"warpboard/web/site"
	"warpboard/web/site/evaluations"
)

// evaluationResponse is the status and body of the response to a waiting caller.
type evaluationResponse struct {
	status int
	device string // set when there is a result
	body   any
}

// startResponseEarly starts the response before the result exists, because a proxy would end a silent request after a
// minute. It sends the header, then spaces at intervals (JSON ignores them), then the result. The status is always 200;
// "status": "error" in the body reports a failure.
func (a *API) startResponseEarly(c *fiber.Ctx, w *evaluationWaiter, request kernelrun.Request) {
	forbidCaching(c)
	c.Set(fiber.HeaderContentType, fiber.MIMEApplicationJSON)
	c.Set(fiber.HeaderContentLocation, a.site.Settings.BaseURL+"/api/v1/evaluations/"+w.id)
	c.Set("X-Accel-Buffering", "no")
	pod, every := evaluations.PodIP(c), a.site.Settings.Limits.FirstByteDelay/2
	a.site.StreamBody(c, func(out *conns.Writer) {
		for ended := false; !ended; ended = w.endsWithin(every) {
			out.WriteByte(' ')
			if out.Flush() != nil {
				w.cancel(errCallerGone)
			}
		}
		reply, err := a.resultResponse(w, request, pod)
		if err != nil {
			f := site.FailureFromError(err)
			if !errors.Is(err, errCallerGone) {
				a.site.Log.Error("evaluation request failed", "evaluation", w.id, "err", err)
			}
			reply.body = failureBody(work.Evaluation{ID: w.id}, f.Message, pod)
		}
		json.NewEncoder(out).Encode(reply.body) // a write error recurs when the connection is flushed
	})
}

// behindProxy reports whether a proxy that may time out is between the caller and this site. Not every proxy identifies
// itself; HTTP/1.0, nginx's default, is a sign of one.
func (a *API) behindProxy(c *fiber.Ctx) bool {
	peer, host := conns.PeerAddress(c), string(c.Request().Host())
	return !c.Request().Header.IsHTTP11() || a.site.UsesTLS() || conns.HasProxyHeader(c) || !peer.IsLoopback() && a.site.Proxies.IsTrusted(peer) ||
		host != a.site.Base.Host && !(conns.IsLoopback(host) && conns.IsLoopback(a.site.Base.Host))
}

// endsWithin reports whether the evaluation ends within d, or has ended already.
func (w *evaluationWaiter) endsWithin(d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-w.ended:
		return true
	case <-timer.C:
		return false
	}
}

// resultResponse returns the response for an evaluation that has ended. The error is a failure of the site, not of the
// kernel.
func (a *API) resultResponse(w *evaluationWaiter, request kernelrun.Request, pod string) (evaluationResponse, error) {
	failed := func(why string) evaluationResponse {
		return evaluationResponse{status: http.StatusInternalServerError, body: failureBody(w.evaluation, why, pod)}
	}
	switch {
	case errors.Is(w.err, errNoDeviceFree):
		return failed(a.noDeviceText(w.evaluation)), nil
	case w.err != nil:
		return evaluationResponse{}, w.err
	case w.evaluation.State != work.EvaluationCompleted:
		return failed(failureText(w.evaluation, request)), nil
	}
	answer, err := evaluations.NewAnswer(w.evaluation, evaluations.DescribeKernel(request.CustomKernel), pod)
	return evaluationResponse{status: http.StatusOK, device: answer.GPUType, body: answer}, err
}
