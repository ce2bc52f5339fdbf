#!/bin/bash
# A worker as a Slurm job, gone after ten idle minutes: sbatch --export=ALL deploy/slurm.sh, with WARPBOARD_JOIN (a token from
# /operate) and WARPBOARD_SITE in the environment. Slurm signals two minutes before the end, and at once when it pre-empts the
# job: the worker then hands back what past runs say will not end within --grace, and the rest after it. Where the partition's
# GraceTime is shorter, --grace must be, too. Without root all sandboxes have this user's id; the worker says so.
#SBATCH --job-name=warpboard-worker
#SBATCH --gpus=1
#SBATCH --cpus-per-task=8
#SBATCH --mem=64G
#SBATCH --time=08:00:00
#SBATCH --signal=TERM@120
set -euo pipefail
data=$(mktemp -d "${SLURM_TMPDIR:-/tmp}/warpboard-XXXXXX")
trap 'rm -rf "$data"' EXIT
srun warpboard work --data "$data" --cpu-slots 0 --idle-exit 10m --grace 90s
