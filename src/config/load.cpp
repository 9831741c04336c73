#include "config/load.hpp"

#include "config/document.hpp"
#include "config/endpoint.hpp"
#include "config/files.hpp"
#include "config/kinds.hpp"
#include "config/reading.hpp"
#include "config/rules.hpp"
#include "config/schema.hpp"
#include "core/hex.hpp"

namespace weir::config {
namespace {

Path flag(std::string name) { return {name, name}; }

std::optional<Endpoint> read_endpoint(Reading& reading, const Path& path,
                                      const std::string& value) {
    const auto text = reading.text(path, value, Exposure::shown);
    if (!text) {
        return std::nullopt;
    }
    auto endpoint = parse_endpoint(text->value);
    if (!endpoint) {
        reading.problem(path, endpoint.error().message);
        return std::nullopt;
    }
    return std::move(*endpoint);
}

void read_addresses(Reading& reading, const Flags& flags, Config& config) {
    std::vector<Endpoint> listen;
    for (std::size_t i = 0; i < flags.listen.size(); ++i) {
        const Path path = flag("--listen");
        const Path here = flags.listen.size() > 1 ? path.item(i) : path;
        if (auto endpoint = read_endpoint(reading, here, flags.listen[i])) {
            listen.push_back(std::move(*endpoint));
        }
    }
    if (!listen.empty()) {
        config.server.listen = std::move(listen);
    }
    if (flags.admin) {
        if (auto endpoint = read_endpoint(reading, flag("--admin"), *flags.admin)) {
            config.admin.listen = std::move(*endpoint);
        }
    }
}

std::uint64_t read_chain_id(Reading& reading, const Flags& flags) {
    const Path path = flag("--chain-id");
    if (!flags.chain_id) {
        reading.problem(path, "is missing");
        return 0;
    }
    const auto text = reading.text(path, *flags.chain_id, Exposure::shown);
    const auto id = text ? core::parse_decimal(text->value) : std::nullopt;
    if (text && id.value_or(0) == 0) {
        reading.problem(path, "must be a whole number, 1 or more");
    }
    return id.value_or(0);
}

Chain read_chain(Reading& reading, const Flags& flags) {
    Chain chain;
    chain.chain_id = read_chain_id(reading, flags);
    if (flags.upstreams.empty()) {
        reading.problem(flag("--upstream"), "is missing");
    }
    for (std::size_t i = 0; i < flags.upstreams.size(); ++i) {
        const Path path = flag("--upstream").item(i);
        Upstream upstream;
        const auto text = reading.text(path, flags.upstreams[i], Exposure::shown);
        if (text) {
            if (auto url = read_url(reading, path, *text)) {
                upstream.url = std::move(*url);
            }
        }
        chain.upstreams.push_back(std::move(upstream));
    }
    return chain;
}

enum class Files { unread, read };

constexpr const char* kProvidersFile = "providers_file";

// The operator's profiles where there are some and files may be read, else the built-in ones.
Providers read_providers(Reading& reading, const std::string& path, Files files) {
    if (path.empty() || files == Files::unread) {
        return built_in_providers();
    }
    const auto text = read_file(path, FileKind::regular, kMaxFileBytes);
    if (!text) {
        reading.problem(kProvidersFile, text.error().message);
        return {};
    }
    ProvidersResult loaded = load_providers(*text, kProvidersFile);
    if (!loaded) {
        for (const Problem& problem : loaded.error()) {
            reading.problem(problem.path, problem.what);
        }
        return {};
    }
    return std::move(*loaded);
}

bool gives_chain(const Flags& flags) { return flags.chain_id || !flags.upstreams.empty(); }

// Adds what the flags say to what the file said, and judges the whole.
void complete(Reading& reading, const Flags& flags, Files files, Config& config) {
    Origin origin;
    origin.listen = flags.listen.empty() ? origin.listen : "--listen";
    origin.admin = flags.admin ? "--admin" : origin.admin;
    read_addresses(reading, flags, config);
    if (gives_chain(flags)) {
        origin.flag_chain = config.chains.size();
        config.chains.push_back(read_chain(reading, flags));
    }
    if (!reading.has_problems()) {  // a name that was refused is not one that was left out
        fill_names(config);
    }
    config.providers = read_providers(reading, config.providers_file, files);
    if (!config.providers.profiles.empty()) {
        fill_providers(config, reading);
    }
    judge(config, origin, reading);
    gather_tokens(config);
}

void read_document(Reading& reading, std::string_view yaml, const Flags& flags, Config& config) {
    const auto document = parse_document(yaml);
    if (!document) {
        reading.problem(document.error().path, document.error().what);
        return;
    }
    if ((*document)->kind == Node::Kind::null) {
        reading.problem("", "the file holds no configuration");
        return;
    }
    if ((*document)->kind != Node::Kind::map) {
        reading.problem("", "the file must be a map of keys to values");
        return;
    }
    const Need chains = gives_chain(flags) ? Need::optional : Need::required;
    read_section(file_section(chains), reading, Path{}, **document, config);
}

LoadResult load_text(std::string_view yaml, const Environment& environment, const Flags& flags,
                     Files files) {
    Reading reading(environment);
    Config config;
    read_document(reading, yaml, flags, config);
    complete(reading, flags, files, config);
    if (files == Files::read) {
        judge_files(config, reading);
    }
    if (reading.has_problems()) {
        return reading.take_problems();
    }
    config.secrets = reading.take_secrets();
    return config;
}

}  // namespace

LoadResult load(std::string_view yaml, const Environment& environment, const Flags& flags) {
    return load_text(yaml, environment, flags, Files::unread);
}

LoadResult from_flags(const Flags& flags, const Environment& environment) {
    Reading reading(environment);
    Config config;
    complete(reading, flags, Files::unread, config);
    if (config.chains.empty()) {
        reading.problem("--chain-id", "is missing");
    }
    if (reading.has_problems()) {
        return reading.take_problems();
    }
    config.secrets = reading.take_secrets();
    return config;
}

LoadResult load_file(const std::string& path, const Environment& environment, const Flags& flags,
                     FileKind kind) {
    const auto text = read_file(path, kind, kMaxFileBytes);
    if (!text) {
        return std::vector<Problem>{{path, text.error().message}};
    }
    return load_text(*text, environment, flags, Files::read);
}

core::Result<Endpoint, Problem> load_endpoint(const std::string& name, const std::string& value,
                                              const Environment& environment) {
    Reading reading(environment);
    auto endpoint = read_endpoint(reading, flag(name), value);
    if (!endpoint) {
        return reading.take_problems().front();
    }
    return std::move(*endpoint);
}

}  // namespace weir::config
