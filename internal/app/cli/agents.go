package cli

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"warpboard/internal/app/cli/console"
	"warpboard/web/mcp"
)

// AgentCommands returns the commands that make a site available to agents.
func AgentCommands(env console.Environment, version string) []*cobra.Command {
	c := &connection{env: env}
	serve := c.newCommand(func(c *connection) *cobra.Command {
		return &cobra.Command{Use: "mcp", Short: "run an MCP server (Model Context Protocol) for coding agents, on stdin and stdout", Args: console.ExactArgs(), Annotations: map[string]string{noJSONFlagAnnotation: "1"},
			RunE: func(cmd *cobra.Command, _ []string) error {
				site, err := c.site()
				if err != nil {
					return err
				}
				// The standard output is only for the protocol: no other text may be printed.
				return mcp.ServeStdio(cmd.Context(), site, version, os.Stdin, os.Stdout)
			}}
	})
	return []*cobra.Command{serve, skillCommand(env)}
}

func skillCommand(env console.Environment) *cobra.Command {
	var to string
	cmd := &cobra.Command{Use: "skill", Short: "write instructions for a coding agent into your project", Args: console.ExactArgs(),
		RunE: func(*cobra.Command, []string) error {
			if to == "-" {
				fmt.Fprint(env.Stdout, mcp.Skill())
				return nil
			}
			if err := os.MkdirAll(filepath.Dir(to), 0o777); err != nil {
				return fmt.Errorf("write the instructions: %w", err)
			}
			// O_EXCL: do not overwrite a file that was edited by hand.
			file, err := os.OpenFile(to, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o666)
			if errors.Is(err, fs.ErrExist) {
				return console.NewUsageError("%s exists already: remove it, or name another file with --to", to)
			}
			if err != nil {
				return fmt.Errorf("write the instructions: %w", err)
			}
			defer file.Close()
			if _, err := file.WriteString(mcp.Skill()); err != nil {
				return fmt.Errorf("write the instructions: %w", err)
			}
			fmt.Fprintf(env.Stdout, "wrote %s\n", to)
			return nil
		}}
	withExamples(cmd, cmd.Name())
	cmd.Flags().StringVar(&to, "to", filepath.Join(".claude", "skills", "warpboard", "SKILL.md"), "file to write; - means standard output")
	return cmd
}
