#include "app/reload.hpp"

#include "server/json_writer.hpp"

#include <utility>

namespace weir::app {
namespace {

std::string joined(const std::vector<std::string>& names) {
    std::string all;
    for (const std::string& name : names) {
        all += (all.empty() ? "" : ", ") + name;
    }
    return all;
}

void write_names(server::JsonWriter& out, std::string_view key,
                 const std::vector<std::string>& names) {
    out.key(key);
    out.open('[');
    for (const std::string& name : names) {
        out.value(name);
    }
    out.close(']');
}

}  // namespace

ReloadReport refused(std::vector<config::Problem> problems) {
    ReloadReport report;
    report.end = ReloadReport::End::refused;
    report.problems = std::move(problems);
    return report;
}

ReloadReport report_of(const config::Config& before, const config::Config& after,
                       const config::Difference& difference) {
    ReloadReport report;
    for (std::size_t i = 0; i < after.chains.size(); ++i) {
        const config::ChainChange& change = difference.chains[i];
        std::vector<std::string>& names = change.same     ? report.kept
                                          : change.before ? report.changed
                                                          : report.added;
        names.push_back(after.chains[i].name);
    }
    for (const std::size_t place : difference.removed) {
        report.removed.push_back(before.chains[place].name);
    }
    report.clients_added = difference.clients_added;
    report.clients_removed = difference.clients_removed;
    report.clients_changed = difference.clients_changed;
    report.settings = difference.settings;
    return report;
}

std::string to_json(const ReloadReport& report) {
    server::JsonWriter out;
    out.open('{');
    out.key("reloaded");
    out.boolean(report.end == ReloadReport::End::reloaded);
    if (report.end == ReloadReport::End::reloaded) {
        out.key("chains");
        out.open('{');
        write_names(out, "kept", report.kept);
        write_names(out, "changed", report.changed);
        write_names(out, "added", report.added);
        write_names(out, "removed", report.removed);
        out.close('}');
        out.key("clients");
        out.open('{');
        write_names(out, "changed", report.clients_changed);
        write_names(out, "added", report.clients_added);
        write_names(out, "removed", report.clients_removed);
        out.close('}');
        write_names(out, "settings", report.settings);
        out.key("waiting");
        out.boolean(report.waiting);
    } else {
        out.key("problems");
        out.open('[');
        for (const config::Problem& problem : report.problems) {
            out.open('{');
            out.key("path");
            out.value(problem.path);
            out.key("problem");
            out.value(problem.what);
            out.close('}');
        }
        out.close(']');
    }
    out.close('}');
    return out.take();
}

void log_reload(telemetry::Log& log, const ReloadReport& report, std::string_view trigger) {
    if (report.end == ReloadReport::End::reloaded) {
        log.write(config::LogLevel::info, "configuration reloaded",
                  {{"trigger", trigger},
                   {"kept", joined(report.kept)},
                   {"changed", joined(report.changed)},
                   {"added", joined(report.added)},
                   {"removed", joined(report.removed)},
                   {"clients_changed", joined(report.clients_changed)},
                   {"clients_added", joined(report.clients_added)},
                   {"clients_removed", joined(report.clients_removed)},
                   {"settings", joined(report.settings)},
                   {"waiting", report.waiting}});
        return;
    }
    for (const config::Problem& problem : report.problems) {
        log.write(config::LogLevel::error, "configuration not reloaded, nothing has changed",
                  {{"trigger", trigger}, {"path", problem.path}, {"problem", problem.what}});
    }
}

}  // namespace weir::app
