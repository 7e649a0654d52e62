#!/usr/bin/env bash
# Builds the service's image with buildah.
#
#   deploy/build.sh [--base-from-debootstrap [--pin]] [--tag TAG] [buildah's options, such as --build-arg BASE=...]
#
# --base-from-debootstrap also makes the base, from the Debian mirror that apt uses, for hosts without a registry; it
# needs root and debootstrap, and refuses packages other than deploy/base-packages.txt says. --pin writes that file anew.
# buildah reads BUILDAH_ISOLATION, STORAGE_DRIVER and CONTAINERS_STORAGE_CONF.
set -euo pipefail
cd "$(dirname "$0")/.."

SUITE=bookworm
TAG=parcel-service:latest
BASE=localhost/parcel-service-base:$SUITE
PACKAGES=deploy/base-packages.txt
PIN=
# The time of every file: the same commit on the same base gives the same image.
export SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct)}
WORK=$(mktemp -d)
trap 'rm -rf "$WORK"' EXIT

# apt's own archives of a suite and its updates, as lines of a sources.list.
archives() {
    # shellcheck disable=SC2016 # apt-get fills them in
    apt-get indextargets --format 'deb $(REPO_URI) $(RELEASE) $(COMPONENT)' 'Created-By: Packages' 'Origin: Debian' |
        grep -E " $SUITE(-updates|-security)? main\$" | sort -u
}

# Commit a folder as an image.
commit() {
    local container
    container=$(buildah from scratch)
    buildah add --quiet "$container" "$1" / >/dev/null
    buildah commit --quiet --rm --timestamp "$SOURCE_DATE_EPOCH" "$container" "$2" >/dev/null
}

# Debian with Python as BASE; the same with Python's venv module as BASE-build.
make_bases() {
    local root=$WORK/base
    archives >"$WORK/sources.list"
    debootstrap --variant=minbase --include=python3-minimal,python3,ca-certificates "$SUITE" "$root" \
        "$(awk -v suite="$SUITE" '$3 == suite { print $2; exit }' "$WORK/sources.list")" >"$WORK/debootstrap.log" ||
        { tail "$WORK/debootstrap.log" >&2; exit 1; }
    in_base upgrade
    strip_base "$root"
    commit "$root" "$BASE"
    in_base install --no-install-recommends python3-venv
    check_packages "$root"
    commit "$root" "$BASE-build"
}

# Compare the packages of both bases with those that are pinned.
check_packages() {
    dpkg-query --admindir="$1/var/lib/dpkg" --show >"$WORK/packages"
    [ -z "$PIN" ] || cp "$WORK/packages" "$PACKAGES"
    diff --unified=0 "$PACKAGES" "$WORK/packages" >&2 ||
        { echo "The base differs from $PACKAGES: see what changed, then build with --pin and commit that file." >&2; exit 1; }
}

# Run an apt-get command in the base, with fresh package lists.
in_base() {
    cp "$WORK/sources.list" "$WORK/base/etc/apt/"
    cp --dereference /etc/resolv.conf "$WORK/base/etc/"
    for command in update "$*"; do
        # shellcheck disable=SC2086 # the command's words
        DEBIAN_FRONTEND=noninteractive chroot "$WORK/base" apt-get -qq $command </dev/null >>"$WORK/apt.log" 2>&1 ||
            { tail "$WORK/apt.log" >&2; exit 1; }
    done
}

# Remove package lists, downloads, manuals and translations, and what is this host's or moment's. Compiled files are not
# compared with their sources, which get other times.
strip_base() {
    rm -rf "$1"/var/cache/{apt,debconf,ldconfig}/* "$1"/var/lib/apt/lists/* "$1"/var/log/* "$1"/etc/apt/sources.list \
        "$1"/etc/{hostname,machine-id,resolv.conf} "$1"/usr/share/{doc,man,info,locale,lintian}/*
    PYTHONHASHSEED=0 chroot "$1" python3 -m compileall -q -f --invalidation-mode unchecked-hash /usr/lib/python3* /usr/share/python3
}

# Pass this machine's package index and certificates as build secrets, which stay out of the image.
pip_secrets() {
    local certificates=${PIP_CERT:-${SSL_CERT_FILE:-/etc/ssl/certs/ca-certificates.crt}}
    {
        echo '[global]'
        python3 -m pip config get global.index-url 2>/dev/null | sed 's/^/index-url = /' || true
        [ ! -f "$certificates" ] || echo 'cert = /run/secrets/certificates'
    } >"$WORK/pip.conf"
    [ -f "$certificates" ] || certificates=/dev/null
    echo "--secret=id=pip,src=$WORK/pip.conf" "--secret=id=certificates,src=$certificates"
}

options=()
while [ $# -gt 0 ]; do
    case $1 in
        --base-from-debootstrap)
            [ "${2:-}" != --pin ] || { PIN=yes && shift; }
            make_bases
            options+=(--build-arg "BASE=$BASE" --build-arg "BUILD_BASE=$BASE-build")
            ;;
        --tag) TAG=$2 && shift ;;
        *) options+=("$1") ;;
    esac
    shift
done

read -ra secrets <<<"$(pip_secrets)"
buildah build --file deploy/Containerfile --tag "$TAG" --timestamp "$SOURCE_DATE_EPOCH" \
    "${secrets[@]}" "${options[@]}" .
