// The JSON of /api/transactions/<hash>. Pure.
#pragma once

#include "proxy/transaction_records.hpp"

#include <string>

namespace weir::server {

std::string transaction_json(const proxy::TransactionRecords::View& record);

}  // namespace weir::server
