package verify

import (
	"context"
	"flag"
	"fmt"
	"os"

	"warpboard/app/cli"
)

// Chain is `warpboard verify-chain`: it checks an exported chain of statements, line by line. That the chain is the newest, or
// was not cut at its end, only a copy of its head from elsewhere shows: hence the digest in what is printed last.
func Chain(ctx context.Context, env cli.Environment, args []string) error {
	var o verifyResultOptions
	fs := flag.NewFlagSet("verify-chain", flag.ContinueOnError)
	fs.SetOutput(env.Stderr)
	fs.StringVar(&o.key, "key", "", "file with the site's keys, as /.well-known/warpboard-key.json")
	fs.StringVar(&o.site, "site", "", "address of the site, to ask it for its keys")
	fs.Usage = func() {
		fmt.Fprint(env.Stderr, "usage: warpboard verify-chain FILE --key FILE|--site URL\n\n"+
			"Checks the statements that an admin exported from /api/v1/chain: each is signed and follows the one before it.\n"+
			"Exits with 2 if one does not.\n\n")
		fs.PrintDefaults()
	}
	path, err := parseWithFile(fs, args)
	if err != nil {
		return err
	}
	// The chain's own word on its site does not count: a forged chain names the forger's.
	if (o.key == "") == (o.site == "") {
		return fmt.Errorf("say whose keys count: with --key or with --site")
	}
	keys, _, err := o.keys(ctx, nil)
	if err != nil {
		return err
	}
	file, err := os.Open(path)
	if err != nil {
		return fmt.Errorf("read the chain: %w", err)
	}
	defer file.Close()
	found, err := keys.CheckChain(ctx, file)
	if err != nil {
		return cli.ExitWith(exitForged, "%s: %w", path, err)
	}
	if found.First == 0 {
		return fmt.Errorf("%s holds no statement", path)
	}
	fmt.Fprintf(env.Stdout, "Statements %d to %d are whole and signed. The last one's payload has the SHA-256 %s.\n", found.First, found.Last, found.Head)
	return nil
}
