// Warpboard is a self-hosted leaderboard for GPU kernels: a web site, an evaluator and their queue in one binary.
package main

import "warpboard/internal/app"

func main() { app.Main() }
