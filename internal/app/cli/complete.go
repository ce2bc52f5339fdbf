package cli

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"warpboard/internal/app/cli/console"
)

// argumentCompletion returns completions of an argument for a shell.
type argumentCompletion = func(cmd *cobra.Command, args []string, typed string) ([]string, cobra.ShellCompDirective)

// completeFixedWords completes the words of a fixed list.
func completeFixedWords(all ...string) argumentCompletion {
	return func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
		return all, cobra.ShellCompDirectiveNoFileComp
	}
}

// addCompletion adds completion of flag values and arguments to a command and its subcommands.
func (c *connection) addCompletion(cmd *cobra.Command) {
	flags := map[string]argumentCompletion{
		"device": c.completeDevice, "task": c.completeTask, "server": c.completeSite, "mode": completeFixedWords("test", "benchmark", "ranked", "profile", "sanitize"),
		"fail-on": completeFixedWords("never", "failure", "slower"), "format": completeFixedWords("txt", "json", "csv", "ncu-rep", "ptx"), "event": completeFixedWords("run.ended", "record.taken", "worker.lost", "wait.long"),
		"type": completeFixedWords("torch", "torch_cuda", "triton", "cuda", "multi_kernel"), "reference-type": completeFixedWords("torch", "torch_cuda", "triton", "cuda", "multi_kernel"),
	}
	for name, offer := range flags {
		if cmd.LocalFlags().Lookup(name) != nil {
			_ = cmd.RegisterFlagCompletionFunc(name, offer) // fails only for an unknown flag or a second function
		}
	}
	if _, args, _ := strings.Cut(cmd.Use, " "); cmd.ValidArgsFunction == nil && slices.Contains([]string{"ID", "A B", "SUBMISSION"}, args) {
		cmd.ValidArgsFunction = c.completeSubmission
	}
	for _, below := range cmd.Commands() {
		c.addCompletion(below)
	}
}

// completeSubmission completes the latest submissions of the caller. Errors are ignored, as in the functions below,
// because a shell could not show them.
func (c *connection) completeSubmission(
	cmd *cobra.Command, _ []string, _ string,
) (all []string, _ cobra.ShellCompDirective) {
	if site, err := c.site(); err == nil && cmd.Parent().Name() != "webhook" {
		if list, err := site.OwnSubmissions(cmd.Context(), "", 0, 20); err == nil {
			for _, sub := range list.Submissions {
				all = append(all, fmt.Sprintf("%d\t%s %s", sub.ID, console.RemoveControlCharacters(sub.Task), sub.Mode))
			}
		}
	}
	return all, cobra.ShellCompDirectiveNoFileComp
}

func (c *connection) completeTask(cmd *cobra.Command, _ []string, _ string) (all []string, _ cobra.ShellCompDirective) {
	return c.completeBoard(cmd, nil, "")
}

// completePull completes a task of the site, and then a folder.
func (c *connection) completePull(cmd *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
	if len(args) > 0 {
		return nil, cobra.ShellCompDirectiveFilterDirs
	}
	return c.completeBoard(cmd, nil, "")
}

// completeDevice completes a device of --task, or of the site without --task.
func (c *connection) completeDevice(
	cmd *cobra.Command, _ []string, _ string,
) (all []string, _ cobra.ShellCompDirective) {
	if task, err := cmd.Flags().GetString("task"); err == nil && task != "" {
		return c.completeBoard(cmd, []string{task}, "")
	}
	if site, err := c.site(); err == nil {
		if list, err := site.Devices(cmd.Context()); err == nil {
			for _, d := range list {
				all = append(all, console.RemoveControlCharacters(d.Device))
			}
		}
	}
	return all, cobra.ShellCompDirectiveNoFileComp
}

// completeSite completes a name in the config file.
func (c *connection) completeSite(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	cfg, _ := console.ReadSites(c.env.Getenv)
	return slices.Sorted(maps.Keys(cfg.Sites)), cobra.ShellCompDirectiveNoFileComp
}

// completeBoard completes a task of the site, and then a device of the task.
func (c *connection) completeBoard(
	cmd *cobra.Command, args []string, _ string,
) (all []string, _ cobra.ShellCompDirective) {
	site, err := c.site()
	if err != nil || len(args) > 1 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	list, _ := site.Tasks(cmd.Context())
	for _, task := range list {
		if len(args) == 0 {
			all = append(all, console.RemoveControlCharacters(task.Slug))
		} else if task.Slug == args[0] {
			all = task.Devices
		}
	}
	return all, cobra.ShellCompDirectiveNoFileComp
}
