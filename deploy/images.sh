#!/bin/sh
# images.sh prints the images of these recipes as lines for .env, with the digests that their tags have now. A tag can be given to
# another image at any time; a digest cannot. Run it again to update them.
set -eu
pin() { echo "$1=$2@$(docker buildx imagetools inspect "$2" --format '{{.Manifest.Digest}}')"; }
pin GO_IMAGE docker.io/library/golang:1.26-bookworm
pin BASE_IMAGE docker.io/library/debian:bookworm-slim
pin POSTGRES_IMAGE docker.io/library/postgres:17
pin NATS_IMAGE docker.io/library/nats:2
