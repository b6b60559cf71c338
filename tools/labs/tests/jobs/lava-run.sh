#!/bin/sh
# Runs lava-run from Debian's lava-dispatcher without a service, and passes on all arguments.
here=$(cd "$(dirname "$0")" && pwd) || exit 2
export PYTHONPATH="$here/stubs:$here/root/usr/lib/python3/dist-packages"
if [ "$1" = --in-namespace ]; then
    shift
    private=$1
    shift
    mount --rbind /var/lib "$private" && mount -t tmpfs lava /var/lib || exit 2
    for entry in "$private"/*; do
        ln -s "$entry" /var/lib/ || exit 2
    done
    rm -f /var/lib/lava
    mkdir /var/lib/lava || exit 2
    exec "$here/venv/bin/python" "$here/root/usr/bin/lava-run" \
        --dispatcher "$here/dispatcher.yaml" "$@"
fi
if [ "$(id -u)" = 0 ]; then user=; else user=--map-root-user; fi
if unshare $user --mount true 2>/dev/null; then
    private=$(mktemp -d) || exit 2
    unshare $user --mount "$0" --in-namespace "$private" "$@"
    code=$?
    rmdir "$private"
    exit $code
fi
if [ -z "$user" ]; then
    exec "$here/venv/bin/python" "$here/root/usr/bin/lava-run" \
        --dispatcher "$here/dispatcher.yaml" "$@"
fi
echo "lava-run: root, or a user namespace, is needed" >&2
exit 2
