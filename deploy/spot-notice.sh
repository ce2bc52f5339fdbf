#!/bin/sh
# spot-notice.sh FILE: asks the metadata of a rented machine every few seconds whether it is taken away (AWS, Google Cloud, Azure),
# and writes when into FILE, for warpboard work --notice-file FILE. It ends then. Beside the worker, as the same user:
#   spot-notice.sh /run/warpboard-notice &
set -u
file=$1
at=${METADATA:-http://169.254.169.254}
get() { curl --silent --fail --max-time 2 "$@"; }
rm -f "$file" # of a machine that came back
while [ ! -e "$file" ]; do
    token=$(get -X PUT -H 'X-aws-ec2-metadata-token-ttl-seconds: 60' "$at/latest/api/token")
    when=$(get -H "X-aws-ec2-metadata-token: $token" "$at/latest/meta-data/spot/instance-action" | grep -o '20[0-9-]*T[0-9:]*Z')
    # The others say that the machine goes, which takes 30 s, and some of these have passed.
    if get -H 'Metadata-Flavor: Google' "$at/computeMetadata/v1/instance/preempted" | grep -q TRUE; then when=25s; fi
    if get -H 'Metadata: true' "$at/metadata/scheduledevents?api-version=2020-07-01" | grep -q '"Preempt"'; then when=25s; fi
    if [ -n "$when" ]; then
        echo "$when" > "$file.new" && mv "$file.new" "$file"
    else
        sleep "${EVERY:-5}"
    fi
done
