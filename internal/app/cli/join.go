package cli

import (
	"context"
	"path"
	"strings"

	"github.com/spf13/cobra"

	"warpboard/internal/app/cli/console"
)

func joinCommand(c *connection) *cobra.Command {
	return &cobra.Command{Use: "join CODE", Short: "join a members' board with an invite code or its link", Args: console.ExactArgs("CODE"),
		RunE: func(cmd *cobra.Command, args []string) error { return c.join(cmd.Context(), args[0]) }}
}

func (c *connection) join(ctx context.Context, code string) error {
	site, err := c.site()
	if err != nil {
		return err
	}
	joined, err := site.JoinBoard(ctx, path.Base(strings.TrimSpace(code))) // accepts a link, which ends with the code
	return c.printAnswer(joined, err, func(s *console.Screen) {
		s.PrintLine("%s (%s) is open to you: %s", joined.Task, joined.Title, joined.URL)
	})
}

func leaveCommand(c *connection) *cobra.Command {
	return &cobra.Command{Use: "leave TASK", Short: "leave a members' board; your entries stay", Args: console.ExactArgs("TASK"),
		RunE: func(cmd *cobra.Command, args []string) error { return c.leave(cmd.Context(), args[0]) }}
}

func (c *connection) leave(ctx context.Context, task string) error {
	site, err := c.site()
	if err != nil {
		return err
	}
	err = site.LeaveBoard(ctx, task)
	return c.printAnswer(map[string]string{"left": task}, err, func(s *console.Screen) {
		s.PrintLine("You left %s. Your entries stay.", task)
	})
}
