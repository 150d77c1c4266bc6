# SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck shell=bash
# For the scripts beside this file: where the source tree is, and installing what is missing.

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)

say() { printf '== %s\n' "$*" >&2; }
die() { printf '%s: %s\n' "$(basename "$0")" "$*" >&2; exit 1; }

isInstalled() {
    [ "$(dpkg-query -W -f '${db:Status-Status}' "$1" 2>/dev/null)" = installed ]
}

# As root; a user needs sudo. Environment set here, since sudo drops ours.
apt() {
    local command=(env DEBIAN_FRONTEND=noninteractive apt-get -o DPkg::Lock::Timeout=300 -qq "$@")
    if [ "$(id -u)" -eq 0 ]; then
        "${command[@]}" >&2 </dev/null
    elif command -v sudo >/dev/null; then
        sudo "${command[@]}" >&2
    else
        die "not root and no sudo here; as root: apt-get install --no-install-recommends ${missing[*]}"
    fi
}

# missingPackages GROUP...: sets `missing` to what is not installed of these groups of packaging/packages.
missingPackages() {
    missing=()
    local group name
    while read -r group name; do
        case " $* " in *" $group "*) ;; *) continue ;; esac
        case " ${missing[*]-} " in *" $name "*) continue ;; esac
        isInstalled "$name" || missing+=("$name")
    done < <(grep -v '^#' "$root/packaging/packages")
}

# requirePackages GROUP...: installs what is missing of these groups; leaves apt alone when nothing is.
requirePackages() {
    command -v dpkg-query >/dev/null || die "this installs Debian or Ubuntu packages; elsewhere, see packaging/packages and the presets"
    local missing
    missingPackages "$@"
    [ ${#missing[@]} -gt 0 ] || return 0
    say "installing: ${missing[*]}"
    apt update || die "apt-get update failed"
    apt install --yes --no-install-recommends "${missing[@]}" || die "apt-get install failed (on Ubuntu some packages are in 'universe')"
}
