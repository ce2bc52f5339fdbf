package app

import (
	"context"
	"flag"
	"fmt"
	"os"

	"warpboard/web/mcp"
)

// serveMCP speaks the Model Context Protocol on stdin and stdout for one site.
func serveMCP(ctx context.Context, env Environment, args []string) error {
	var o siteOptions
	fs := flag.NewFlagSet("mcp", flag.ContinueOnError)
	fs.SetOutput(env.Stderr)
	o.flags(fs)
	fs.Usage = func() {
		fmt.Fprint(env.Stderr, "usage: warpboard mcp [flags]\n\n")
		fs.PrintDefaults()
	}
	if err := fs.Parse(args); err != nil {
		return err
	}
	return mcp.ServeStdio(ctx, o.client(fs, env), version(), os.Stdin, os.Stdout)
}
