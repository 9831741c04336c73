# shellcheck shell=bash
# Sourced by ./dev: the container's recipe and the manifests, against linters and schemas.

# The first release with native sidecars, and the newest that the schemas cover.
KUBERNETES_VERSIONS=(1.29.0 1.37.0)

install_linters() {
    local venv=build/lint/venv
    [[ ! $venv/bin/activate -nt tools/lint-requirements.txt ]] || return 0
    python3 -m venv "$venv"
    "$venv/bin/pip" -q --disable-pip-version-check install -r tools/lint-requirements.txt
    touch "$venv/bin/activate"
}

lint_manifests() {
    local bin=build/lint/venv/bin version
    local -a manifests
    yamllint -s -c .yamllint config deploy docker
    "$bin/hadolint" docker/Dockerfile
    mapfile -t manifests < <(grep -lE '^kind: ' deploy/kubernetes/*/*.yaml | grep -v kustomization)
    for version in "${KUBERNETES_VERSIONS[@]}"; do
        "$bin/kubernetes-validate" --quiet --strict -k "$version" "${manifests[@]}"
    done
}
