#include "support/faulty_node.hpp"

#include "support/rpc.hpp"

#include <utility>

namespace weir::test {
std::string probe_result(const std::string& method) {
    if (method == "eth_chainId") {
        return R"("0x1")";
    }
    if (method == "net_version") {
        return R"("1")";
    }
    if (method != "eth_getBlockByNumber") {
        return {};
    }
    const std::string hash(64, '5');
    return R"({"number":"0x3e8","hash":"0x)" + hash + R"(","parentHash":"0x)" + hash +
           R"(","timestamp":"0x65000000","transactions":[]})";
}

FaultyNode::FaultyNode(Script script, const Certificate* certificate)
    : script_(std::move(script)),
      tls_(certificate != nullptr),
      peer_([this](PeerConnection& connection, int) { serve(connection); }, certificate) {}

std::string FaultyNode::url() const {
    return (tls_ ? "https://127.0.0.1:" : "http://127.0.0.1:") + std::to_string(port()) + "/";
}

void FaultyNode::serve(PeerConnection& connection) {
    bool doubted = false;
    for (;;) {
        const std::string request = connection.read_request();
        if (request.empty()) {
            return;
        }
        if (doubted) {
            ++reuses_;
        }
        const std::string body = request.substr(request.find("\r\n\r\n") + 4);
        const std::string method =
            jsonrpc::string_value(jsonrpc::member(body, "method")).value_or("");
        const std::string result = probe_result(method);
        if (!result.empty()) {
            connection.send(good_reply(result_reply(id_of(body), result)));
            continue;
        }
        ++calls_;
        doubted = true;
        script_({connection, id_of(body), request});
    }
}

std::string result_reply(const std::string& id, const std::string& result) {
    return R"({"jsonrpc":"2.0","id":)" + id + R"(,"result":)" + result + "}";
}

}  // namespace weir::test
