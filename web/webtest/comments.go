package webtest

import (
	"fmt"

	"warpboard/models/comments"
)

// Comment adds a comment to the scene's task, reports it to the moderators, and returns the path of its page.
func (s *Scene) Comment() string {
	s.T.Helper()
	made, err := s.Cfg.Store.Comments.Add(s.T.Context(), s.Ada, comments.Thread{Task: s.Task},
		"Is **n** a multiple of 64?")
	if err == nil {
		err = s.Cfg.Store.Comments.Report(s.T.Context(), s.Admin, made.ID, "to be sure")
	}
	if err != nil {
		s.T.Fatal(err)
	}
	return fmt.Sprintf("/comments/%d", made.ID)
}
