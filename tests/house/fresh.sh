#!/usr/bin/env bash
# Both commands of the README in a minimal Debian 12 root with nothing installed: fresh.sh [ARGS of ctest, such as -L unit]
# Needs root, debootstrap and the network; takes as long as a first build does, or, where STET_FRESH_CCACHE names a directory
# of ccache's with objects of this commit, as long as its tests do. Leaves nothing behind.
set -euo pipefail
here=$(cd "$(dirname "$0")/../.." && pwd)
root=$(mktemp -d /var/tmp/stet-fresh.XXXXXX)
trap 'rm -rf --one-file-system "$root"' EXIT

printf -v arguments ' %q' "$@"
chmod 755 "$root"  # PostgreSQL runs as a user of its own
debootstrap --variant=minbase bookworm "$root" >/dev/null
git clone -q "$here" "$root/stet"
mkdir -p "$root/root/.cache/ccache"
cat >"$root/try" <<'EOT'
set -eu
cd /stet
./dev run >/tmp/run.log 2>&1 &
pid=$!
for _ in $(seq 1500); do
  grep -q 'curl -i http' /tmp/run.log && break
  kill -0 $pid || { cat /tmp/run.log; exit 1; }
  sleep 1
done
charge() { curl -sS -i -X POST http://127.0.0.1:8080/charges -H 'Idempotency-Key: fresh-1' -H 'Content-Type: application/json' -d '{"amount":4900}'; }
charge | grep -i '^stet-outcome: completed'
charge | grep -i '^idempotent-replayed: true'
kill -TERM $pid
wait $pid || true
EOT
[ $# -gt 0 ] || arguments=
echo "./dev test$arguments" >>"$root/try"
# Its own mount namespace: what is mounted for the build goes with it, whatever happens.
unshare --mount --pid --fork --kill-child bash -euc '
  mount --bind /dev "$1/dev"
  mount -t proc proc "$1/proc"
  mount -t tmpfs tmpfs "$1/tmp"
  [ -z "$2" ] || mount --bind "$2" "$1/root/.cache/ccache"
  exec chroot "$1" /usr/bin/env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root bash /try' fresh "$root" "${STET_FRESH_CCACHE:-}"
echo "dev fresh: both commands work on a machine with nothing installed"
