package cli

import "github.com/spf13/cobra"

// commandExamples are examples for the help of commands, by the path below warpboard. A test checks their flags and
// arguments.
var commandExamples = map[string]string{
	"login": `  warpboard login https://boards.example.org
  warpboard login https://lab.example.org --name lab`,
	"auth": `  warpboard auth status
  warpboard auth tokens`,
	"join": `  warpboard join wbi_…
  warpboard join https://boards.example.org/join/wbi_…`,
	"leave": `  warpboard leave vectoradd-cpp`,
	"tasks": `  warpboard tasks
  warpboard tasks --jq '.[].slug'`,
	"submit": `  warpboard submit kernel.cu --task vectoradd-cuda --mode ranked --watch
  warpboard submit kernel.cu tile.cuh --device h200
  generate | warpboard submit - --task vectoradd-cuda`,
	"watch": `  warpboard watch 16
  warpboard watch 16 --jq '.runs[].score_ns'`,
	"board": `  warpboard board vectoradd-cuda h200
  warpboard board vectoradd-cuda h200 --page 2`,
	"runs": `  warpboard runs --limit 5
  warpboard runs --task vectoradd-cuda --json`,
	"budget": `  warpboard budget`,
	"show": `  warpboard show 16
  warpboard show 16 --jq '.runs[0].failure.reason'`,
	"source":  `  warpboard source 16`,
	"cancel":  `  warpboard cancel 16`,
	"profile": `  warpboard profile get 16`,
	"profile get": `  warpboard profile get 16
  warpboard profile get 16 --device h200 --format ncu-rep --output kernel.ncu-rep`,
	"compare": `  warpboard compare 16 17
  warpboard compare 16 17 --device h200 --jq .ratio.value`,
	"evaluate": `  warpboard evaluate kernel.py --device h200
  warpboard evaluate fused.py --reference softmax.py
  warpboard evaluate kernel.cu --io kernel.json --trials 200`,
	"webhook": `  warpboard webhook list`,
	"devices": `  warpboard devices`,
	"task": `  warpboard task pull vectoradd-cuda
  warpboard task publish vectoradd-cuda --dry-run`,
	"task show": `  warpboard task show vectoradd-cuda`,
	"task pull": `  warpboard task pull vectoradd-cuda
  warpboard task pull vectoradd-cuda mine`,
	"task publish": `  warpboard task publish vectoradd-cuda --dry-run
  warpboard task publish vectoradd-cuda --device H200,B200 --deadline 2030-01-31T18:00:00Z`,
	"task validate": `  warpboard task validate softmax-torch`,
	"task sync": `  warpboard task sync problems
  warpboard task sync problems --apply`,
	"ci": `  warpboard ci --base origin/main
  warpboard ci kernels --base origin/main --fail-on failure --summary summary.md`,
	"mcp": `  warpboard mcp --server https://boards.example.org`,
	"skill": `  warpboard skill
  warpboard skill --to -`,
}

// withExamples adds examples to a command and its subcommands.
func withExamples(cmd *cobra.Command, path string) {
	if cmd.Example == "" {
		cmd.Example = commandExamples[path]
	}
	for _, below := range cmd.Commands() {
		withExamples(below, path+" "+below.Name())
	}
}
