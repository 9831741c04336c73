// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.28;

// What the end-to-end tests deploy: state, an event, an error with data, and a require string.
contract Counter {
    event Added(address indexed by, uint256 amount, uint256 value);

    error TooLarge(uint256 amount, uint256 limit);

    uint256 public constant LIMIT = 1000;
    uint256 public value;

    constructor(uint256 start) {
        value = start;
    }

    function add(uint256 amount) external returns (uint256) {
        require(amount != 0, "amount is zero");
        if (amount > LIMIT) revert TooLarge(amount, LIMIT);
        value += amount;
        emit Added(msg.sender, amount, value);
        return value;
    }
}
