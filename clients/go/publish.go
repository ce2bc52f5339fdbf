package client

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"mime"
	"net/http"
	"net/url"
	"path/filepath"
	"time"
)

// Values of Change: ChangeCreated for a new task, ChangeSettings if only the deadline changes. Others are "none",
// "texts" (scores stay comparable), and "version" (a new version with empty boards).
const (
	ChangeCreated  = "created"
	ChangeSettings = "settings"
)

// Published is the result of publishing a task, or of checking it without publishing.
type Published struct {
	Task        string       `json:"task"`
	URL         string       `json:"url"`
	Version     int          `json:"version"`
	Change      string       `json:"change" jsonschema:"created, none, settings (only the deadline), texts (scores keep their meaning) or version (a new version with empty boards)"`
	DryRun      bool         `json:"dry_run,omitempty" jsonschema:"nothing was changed; version is the one before"`
	Differences []Difference `json:"differences,omitempty"`
	Warnings    []string     `json:"warnings,omitempty"`
}

// Difference is one difference between two states of a task.
type Difference struct {
	Key          string `json:"key"`
	Old          string `json:"old,omitempty"`
	New          string `json:"new,omitempty"`
	BreaksScores bool   `json:"breaks,omitempty" jsonschema:"scores made before do not compare with scores made after"`
}

// Publication is a task to publish.
type Publication struct {
	Task    string
	File    string // name of the sent file; its suffix determines the format
	Data    []byte
	Devices []string // devices of a new task; if empty, the devices in its files
	// Deadline is a time, or "none" for no deadline. "" selects the deadline in the upload, or keeps the current one.
	Deadline string
	// Visibility of a new task is public, unlisted, members, or hidden; "" means public.
	Visibility string
	DryRun     bool
}

// PublishTask creates or updates a task.
func (c *Client) PublishTask(ctx context.Context, p Publication) (*Published, error) {
	q := url.Values{"file": {p.File}}
	for _, d := range p.Devices {
		q.Set("devices", appendToList(q.Get("devices"), d))
	}
	if p.Deadline != "" {
		q.Set("deadline", p.Deadline)
	}
	if p.Visibility != "" {
		q.Set("visibility", p.Visibility)
	}
	if p.DryRun {
		q.Set("dry_run", "1")
	}
	ctx, cancel := context.WithTimeout(ctx, 2*time.Minute)
	defer cancel()
	resp, err := c.sendReader(ctx, http.MethodPost, "/api/v1/tasks/"+url.PathEscape(p.Task)+"?"+q.Encode(), bytes.NewReader(p.Data), "Content-Type", "application/zip")
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	var answer Published
	if err := json.NewDecoder(resp.Body).Decode(&answer); err != nil {
		return nil, fmt.Errorf("read the published task: %w", err)
	}
	return &answer, nil
}

// Bundle returns the files of a task as a zip, or its reference file in the legacy format, and the name that the site
// gives this file.
func (c *Client) Bundle(ctx context.Context, slug string) (name string, data []byte, err error) {
	ctx, cancel := context.WithTimeout(ctx, 2*time.Minute)
	defer cancel()
	resp, err := c.sendReader(ctx, http.MethodGet, "/api/v1/tasks/"+url.PathEscape(slug)+"/bundle", nil)
	if err != nil {
		return "", nil, err
	}
	defer resp.Body.Close()
	if _, of, err := mime.ParseMediaType(resp.Header.Get("Content-Disposition")); err == nil {
		name = filepath.Base(of["filename"])
	}
	data, err = readAll(resp)
	return name, data, err
}

func appendToList(list, one string) string {
	if list == "" {
		return one
	}
	return list + "," + one
}
