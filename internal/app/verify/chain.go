package verify

import (
	"context"
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"warpboard/internal/app/cli/console"
)

const verifyChainHelp = `Checks the statements that an admin exported from /api/v1/chain: each is signed and follows the one before it.
Exits with 2 if one does not.`

// Chain is `warpboard verify-chain`: it checks an exported chain of statements, line by line. That the chain is the newest, or
// was not cut at its end, only a copy of its head from elsewhere shows: hence the digest in what is printed last.
func Chain(env console.Environment) *cobra.Command {
	var o verifyResultOptions
	cmd := command("verify-chain FILE", "check that an exported chain of results is whole and signed", verifyChainHelp, func(cmd *cobra.Command, path string) error {
		return o.chain(cmd.Context(), env, path)
	})
	cmd.Flags().StringVar(&o.key, "key", "", "file with the site's keys, as /.well-known/warpboard-key.json")
	cmd.Flags().StringVar(&o.site, "site", "", "address of the site that has the keys")
	return cmd
}

func (o *verifyResultOptions) chain(ctx context.Context, env console.Environment, path string) error {
	// The chain's own word on its site does not count: a forged chain names the forger's.
	if (o.key == "") == (o.site == "") {
		return fmt.Errorf("name the trusted keys with --key or --site")
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
		return console.ExitWith(exitForged, "%s: %w", path, err)
	}
	if found.First == 0 {
		return fmt.Errorf("%s holds no statement", path)
	}
	fmt.Fprintf(env.Stdout, "Statements %d to %d are whole and signed. The last one's payload has the SHA-256 %s.\n", found.First, found.Last, found.Head)
	return nil
}
