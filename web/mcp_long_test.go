package web

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"warpboard/clients/go"
	"warpboard/models/work"
	"warpboard/web/mcp"
)

// hearing is a client that notes what it is told of progress.
func hearing(t *testing.T, transport sdk.Transport) (agent, chan string) {
	t.Helper()
	heard := make(chan string, 100)
	session, err := sdk.NewClient(&sdk.Implementation{Name: "test", Version: "1"}, &sdk.ClientOptions{
		ProgressNotificationHandler: func(_ context.Context, r *sdk.ProgressNotificationClientRequest) { heard <- r.Params.Message },
	}).Connect(t.Context(), transport, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { session.Close() })
	return agent{t, session}, heard
}

func TestAnAgentHearsOfTheProgressOfALongEvaluation(t *testing.T) {
	s := newEvalSite(t, impatient)
	toServer, fromClient := io.Pipe()
	toClient, fromServer := io.Pipe()
	go mcp.ServeStdio(t.Context(), client.New(s.url, s.token), "test", toServer, fromServer)
	for name, transport := range map[string]sdk.Transport{
		"http":  &sdk.StreamableClientTransport{Endpoint: s.url + "/mcp", HTTPClient: &http.Client{Transport: bearer(s.token)}, DisableStandaloneSSE: true},
		"stdio": &sdk.IOTransport{Reader: toClient, Writer: fromClient},
	} {
		t.Run(name, func(t *testing.T) {
			a, heard := hearing(t, transport)
			params := &sdk.CallToolParams{Name: "evaluate_kernel", Arguments: object{"request": object{"kernel": torchModel("return x")}}}
			params.SetProgressToken("p")
			ended := make(chan struct{})
			go func() {
				defer close(ended)
				result, err := a.CallTool(a.Context(), params)
				if err != nil || result.IsError {
					t.Errorf("%v %v", result, err)
					return
				}
				answer, _ := json.Marshal(result.StructuredContent)
				if !strings.Contains(string(answer), `"correctness":true`) {
					t.Errorf("answer: %s", answer)
				}
			}()
			e := s.waitForState(work.EvaluationSubmitted)
			for range 2 { // longer than an agent without a token would be left to wait
				if message := <-heard; message != "evaluation "+e.ID+": submitted" {
					t.Errorf("told of %q", message)
				}
			}
			s.finish(e)
			<-ended
		})
	}
}

func TestAnAgentThatAsksForNoProgressIsAnsweredInTime(t *testing.T) {
	s := newEvalSite(t, impatient, func(c *Config) { c.OpenEvalAPI = "all" })
	for name, token := range map[string]string{"with a token": s.token, "with a key": ""} {
		t.Run(name, func(t *testing.T) {
			a := s.agent(t, token)
			answer, refused := a.call("validate_kernel", object{"kernel_source": "x", "kernel_type": "torch"})
			if refused != "" || answer["ended"] != false || answer["job_id"] == nil || answer["status"] != "submitted" {
				t.Fatalf("%v %s", answer, refused)
			}
			e, err := s.site.Store.Work.Evaluation(t.Context(), answer["job_id"].(string))
			if err != nil {
				t.Fatal(err)
			}
			s.finish(e)
			ask := object{"job_id": answer["job_id"], "wait": 5}
			if token == "" {
				ask["key"] = answer["key"]
			}
			answer, refused = a.call("get_job_status", ask)
			if refused != "" || answer["ended"] != true || answer["result"].(object)["kernel_exec_result"].(object)["correctness"] != true {
				t.Errorf("%v %s", answer, refused)
			}
		})
	}
}

func TestAnAgentThatGoesAwayCancels(t *testing.T) {
	s := newEvalSite(t, func(c *Config) { c.EvalLimits.AtOnce = 1 })
	ask, err := json.Marshal(object{"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": object{
		"name": "evaluate_kernel", "arguments": object{"request": object{"kernel": torchModel("return x")}}, "_meta": object{"progressToken": "p"}}})
	if err != nil {
		t.Fatal(err)
	}
	for _, after := range []string{"the first word", "nothing"} {
		conn, err := net.Dial("tcp", s.site.Settings.Addr)
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		conn.SetDeadline(time.Now().Add(60 * time.Second))
		text := string(ask)
		if after == "nothing" {
			text = strings.Replace(text, "progressToken", "none", 1)
		}
		fmt.Fprintf(conn, "POST /mcp HTTP/1.1\r\nHost: %s\r\nContent-Type: application/json\r\nAccept: application/json, text/event-stream\r\nAuthorization: Bearer %s\r\nContent-Length: %d\r\n\r\n%s",
			s.site.Settings.Addr, s.token, len(text), text)
		if after == "the first word" {
			if resp, err := http.ReadResponse(bufio.NewReader(conn), nil); err != nil || resp.StatusCode != 200 {
				t.Fatalf("%v %v", resp, err)
			}
		}
		s.waitForState(work.EvaluationSubmitted)
		conn.Close()
		s.waitForState(work.EvaluationCancelled)
	}
}

func TestAnAgentOnPipesThatGoesAwayCancels(t *testing.T) {
	s := newEvalSite(t)
	toServer, fromClient := io.Pipe()
	toClient, fromServer := io.Pipe()
	ended := make(chan error, 1)
	go func() { ended <- mcp.ServeStdio(t.Context(), client.New(s.url, s.token), "test", toServer, fromServer) }()
	a := connect(t, &sdk.IOTransport{Reader: toClient, Writer: fromClient})
	go a.CallTool(a.Context(), &sdk.CallToolParams{Name: "evaluate_kernel", Arguments: object{"request": object{"kernel": torchModel("return x")}}})
	s.waitForState(work.EvaluationSubmitted)
	fromClient.Close()
	toClient.Close()
	<-ended
	s.waitForState(work.EvaluationCancelled)
}
