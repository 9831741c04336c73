# shellcheck shell=bash
# Sourced by ./dev: which Debian or Ubuntu packages each task needs, and installing the missing ones.

die() {
    printf 'dev: %s\n' "$*" >&2
    exit 1
}

# One package a line; `a|b` means whichever of them this system offers, first choice first;
# `name>=version` must be at least that version.
packages_of() {
    case "$1" in
    build)
        cat <<'LIST'
ca-certificates
cmake
ninja-build
g++
ccache
clang-19
libclang-rt-19-dev
libboost1.81-dev|libboost1.83-dev|libboost-dev>=1.81
libsimdjson-dev
libspdlog-dev
libyaml-cpp-dev
prometheus-cpp-dev
libssl-dev
libcrypto++-dev
zlib1g-dev
catch2
LIST
        ;;
    demo) echo curl ;;
    test)
        # The status page is looked at in a browser, the alert rules are judged by Prometheus itself,
        # and one test sets the program's clock.
        printf '%s\n' openssl curl 'chromium|chromium-browser' prometheus faketime
        # Node may come from elsewhere than the distribution.
        node_is_usable || echo 'nodejs>=18'
        command -v npm >/dev/null || echo npm
        ;;
    package) printf '%s\n' dpkg-dev file ;;
    lint) printf '%s\n' clang-tidy-19 clang-format-19 python3 python3-venv shellcheck yamllint ;;
    bench) printf '%s\n' nginx-light haproxy ;;
    *) die "unknown package group: $1" ;;
    esac
}

node_is_usable() {
    local version
    version=$(node --version 2>/dev/null) || return 1
    version=${version#v}
    ((${version%%.*} >= 18))
}

# Is one alternative (`name` or `name>=version`) satisfied by the version given, empty for none?
version_fits() {
    local wanted=$1 version=$2
    [[ -n $version && $version != "(none)" ]] || return 1
    [[ $wanted != *">="* ]] || dpkg --compare-versions "$version" ge "${wanted#*>=}"
}

installed() {
    local wanted=$1 state
    # shellcheck disable=SC2016  # the ${...} are dpkg-query's
    state=$(dpkg-query -W -f='${db:Status-Abbrev} ${Version}' "${wanted%%>=*}" 2>/dev/null) || return 1
    [[ $state == "ii "* ]] && version_fits "$wanted" "${state##* }"
}

offered() {
    local wanted=$1
    version_fits "$wanted" \
        "$(LC_ALL=C apt-cache policy "${wanted%%>=*}" 2>/dev/null | awk '$1 == "Candidate:" {print $2}')"
}

any_of() {
    local test=$1 alternative
    local -a alternatives
    IFS='|' read -ra alternatives <<<"$2"
    for alternative in "${alternatives[@]}"; do
        if "$test" "$alternative"; then
            echo "${alternative%%>=*}"
            return 0
        fi
    done
    return 1
}

as_root() {
    if ((EUID == 0)); then
        "$@"
    elif command -v sudo >/dev/null; then
        sudo "$@"
    else
        die "need root (or sudo) for: $*"
    fi
}

# install_packages GROUP...: does nothing, and asks no server, when everything is there.
install_packages() {
    if ! command -v dpkg-query >/dev/null; then
        echo "dev: not a Debian system; expecting the tools and libraries of tools/packages.sh" >&2
        return 0
    fi
    local group wanted entry name
    local -a missing=() names=()
    for group in "$@"; do
        wanted=$(packages_of "$group")
        for entry in $wanted; do
            any_of installed "$entry" >/dev/null || missing+=("$entry")
        done
    done
    ((${#missing[@]} > 0)) || return 0

    echo "dev: installing ${missing[*]}" >&2
    as_root apt-get update -qq
    for entry in "${missing[@]}"; do
        if name=$(any_of offered "$entry"); then
            names+=("$name")
        elif [[ $entry == *clang* ]]; then
            echo "dev: this system has no $entry; going on with its own compiler" >&2
        else
            die "this system offers none of: ${entry//|/, }"
        fi
    done
    ((${#names[@]} == 0)) ||
        as_root env DEBIAN_FRONTEND=noninteractive \
            apt-get install -y -qq --no-install-recommends "${names[@]}" >&2
}
