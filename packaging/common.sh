# SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck shell=bash
# For the scripts beside this file: where the source tree is, and installing what is missing.

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)

say() { printf '== %s\n' "$*" >&2; }
die() { printf '%s: %s\n' "$(basename "$0")" "$*" >&2; exit 1; }

isInstalled() {
    [ "$(dpkg-query -W -f '${db:Status-Status}' "$1" 2>/dev/null)" = installed ]
}

isKnownToApt() {
    apt-cache policy "$1" 2>/dev/null | grep -q '^  Candidate: [^(]'
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

# missingPackages GROUP...: sets `missing` to the lines of packaging/packages that no installed package meets.
missingPackages() {
    missing=()
    local group names name found
    while read -r group names; do
        case " $* " in *" $group "*) ;; *) continue ;; esac
        found=
        for name in ${names//|/ }; do
            if isInstalled "$name"; then found=1; fi
        done
        case " ${missing[*]-} " in *" $names "*) found=1 ;; esac
        [ -n "$found" ] || missing+=("$names")
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
    local names name chosen wanted=()
    for names in "${missing[@]}"; do
        chosen=
        for name in ${names//|/ }; do
            if [ -z "$chosen" ] && isKnownToApt "$name"; then chosen=$name; fi
        done
        [ -n "$chosen" ] || die "apt knows no package ${names//|/ or }; on Ubuntu it is in 'universe'"
        wanted+=("$chosen")
    done
    apt install --yes --no-install-recommends "${wanted[@]}" || die "apt-get install failed"
}
