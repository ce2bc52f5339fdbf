package cli

import (
	"github.com/spf13/cobra"

	"warpboard/internal/app/cli/console"
)

func inboxCommand(c *connection) *cobra.Command {
	var read bool
	cmd := &cobra.Command{Use: "inbox", Short: "list your notices: lost records and places, comments, deadlines", Args: console.ExactArgs(), Example: "  warpboard inbox --read",
		RunE: func(cmd *cobra.Command, _ []string) error {
			site, err := c.site()
			if err != nil {
				return err
			}
			page, err := site.Inbox(cmd.Context(), 0)
			if err == nil && read && len(page.Notices) > 0 {
				err = site.MarkInboxRead(cmd.Context(), page.Notices[0].ID)
			}
			return c.printAnswer(page, err, func(s *console.Screen) {
				s.PrintTable("WHEN\t\tWHAT\tWHERE", len(page.Notices), func(i int) []any {
					n, mark := page.Notices[i], ""
					if n.Unread {
						mark = "new"
					}
					return []any{n.CreatedAt.UTC().Format("2006-01-02 15:04"), mark, n.Text, n.URL}
				})
			})
		}}
	cmd.Flags().BoolVar(&read, "read", false, "mark the listed notices as read")
	return cmd
}
