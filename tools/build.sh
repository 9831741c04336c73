# shellcheck shell=bash
# Sourced by ./dev: configuring, building, and running what was built.

JOBS=${JOBS:-$(nproc)}

# configure FLAVOUR (release, package, asan, tsan, fuzz): build/FLAVOUR by the preset of that name, or
# with the system's compiler where clang 19 is missing.
configure() {
    local flavour=$1
    local -a flags=()
    [[ ! -f build/$flavour/build.ninja ]] || return 0
    if command -v clang++-19 >/dev/null; then
        cmake --preset "$flavour"
        return
    fi
    case "$flavour" in
    release) ;;
    package) flags=(-DWEIR_TESTS=OFF) ;;
    asan) flags=(-DCMAKE_BUILD_TYPE=Debug "-DWEIR_SANITIZE=address,undefined") ;;
    tsan) flags=(-DCMAKE_BUILD_TYPE=Debug -DWEIR_SANITIZE=thread) ;;
    *) die "$flavour needs clang 19" ;;
    esac
    cmake --preset system -B "build/$flavour" "${flags[@]}"
}

# build FLAVOUR [target...]
build() {
    local flavour=$1
    shift
    configure "$flavour"
    local -a targets=()
    if (($# > 0)); then targets=(--target "$@"); fi
    cmake --build "build/$flavour" -j "$JOBS" "${targets[@]}"
}

# The Debian package, from a build folder without tests.
build_package() {
    build package weir
    rm -f build/package/*.deb
    (cd build/package && umask 022 && cpack)
}

run_cpp_tests() {
    ASAN_OPTIONS=${ASAN_OPTIONS:-detect_stack_use_after_return=1:strict_string_checks=1} \
        UBSAN_OPTIONS=${UBSAN_OPTIONS:-print_stacktrace=1} \
        TSAN_OPTIONS=${TSAN_OPTIONS:-second_deadlock_stack=1} \
        ctest --test-dir "build/$1" --output-on-failure -j "$JOBS"
}

# The packages are installed anew only when the lock file is newer than what is there.
install_e2e_packages() {
    [[ ! tests/e2e/node_modules/.package-lock.json -nt tests/e2e/package-lock.json ]] || return 0
    local -a flags=(--no-progress)
    # Anvil's package for x86_64 is a plain dependency, because npm leaves optional ones out under
    # Node 18; elsewhere npm has to be told to overlook it.
    [[ $(uname -m) == x86_64 ]] || flags+=(--force)
    (cd tests/e2e && npm ci "${flags[@]}")
}

run_e2e_tests() {
    install_e2e_packages
    local -a flags=()
    # The tests wait more than they work; older releases of Node run file after file.
    if node --help | grep -q -- --test-concurrency; then flags+=(--test-concurrency=4); fi
    WEIR_BIN="$PWD/build/$1/weir" node --test "${flags[@]}" tests/e2e/*.test.mjs
}

# What a test does in seconds, for longer.
run_fault_soak() {
    WEIR_SOAK_SECONDS=${SOAK_SECONDS:-600} build/release/tests/integration '[soak]'
}

# What a test does with few writes, with many.
run_fault_tally() {
    WEIR_FAULT_WRITES=${FAULT_WRITES:-10000} build/release/tests/integration '[tally]'
}

# A process that stands still for a while, for longer.
run_standstill() {
    WEIR_PAUSE_SECONDS=${PAUSE_SECONDS:-30} build/release/tests/integration '[pause]'
}

# Runs every fuzzer for FUZZ_SECONDS on its corpus; new inputs and crashes stay under build/fuzz/runs.
run_fuzzers() {
    local fuzzer name
    local -a fuzzers seeds
    mapfile -t fuzzers <<<"$(find build/fuzz -type f -executable -name 'fuzz_*' | sort)"
    [[ -n ${fuzzers[0]} ]] || die "build/fuzz holds no fuzzer (an executable named fuzz_*)"
    for fuzzer in "${fuzzers[@]}"; do
        name=$(basename "$fuzzer")
        mkdir -p "build/fuzz/runs/$name"
        seeds=()
        if [[ -d tests/fuzz/corpus/${name#fuzz_} ]]; then seeds=("tests/fuzz/corpus/${name#fuzz_}"); fi
        echo "dev: $name for ${FUZZ_SECONDS:-60} s"
        "$fuzzer" -max_total_time="${FUZZ_SECONDS:-60}" -timeout=10 -rss_limit_mb=2048 \
            -print_final_stats=1 -artifact_prefix="build/fuzz/runs/$name-" \
            "build/fuzz/runs/$name" "${seeds[@]}"
    done
}
