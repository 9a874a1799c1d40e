#!/usr/bin/env bash
# Both commands of the README in a minimal Debian 12 root with nothing installed: fresh.sh [ARGS of ctest, such as -L unit]
# Needs root, debootstrap and the network; takes as long as a first build does, or, where STET_FRESH_CCACHE names a directory
# of ccache's with objects of this commit, as long as its tests do. Leaves nothing behind.
set -euo pipefail
here=$(cd "$(dirname "$0")/../.." && pwd)

# Mounts and processes of its own: whatever is mounted (by debootstrap, too) and started goes with it, whatever happens.
if [ "${1:-}" != inside ]; then exec unshare --mount --pid --fork --kill-child "$0" inside "$@"; fi
shift
root=$(mktemp -d /var/tmp/stet-fresh.XXXXXX)
mount --bind "$root" "$root"
trap 'umount -lR "$root"; rm -rf --one-file-system "$root"' EXIT

chmod 755 "$root"  # PostgreSQL runs as a user of its own
debootstrap --variant=minbase bookworm "$root" >/dev/null
git clone -q "$here" "$root/stet"
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
./dev test "$@"
EOT
mount --bind /dev "$root/dev"
mountpoint -q "$root/proc" || mount -t proc proc "$root/proc"
mount -t tmpfs tmpfs "$root/tmp"
if [ -n "${STET_FRESH_CCACHE:-}" ]; then
  mkdir -p "$root/root/.cache/ccache"
  mount --bind "$STET_FRESH_CCACHE" "$root/root/.cache/ccache"
fi
chroot "$root" /usr/bin/env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root bash /try "$@"
echo "dev fresh: both commands work on a machine with nothing installed"
