package cli

import (
	"context"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"warpboard/clients/go"
	"warpboard/internal/app/cli/console"
)

func webhookCommand(c *connection) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "webhook",
		Short: "notify other programs when your runs end and when you take or lose a record",
	}
	cmd.AddCommand(c.webhookListCommand(), c.webhookCreateCommand(),
		c.newWebhookCommand("delete ID", "delete a webhook with its log", "webhook %d is deleted", (*client.Client).DeleteWebhook),
		c.newWebhookCommand("test ID", "send a test to a webhook", "a test is on its way to webhook %d: warpboard webhook log %[1]d", (*client.Client).TestWebhook),
		c.webhookLogCommand(), c.webhookRedeliverCommand())
	return console.CommandGroup(cmd)
}

func (c *connection) webhookListCommand() *cobra.Command {
	var ofSite bool
	cmd := &cobra.Command{Use: "list", Short: "list your webhooks", Args: console.ExactArgs(), Example: "  warpboard webhook list",
		RunE: func(cmd *cobra.Command, _ []string) error {
			site, err := c.site()
			if err != nil {
				return err
			}
			all, err := site.Webhooks(cmd.Context(), ofSite)
			return c.printAnswer(all, err, func(s *console.Screen) {
				s.PrintTable("ID\tEVENTS\tADDRESS\t", len(all), func(i int) []any {
					return []any{all[i].ID, strings.Join(all[i].Events, ","), all[i].URL, all[i].DisabledReason}
				})
			})
		}}
	cmd.Flags().BoolVar(&ofSite, "site", false, "for admins: list the site's webhooks")
	return cmd
}

func (c *connection) webhookCreateCommand() *cobra.Command {
	in := client.NewWebhook{}
	cmd := &cobra.Command{Use: "create ADDRESS", Short: "create a webhook, and print its signing key (only once)", Args: console.ExactArgs("ADDRESS"),
		Example: "  warpboard webhook create https://example.org/warpboard --event run.ended,record.taken",
		RunE: func(cmd *cobra.Command, args []string) error {
			site, err := c.site()
			if err != nil {
				return err
			}
			in.URL = args[0]
			hook, err := site.CreateWebhook(cmd.Context(), in)
			return c.printAnswer(hook, err, func(s *console.Screen) {
				s.PrintLine("webhook %d: %s to %s\nsigning key, shown only once: %s", hook.ID, strings.Join(hook.Events, ","), hook.URL, hook.Secret)
			})
		}}
	cmd.Flags().StringSliceVar(&in.Events, "event", []string{"run.ended", "record.taken"}, "events, separated by commas: run.ended, record.taken, place.lost, comment.added, deadline.near; with --site: run.ended, record.taken, worker.lost, wait.long")
	cmd.Flags().BoolVar(&in.ForWholeSite, "site", false, "for admins: create a webhook of the site, for all runs")
	return cmd
}

// newWebhookCommand returns a command about one webhook whose response has no content. done is the text that it prints.
func (c *connection) newWebhookCommand(
	use, short, done string, do func(*client.Client, context.Context, int64) error,
) *cobra.Command {
	name, _, _ := strings.Cut(use, " ")
	return &cobra.Command{Use: use, Short: short, Args: console.ExactArgs("ID"), Example: "  warpboard webhook " + name + " 3",
		RunE: func(cmd *cobra.Command, args []string) error {
			site, id, err := c.siteAndWebhookID(args[0])
			if err == nil {
				err = do(site, cmd.Context(), id)
			}
			return c.printAnswer(map[string]int64{"id": id}, err, func(s *console.Screen) { s.PrintLine(done, id) })
		}}
}

func (c *connection) webhookLogCommand() *cobra.Command {
	var before int64
	cmd := &cobra.Command{Use: "log ID", Short: "list the deliveries of a webhook, newest first", Args: console.ExactArgs("ID"), Example: "  warpboard webhook log 3",
		RunE: func(cmd *cobra.Command, args []string) error {
			site, id, err := c.siteAndWebhookID(args[0])
			if err != nil {
				return err
			}
			all, err := site.Deliveries(cmd.Context(), id, before)
			return c.printAnswer(all, err, func(s *console.Screen) {
				s.PrintTable("DELIVERY\tEVENT\tSENT\tTRIES\tSTATUS\t", len(all), func(i int) []any {
					d := all[i]
					return []any{d.ID, d.Event, d.CreatedAt.UTC().Format("2006-01-02 15:04:05"), d.Tries, d.Status, d.Error}
				})
			})
		}}
	cmd.Flags().Int64Var(&before, "before", 0, "only deliveries below this number")
	return cmd
}

func (c *connection) webhookRedeliverCommand() *cobra.Command {
	return &cobra.Command{Use: "redeliver ID DELIVERY", Short: "send a delivery again", Args: console.ExactArgs("ID", "DELIVERY"), Example: "  warpboard webhook redeliver 3 17",
		RunE: func(cmd *cobra.Command, args []string) error {
			site, id, err := c.siteAndWebhookID(args[0])
			if err != nil {
				return err
			}
			delivery, err := strconv.ParseInt(args[1], 10, 64)
			if err != nil || delivery <= 0 {
				return console.NewUsageError("%q is not the number of a delivery (warpboard webhook log %d lists them)", args[1], id)
			}
			sent, err := site.Redeliver(cmd.Context(), id, delivery)
			return c.printAnswer(sent, err, func(s *console.Screen) {
				s.PrintLine("delivery %d is being sent again: warpboard webhook log %d", sent.ID, id)
			})
		}}
}

func (c *connection) siteAndWebhookID(text string) (*client.Client, int64, error) {
	id, err := strconv.ParseInt(text, 10, 64)
	if err != nil || id <= 0 {
		return nil, 0, console.NewUsageError("%q is not the number of a webhook (warpboard webhook list lists yours)", text)
	}
	site, err := c.site()
	return site, id, err
}
