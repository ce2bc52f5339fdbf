package verify

import (
	"context"
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"warpboard/internal/app/cli/console"
)

const verifyChainHelp = `Checks the statements that an admin exported from /api/v1/chain: each must be signed and follow the previous one.
Exits with 2 if one is not signed or does not follow.`

// Chain is `warpboard verify-chain`: it checks an exported chain of statements, line by line. That the chain is the newest, or
// was not cut at its end, only a copy of its head from elsewhere shows: hence the digest in what is printed last.
func Chain(env console.Environment) *cobra.Command {
	var o verifyResultOptions
	cmd := command("verify-chain FILE", "check that an exported chain of results is complete and signed", verifyChainHelp, func(cmd *cobra.Command, path string) error {
		return o.chain(cmd.Context(), env, path)
	})
	cmd.Flags().StringVar(&o.key, "key", "", "file with the site's keys, as at /.well-known/warpboard-key.json")
	cmd.Flags().StringVar(&o.site, "site", "", "address of the site whose keys to use")
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
	fmt.Fprintf(env.Stdout, "Statements %d to %d are complete and signed. The payload of the last one has the SHA-256 %s.\n", found.First, found.Last, found.Head)
	return nil
}
