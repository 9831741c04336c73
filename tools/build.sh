# shellcheck shell=bash
# Sourced by ./dev: configuring, building, and running what was built.

JOBS=${JOBS:-$(nproc)}

# configure FLAVOUR (release, asan, tsan, fuzz): build/FLAVOUR by the preset of that name, or with the
# system's compiler where clang 19 is missing.
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

run_cpp_tests() {
    ASAN_OPTIONS=${ASAN_OPTIONS:-detect_stack_use_after_return=1:strict_string_checks=1} \
        UBSAN_OPTIONS=${UBSAN_OPTIONS:-print_stacktrace=1} \
        TSAN_OPTIONS=${TSAN_OPTIONS:-second_deadlock_stack=1} \
        ctest --test-dir "build/$1" --output-on-failure -j "$JOBS"
}

# The packages are installed anew only when the lock file is newer than what is there.
install_e2e_packages() {
    [[ tests/e2e/node_modules/.package-lock.json -nt tests/e2e/package-lock.json ]] ||
        (cd tests/e2e && npm ci --no-progress)
}

run_e2e_tests() {
    install_e2e_packages
    local -a files=(tests/e2e/*.test.mjs)
    WEIR_BIN="$PWD/build/$1/weir" node --test "${files[@]}"
}

# Runs every fuzzer for FUZZ_SECONDS on its corpus; new inputs and crashes stay under build/fuzz/runs.
run_fuzzers() {
    local fuzzer name found=0
    local -a seeds
    for fuzzer in build/fuzz/tests/fuzz_* build/fuzz/tests/fuzz/fuzz_* build/fuzz/fuzz_*; do
        [[ -f $fuzzer && -x $fuzzer ]] || continue
        found=1
        name=$(basename "$fuzzer")
        mkdir -p "build/fuzz/runs/$name"
        seeds=()
        if [[ -d tests/fuzz/corpus/${name#fuzz_} ]]; then seeds=("tests/fuzz/corpus/${name#fuzz_}"); fi
        echo "dev: $name for ${FUZZ_SECONDS:-60} s"
        "$fuzzer" -max_total_time="${FUZZ_SECONDS:-60}" -timeout=10 -rss_limit_mb=2048 \
            -print_final_stats=1 -artifact_prefix="build/fuzz/runs/$name-" \
            "build/fuzz/runs/$name" "${seeds[@]}"
    done
    ((found)) || die "no fuzzer was built: nothing matches build/fuzz/**/fuzz_*"
}
